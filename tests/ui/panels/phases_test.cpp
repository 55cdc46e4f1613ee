// Tests the table of steps, which has times of the host and of the GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/query/device_times.h"
#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/panels/phase_rows.h"

namespace vramscope::ui {
namespace {

std::vector<std::string> Titles(const Table& table) {
  std::vector<std::string> out;
  for (const Column& column : table.columns) out.push_back(column.title);
  return out;
}

TEST(PhaseRowsTest, ListsGpuTimesNextToHostTimes) {
  const auto trace = vramscope::testing::MakeSyntheticTrace(
      {.layers = 2, .steps = 3, .activities = {.streams = 2}});
  const auto digest = MakeDigest(trace);
  const auto gpu_times = query::DeviceTimesOfSteps(query::ActivityIndex(trace));
  ASSERT_EQ(gpu_times.size(), 3u);
  const Table table = PhaseTable(*digest, 0, 0, gpu_times);
  EXPECT_THAT(Titles(table),
              ::testing::ElementsAre("Step", "Forward", "Backward", "Optimizer", "Total",
                                     "Peak allocated", "Peak in", "Reserved", "GPU: forward",
                                     "GPU: backward", "GPU: optimizer", "GPU: busy"));
  // The forward columns include the loss, unlike the phase in the timeline, so their tips must say
  // this.
  for (const size_t forward : {1, 8})
    EXPECT_THAT(table.columns[forward].tip, ::testing::HasSubstr("loss"));
  EXPECT_EQ(table.columns[2].tip, "");
  ASSERT_EQ(table.rows.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<Cell>& cells = table.rows[i].cells;
    ASSERT_EQ(cells.size(), table.columns.size());
    const analysis::StepRow& host = digest->summary.steps[i];
    EXPECT_EQ(cells[1].sort, host.forward_ms);
    EXPECT_EQ(cells[4].sort, host.total_ms);
    EXPECT_EQ(cells[8].sort, gpu_times[i].forward_ms);
    EXPECT_EQ(cells[9].sort, gpu_times[i].backward_ms);
    EXPECT_EQ(cells[10].sort, gpu_times[i].optimizer_ms);
    EXPECT_EQ(cells[11].sort, gpu_times[i].busy_ms);
    EXPECT_GT(gpu_times[i].busy_ms, 0);
    EXPECT_EQ(cells[11].text, FormatMs(gpu_times[i].busy_ms));
  }
}

TEST(PhaseRowsTest, GpuTimesArePlaceholdersWhilePending) {
  const auto digest = MakeDigest(vramscope::testing::MakeSyntheticTrace({.layers = 2, .steps = 2}));
  EXPECT_EQ(PhaseTable(*digest).columns.size(), 8u);
  const Table open = PhaseTable(*digest, 0, 0, std::vector<query::DeviceTimes>());
  ASSERT_EQ(open.columns.size(), 12u);
  for (const Row& row : open.rows) {
    ASSERT_EQ(row.cells.size(), 12u);
    EXPECT_EQ(row.cells[8].text, "…");
    EXPECT_EQ(row.cells[1].sort, digest->summary.steps[0].forward_ms);
  }
  // GPU times for another number of steps must be ignored.
  EXPECT_EQ(PhaseTable(*digest, 0, 0, std::vector<query::DeviceTimes>(5)).columns.size(), 8u);
}

TEST(PhaseRowsTest, PhaseThatDidNotRunShowsADash) {
  auto digest = std::make_shared<Digest>(
      *MakeDigest(vramscope::testing::MakeSyntheticTrace({.layers = 2, .steps = 2})));
  digest->summary.steps[1].backward_ms = 0;
  const Table table = PhaseTable(*digest);
  EXPECT_EQ(table.rows[0].cells[2].text, FormatMs(digest->summary.steps[0].backward_ms));
  EXPECT_EQ(table.rows[1].cells[2].text, "\u2013");
}

TEST(PhaseRowsTest, UnknownReservedMemoryShowsADash) {
  auto digest = std::make_shared<Digest>(
      *MakeDigest(vramscope::testing::MakeSyntheticTrace({.layers = 2, .steps = 2})));
  const auto reserved = [&] { return PhaseTable(*digest).rows[0].cells[7].text; };
  EXPECT_EQ(PhaseTable(*digest).columns[7].title, "Reserved");
  EXPECT_NE(reserved(), "\u2013");
  digest->summary.peak.reserved = 0;
  for (analysis::StepRow& step : digest->summary.steps) step.peak_reserved = 0;
  EXPECT_EQ(reserved(), "\u2013");
}

// In a run that only generates, the columns of the three phases would be all zeros. The command
// line leaves them out, too.
TEST(PhaseRowsTest, OmitsColumnsOfTrainingPhasesThatNeverRan) {
  auto trace = std::make_shared<trace::Trace>(
      *vramscope::testing::MakeSyntheticTrace({.layers = 2, .steps = 2}));
  for (uint32_t s = 0; s < trace->slices.size(); ++s) {
    if (trace->slices.kind[s] == trace::SliceKind::kPhase)
      trace->slices.number.Set(s, static_cast<uint32_t>(trace::Phase::kGeneration));
  }
  const auto digest = MakeDigest(trace);
  EXPECT_THAT(Titles(PhaseTable(*digest, 0, 0, std::vector<query::DeviceTimes>())),
              ::testing::ElementsAre("Step", "Total", "Peak allocated", "Peak in", "Reserved",
                                     "GPU: busy"));
}

}  // namespace
}  // namespace vramscope::ui
