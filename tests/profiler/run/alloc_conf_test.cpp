#include "profiler/run/alloc_conf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "profiler/run/allocator_settings.h"
#include "profiler/run/run_config.h"

namespace vramscope::run {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kMiB = 1 << 20;

std::string Error(std::string_view text) {
  return std::string(ParseAllocConf(text).status().message());
}

TEST(AllocConf, EmptyTextGivesPyTorchDefaults) {
  const AllocConf c = ParseAllocConf("").value();
  EXPECT_EQ(c, AllocConf{});
  EXPECT_EQ(c.max_split_size, AllocConf::kNoMaxSplit);
  EXPECT_EQ(c.max_non_split_rounding, 20 * kMiB);
  EXPECT_EQ(c.large_segment_size, 20 * kMiB);
  EXPECT_THAT(c.roundup_power2_divisions, Each(0));
  EXPECT_EQ(ToString(c), "");
}

TEST(AllocConf, ReadsEveryKeyThatChangesDecisions) {
  const AllocConf c =
      ParseAllocConf(
          "max_split_size_mb:128, max_non_split_rounding_mb:40,garbage_collection_threshold:0.8,"
          "roundup_power2_divisions:8,expandable_segments:True,large_segment_size_mb:32,"
          "per_process_memory_fraction:0.5,")
          .value();
  EXPECT_EQ(c.max_split_size, 128 * kMiB);
  EXPECT_EQ(c.max_non_split_rounding, 40 * kMiB);
  EXPECT_EQ(c.garbage_collection_threshold, 0.8);
  EXPECT_THAT(c.roundup_power2_divisions, Each(8));
  EXPECT_TRUE(c.expandable_segments);
  EXPECT_EQ(c.large_segment_size, 32 * kMiB);
  EXPECT_EQ(c.memory_fraction, 0.5);
  EXPECT_TRUE(c.ignored.empty());
}

// The expected values are from the tests of c10 itself.
TEST(AllocConf, ReadsTableOfDivisions) {
  EXPECT_THAT(ParseAllocConf("roundup_power2_divisions:[64:8,128:2,256:4,512:2,1024:4,>:1]")
                  .value()
                  .roundup_power2_divisions,
              ElementsAre(8, 8, 8, 8, 8, 8, 8, 2, 4, 2, 4, 1, 1, 1, 1, 1));
  EXPECT_THAT(
      ParseAllocConf("roundup_power2_divisions:[256:1,512:2,>:8]").value().roundup_power2_divisions,
      ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 8, 8, 8, 8, 8, 8));
  EXPECT_THAT(
      ParseAllocConf("roundup_power2_divisions:[4:0,2097152:16]").value().roundup_power2_divisions,
      ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16))
      << "sizes above the table have the value of its last row";
}

TEST(AllocConf, ListsKnownKeysWithoutEffect) {
  EXPECT_THAT(ParseAllocConf("backend:native,pinned_use_background_threads:True,"
                             "pinned_num_register_threads:8,release_lock_on_cudamalloc:False")
                  .value()
                  .ignored,
              ElementsAre("backend", "pinned_use_background_threads", "pinned_num_register_threads",
                          "release_lock_on_cudamalloc"));
}

TEST(AllocConf, LimitsDependOnSegmentSizeInAnyOrder) {
  EXPECT_TRUE(ParseAllocConf("max_split_size_mb:20").ok());
  EXPECT_THAT(Error("max_split_size_mb:19"), AllOf(HasSubstr("\"19\""), HasSubstr("at least 20")));
  EXPECT_TRUE(ParseAllocConf("max_split_size_mb:12,large_segment_size_mb:12").ok());
  EXPECT_THAT(Error("max_split_size_mb:32,large_segment_size_mb:64"), HasSubstr("at least 64"));
  EXPECT_THAT(Error("large_segment_size_mb:10"), HasSubstr("at least 11"));
  EXPECT_EQ(ParseAllocConf("large_segment_size_mb:64").value().max_non_split_rounding, 64 * kMiB);
  EXPECT_EQ(ParseAllocConf("max_split_size_mb:18446744073709551615").value().max_split_size,
            ~uint64_t{0} / kMiB * kMiB)
      << "limited as in PyTorch";
}

