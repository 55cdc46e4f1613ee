// The table of steps, by the host's and the GPU's clock.
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

TEST(PhaseRowsTest, TheCardsTimesStandBesideTheHosts) {
  const auto trace = vramscope::testing::MakeSyntheticTrace(
      {.layers = 2, .steps = 3, .activities = {.streams = 2}});
  const auto digest = MakeDigest(trace);
  const auto card = query::DeviceTimesOfSteps(query::ActivityIndex(trace));
  ASSERT_EQ(card.size(), 3u);
  const Table table = PhaseTable(*digest, 0, 0, card);
  EXPECT_THAT(Titles(table),
              ::testing::ElementsAre("Step", "Forward", "Backward", "Optimizer", "Total",
                                     "Peak allocated", "Peak in", "Reserved", "GPU: forward",
                                     "GPU: backward", "GPU: optimizer", "GPU: busy"));
  ASSERT_EQ(table.rows.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<Cell>& cells = table.rows[i].cells;
    ASSERT_EQ(cells.size(), table.columns.size());
    const analysis::StepRow& host = digest->summary.steps[i];
    EXPECT_EQ(cells[1].sort, host.forward_ms);
    EXPECT_EQ(cells[4].sort, host.total_ms);
    EXPECT_EQ(cells[8].sort, card[i].forward_ms);
    EXPECT_EQ(cells[9].sort, card[i].backward_ms);
    EXPECT_EQ(cells[10].sort, card[i].optimizer_ms);
    EXPECT_EQ(cells[11].sort, card[i].busy_ms);
    EXPECT_GT(card[i].busy_ms, 0);
    EXPECT_EQ(cells[11].text, FormatMs(card[i].busy_ms));
  }
}

TEST(PhaseRowsTest, WhatIsNotKnownYetIsLeftOpenAndWhatNeverIsHasNoColumn) {
  const auto digest = MakeDigest(vramscope::testing::MakeSyntheticTrace({.layers = 2, .steps = 2}));
  EXPECT_EQ(PhaseTable(*digest).columns.size(), 8u);
  const Table open = PhaseTable(*digest, 0, 0, std::vector<query::DeviceTimes>());
  ASSERT_EQ(open.columns.size(), 12u);
  for (const Row& row : open.rows) {
    ASSERT_EQ(row.cells.size(), 12u);
    EXPECT_EQ(row.cells[8].text, "…");
    EXPECT_EQ(row.cells[1].sort, digest->summary.steps[0].forward_ms);
  }
  // Times of other steps do not affect it.
  EXPECT_EQ(PhaseTable(*digest, 0, 0, std::vector<query::DeviceTimes>(5)).columns.size(), 8u);
}

TEST(PhaseRowsTest, APhaseThatNeverRanTakesNoTime) {
  auto digest = std::make_shared<Digest>(
      *MakeDigest(vramscope::testing::MakeSyntheticTrace({.layers = 2, .steps = 2})));
  digest->summary.steps[1].backward_ms = 0;
  const Table table = PhaseTable(*digest);
  EXPECT_EQ(table.rows[0].cells[2].text, FormatMs(digest->summary.steps[0].backward_ms));
  EXPECT_EQ(table.rows[1].cells[2].text, "\u2013");
}

// As in the command line: three columns of zeros would be useless for a run that only generates.
TEST(PhaseRowsTest, ARunWithoutPhasesOfTrainingHasNoColumnsForThem) {
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
