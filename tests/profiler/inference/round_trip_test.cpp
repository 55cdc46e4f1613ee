// Writes a run as a snapshot without its categories, and reads it like any other snapshot.
// Inference must restore the categories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "profiler/exporters/memory_snapshot.h"
#include "profiler/importers/open.h"
#include "profiler/inference/infer.h"
#include "profiler/trace/reader.h"
#include "tests/profiler/inference/recorded.h"

namespace vramscope::inference {
namespace {

using testing::Confusion;
using testing::Stripped;
using trace::Category;

class RoundTrip : public ::testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(RoundTrip, RestoresCategoriesOfExportedSnapshot) {
  const auto [run, annotations] = GetParam();
  const auto trace = trace::ReadTraceFile(
      std::string(VRAMSCOPE_SOURCE_DIR) + "/tests/golden/inference/" + run + ".trace", {});
  ASSERT_TRUE(trace.ok()) << trace.status();
  const std::string path = ::testing::TempDir() + "inference_round_trip_" + run +
                           (annotations ? "_annotated" : "") + ".pickle";
  {
    std::ofstream out(path, std::ios::binary);
    const auto written =
        exporters::WriteSnapshot(**trace, out, {.categories = false, .annotations = annotations});
    ASSERT_TRUE(written.ok()) << written;
  }
  auto read = testing::ReadRecorded(path);
  ASSERT_TRUE(read.ok()) << read.status();
  // `truth` is the same run with its true categories.
  Stripped truth = testing::Strip(**trace, {.teardown = true});
  ASSERT_EQ(read->recording.entries.size(), truth.recording.entries.size());
  ASSERT_EQ(read->history.allocations.size(), truth.history.allocations.size());
  ASSERT_EQ(read->history.allocations.requested, truth.history.allocations.requested);
  truth.recording = std::move(read->recording);
  truth.history = std::move(read->history);
  const recording::Labels labels = Infer(truth.recording, truth.history);
  const Confusion confusion = testing::Compare(truth, labels);
  SCOPED_TRACE("MiB at the peak:\n" + Confusion::Table(confusion.peak));
  EXPECT_GE(Confusion::Right(confusion.peak), 0.99);
  EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kParameter));
  EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kOptimizerState));
  EXPECT_EQ(labels.steps.size(), 3u);

  const auto opened = importers::OpenTraceFile(path, {});
  ASSERT_TRUE(opened.ok()) << opened.status();
  uint64_t parameters = 0;
  const trace::AllocationTable& allocations = (*opened)->allocations;
  for (uint32_t a = 0; a < allocations.size(); ++a) {
    if (allocations.main_category[a] == Category::kParameter) parameters += allocations.bytes[a];
  }
  EXPECT_EQ(parameters, (*trace)->info.model.parameter_bytes);
  std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(All, RoundTrip,
                         ::testing::Combine(::testing::Values("gpt2-adamw", "basics-medium",
                                                              "qwen2-0.5b-amp-fused",
                                                              "llama-3.2-1b-amp-checkpointing"),
                                            ::testing::Bool()));

}  // namespace
}  // namespace vramscope::inference