TEST(AllocConf, ErrorsNameKeyValueAndAllowedValues) {
  struct Row {
    const char* text;
    const char* expected;
  };
  for (const Row& row : {Row{"max_split_size:128", "did you mean \"max_split_size_mb\"?"},
                         Row{"expandable_segment:True", "did you mean \"expandable_segments\"?"},
                         Row{"nonsense:1", "unknown allocator setting \"nonsense\""},
                         Row{"max_split_size_mb:128MB", "whole number of MiB"},
                         Row{"max_split_size_mb:-1", "whole number of MiB"},
                         Row{"max_split_size_mb:[128]", "whole number of MiB"},
                         Row{"max_split_size_mb:", "whole number of MiB"},
                         Row{"max_split_size_mb", "has no value"},
                         Row{"max_split_size_mb=128", "has no value"},
                         Row{",,", "has no value"},
                         Row{"expandable_segments:true", "True or False, with this capitalization"},
                         Row{"garbage_collection_threshold:0", "above 0 and below 1"},
                         Row{"garbage_collection_threshold:1", "above 0 and below 1"},
                         Row{"garbage_collection_threshold:nan", "above 0 and below 1"},
                         Row{"per_process_memory_fraction:1.1", "above 0 and up to 1"},
                         Row{"roundup_power2_divisions:3", "power of two"},
                         Row{"roundup_power2_divisions:0", "power of two"},
                         Row{"roundup_power2_divisions:[256:3]", "256:3"},
                         Row{"roundup_power2_divisions:[100:4]", "powers of two"},
                         Row{"roundup_power2_divisions:[256:1", "no closing bracket"},
                         Row{"roundup_power2_divisions:[256]", "MEGABYTES:DIVISIONS"},
                         Row{"roundup_power2_divisions:[256:1]x:1", "comma after the value"},
                         Row{"backend:cudaMallocAsync", "driver's memory pools"},
                         Row{"backend:magic", "choose from: native"},
                         Row{"caf\xe9:1", "character 4 is not printable ASCII"}}) {
    const absl::StatusOr<AllocConf> c = ParseAllocConf(row.text);
    EXPECT_EQ(c.status().code(), absl::StatusCode::kInvalidArgument) << row.text;
    EXPECT_THAT(std::string(c.status().message()), HasSubstr(row.expected)) << row.text;
  }
  EXPECT_FALSE(ParseAllocConf(std::string(100'000, 'a')).ok());
}

TEST(AllocConf, RoundTripsThroughText) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    AllocConf c;
    if (random() % 2) c.large_segment_size = (11 + random() % 60) * kMiB;
    c.max_non_split_rounding = c.large_segment_size + random() % 2 * 7 * kMiB;
    if (random() % 2) c.max_split_size = c.large_segment_size + random() % 100 * kMiB;
    if (random() % 2) c.garbage_collection_threshold = 0.01 * (1 + random() % 99);
    if (random() % 2) c.memory_fraction = 0.01 * (1 + random() % 99);
    c.expandable_segments = random() % 2;
    const int kinds = 1 + static_cast<int>(random() % 4);
    for (uint32_t& d : c.roundup_power2_divisions) d = random() % kinds ? 1u << random() % 5 : 0;
    if (random() % 4 == 0) c.roundup_power2_divisions.fill(0);
    if (random() % 4 == 0) c.roundup_power2_divisions.fill(4);
    const std::string text = ToString(c);
    const absl::StatusOr<AllocConf> back = ParseAllocConf(text);
    ASSERT_TRUE(back.ok()) << text << ": " << back.status();
    ASSERT_EQ(*back, c) << text << " / " << ToString(*back);
  }
}

TEST(AllocConf, IsStoredInTheRunConfig) {
  RunConfigBuilder b;
  ASSERT_TRUE(b.Set("alloc_conf", "expandable_segments:True,max_split_size_mb:64").ok());
  const RunConfig c = b.Build().value();
  EXPECT_EQ(c.alloc_conf, "expandable_segments:True,max_split_size_mb:64");
  EXPECT_EQ(FromProtoBytes(ToProtoBytes(c)).value().alloc_conf, c.alloc_conf);
  RunConfigBuilder again;
  ASSERT_TRUE(again.SetRunJson(ToJson(c)).ok());
  EXPECT_EQ(again.Build()->alloc_conf, c.alloc_conf);
  EXPECT_THAT(std::string(b.Set("alloc_conf", "max_split_size_mb:1").message()),
              AllOf(HasSubstr("alloc_conf"), HasSubstr("at least 20")));
  EXPECT_TRUE(b.Set("alloc_conf", "").ok());
}

TEST(AllocConf, SingleKeysOverrideTheText) {
  RunConfigBuilder builder;
  EXPECT_EQ(AllocConfOf(builder.Build().value()), "");
  ASSERT_TRUE(builder.Set("alloc_conf", "expandable_segments:True,max_split_size_mb:64").ok());
  ASSERT_TRUE(builder.Set("alloc.max_split_size_mb", "128").ok());
  ASSERT_TRUE(builder.Set("alloc.roundup_power2_divisions", "[256:1,>:8]").ok());
  const RunConfig config = builder.Build().value();
  const AllocConf c = ParseAllocConf(AllocConfOf(config)).value();
  EXPECT_EQ(c.max_split_size, 128 * kMiB);
  EXPECT_TRUE(c.expandable_segments);
  EXPECT_EQ(c.roundup_power2_divisions[15], 8u);
  // A run.json stores each setting.
  RunConfigBuilder again;
  ASSERT_TRUE(again.SetRunJson(ToJson(config)).ok());
  EXPECT_EQ(AllocConfOf(again.Build().value()), AllocConfOf(config));
}

TEST(AllocConf, SingleKeysHaveTheSameLimits) {
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"alloc.max_split_size_mb", "5"},
           {"alloc.max_split_size_mb", "64,expandable_segments:True"},
           {"alloc.garbage_collection_threshold", "1.5"},
           {"alloc.roundup_power2_divisions", "3"},
           {"alloc.max_non_split_rounding_mb", "x"}}) {
    const absl::Status status = RunConfigBuilder().Set(key, value);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << key << " " << value;
    EXPECT_THAT(std::string(status.message()), HasSubstr(key));
  }
}

}  // namespace
}  // namespace vramscope::run
