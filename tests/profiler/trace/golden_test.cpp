// The sample files of all format versions stay readable, and their contents stay the same.
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/trace/reader.h"
#include "profiler/trace/writer.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::trace {
namespace {

const std::string kFolder = VRAMSCOPE_SOURCE_DIR "/tests/golden/trace/";

class GoldenTrace : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenTrace, ReadsWithUnchangedContents) {
  const std::string stem = kFolder + GetParam();
  const auto trace = ReadTraceFile(stem + ".trace", {});
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_TRUE((*trace)->complete);
  EXPECT_TRUE((*trace)->warnings.empty());
  const std::string facts = testing::ReadFile(stem + ".facts.txt");
  ASSERT_FALSE(facts.empty());
  // EXPECT_EQ would need minutes to report two long texts.
  const std::string now = testing::ListFacts(**trace);
  for (size_t i = 0, line = 1; i < std::max(now.size(), facts.size()); ++i) {
    if (i >= now.size() || i >= facts.size() || now[i] != facts[i]) {
      FAIL() << "facts differ in line " << line << ": " << facts.substr(i, 60) << " | "
             << now.substr(std::min(i, now.size()), 60);
    }
    line += facts[i] == '\n';
  }
  EXPECT_TRUE(testing::ListEvents(testing::ReadFile(stem + ".trace")) ==
              testing::ReadFile(stem + ".events.txt"));
}

INSTANTIATE_TEST_SUITE_P(Versions, GoldenTrace,
                         ::testing::Values("v1", "v2", "v3", "v4", "v5", "v6"),
                         [](const auto& info) { return std::string(info.param); });

TEST(GoldenTraceV1, HeaderHasTheWrittenValues) {
  const auto trace = ReadTraceFile(kFolder + "v1.trace", {});
  ASSERT_TRUE(trace.ok());
  const TraceInfo& info = (*trace)->info;
  EXPECT_EQ(info.device.key, "rtx-4090");
  EXPECT_EQ(info.device.sm_count, 128u);
  EXPECT_DOUBLE_EQ(info.device.bf16_flops, 165.2e12);
  EXPECT_EQ(info.model.trainable_count, 900u);
  ASSERT_TRUE(info.has_config);
  EXPECT_EQ(info.config.batch, 3);
  EXPECT_EQ(info.config.seq, 128);
}

}  // namespace
}  // namespace vramscope::trace
