// Tests samples.file: samples with the lengths of a histogram, which are padded, grouped or packed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "tests/trainer/loop/run_helpers.h"

namespace vramscope::trainer {
namespace {

class LengthsFile : public ::testing::Test {
 protected:
  // Each process has its own file, because tests run in parallel.
  LengthsFile()
      : path_(std::filesystem::path(::testing::TempDir()) /
              ("lengths_test_" + std::to_string(getpid()) + ".csv")) {
    std::ofstream(path_) << "length,count\n4,10\n8,5\n40,1\n";
  }
  ~LengthsFile() override { std::filesystem::remove(path_); }

  run::RunConfig Config(const char* batches) const {
    run::RunConfig config = TinyConfig(run::Backend::kPlan, kTinyQwen);
    config.seq = 32;
    config.steps = 12;
    config.Set("attention", "efficient");
    config.Set("samples.file", path_.string());
    config.Set("samples.batches", batches);
    return config;
  }
  // Returns how many tokens the batch of each step has. The first allocation of a step is that of
  // the token ids.
  static std::vector<uint64_t> TokensOf(const run::RunConfig& config) {
    const RunResult result = RunTiny(config);
    EXPECT_TRUE(result.status.ok()) << result.status;
    std::vector<uint64_t> tokens;
    if (!result.status.ok()) return tokens;
    bool wanted = false;
    const trace::EventTable& events = result.trace->events;
    for (uint32_t i = 0; i < events.size(); ++i) {
      if (events.kind[i] == trace::EventKind::kStepBegin) wanted = true;
      if (!wanted || events.kind[i] != trace::EventKind::kAlloc) continue;
      tokens.push_back(events.bytes[i] / sizeof(int64_t));
      wanted = false;
    }
    return tokens;
  }

  const std::filesystem::path path_;
};

TEST_F(LengthsFile, PackingNeedsFewerTokensAndGroupingSortsBatches) {
  const std::vector<uint64_t> padded = TokensOf(Config("padded"));
  const std::vector<uint64_t> grouped = TokensOf(Config("grouped"));
  const std::vector<uint64_t> packed = TokensOf(Config("packed"));
  ASSERT_EQ(padded.size(), 12u);
  ASSERT_EQ(grouped.size(), 12u);
  ASSERT_EQ(packed.size(), 12u);
  uint64_t padded_sum = 0, packed_sum = 0;
  for (size_t i = 0; i < padded.size(); ++i) {
    EXPECT_TRUE((std::set<uint64_t>{4 * 4, 4 * 8, 4 * 32}.contains(padded[i]))) << padded[i];
    EXPECT_LE(packed[i], padded[i]) << i;
    padded_sum += padded[i];
    packed_sum += packed[i];
  }
  EXPECT_LT(packed_sum, padded_sum);
  EXPECT_TRUE(std::is_sorted(grouped.rbegin(), grouped.rend())) << "the longest come first";
}

TEST_F(LengthsFile, RejectsInvalidFileAndConflictingLengths) {
  const auto message = [](const run::RunConfig& config) {
    return std::string(RunTiny(config).status.message());
  };
  run::RunConfig config = Config("padded");
  std::ofstream(path_) << "16,1\n0,3\n";
  EXPECT_NE(message(config).find("line 2"), std::string::npos) << message(config);
  config.Set("samples.file", "/no such file");
  EXPECT_NE(message(config).find("not a file on this computer"), std::string::npos);
  config.Set("lengths", "16,32");
  EXPECT_NE(message(config).find("set only one of them"), std::string::npos);
}

}  // namespace
}  // namespace vramscope::trainer
