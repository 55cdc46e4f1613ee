// Only runs whose plans were compared with a recording may state an error bound.
#include "profiler/run/evidence.h"

#include <gtest/gtest.h>

namespace vramscope::run {
namespace {

RunConfig With(std::initializer_list<std::pair<const char*, const char*>> settings) {
  RunConfigBuilder builder;
  EXPECT_TRUE(builder.SetPreset("basics-medium").ok());
  for (const auto& [key, value] : settings) EXPECT_TRUE(builder.Set(key, value).ok()) << key;
  return builder.Build().value();
}

TEST(Evidence, ExistsForRecordedRuns) {
  EXPECT_TRUE(EvidenceOf(With({})));
  EXPECT_TRUE(EvidenceOf(With({{"seq", "128"}})));
  ASSERT_TRUE(EvidenceOf(With({{"seq", "256"}})));
  EXPECT_GT(EvidenceOf(With({{"seq", "256"}}))->reserved_within, 0u);
}

TEST(Evidence, IsAbsentForOtherRuns) {
  EXPECT_FALSE(EvidenceOf(RunConfigBuilder().Build().value()));
  EXPECT_FALSE(EvidenceOf(With({{"seq", "512"}})));
  EXPECT_FALSE(EvidenceOf(With({{"batch", "8"}})));
  EXPECT_FALSE(EvidenceOf(With({{"precision", "amp-bf16"}})));
  EXPECT_FALSE(EvidenceOf(With({{"optimizer.impl", "foreach"}})));
  EXPECT_FALSE(EvidenceOf(With({{"checkpointing.mode", "layer"}})));
  EXPECT_FALSE(EvidenceOf(With({{"device", "h100-sxm"}})));
  EXPECT_FALSE(EvidenceOf(With({{"alloc_conf", "expandable_segments:True"}})));
  EXPECT_FALSE(EvidenceOf(With({{"backend", "cpu"}})));
}

}  // namespace
}  // namespace vramscope::run
