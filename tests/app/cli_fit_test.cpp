// Runs `fit` and `waterfall` with the built program and a real worker. Skipped if the worker is not
// built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/process.h"

namespace vramscope::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class CliFit : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("VRAMSCOPE_WORKER") == nullptr &&
        !std::filesystem::exists(std::filesystem::path(VRAMSCOPE_PROGRAM).parent_path() /
                                 "vramscope-worker")) {
      GTEST_SKIP() << "vramscope-worker is not built (it needs LibTorch)";
    }
  }
  TemporaryFolder folder_;
};

TEST_F(CliFit, ProposalsFitTheBudget) {
  const std::vector<std::string> run = {"--preset", "gpt2", "--set", "batch=4"};
  std::vector<std::string> fit = {"fit", "--budget", "3GiB", "--json"};
  fit.insert(fit.end(), run.begin(), run.end());
  const Outcome outcome = RunVramscope(fit);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json fitted = json::parse(outcome.out);
  EXPECT_EQ(fitted["start"]["fits"], false);
  ASSERT_FALSE(fitted["proposals"].empty());
  const json& first = fitted["proposals"][0];
  for (const char* key : {"settings", "peak", "reserved", "step_ms", "fits", "steps"})
    EXPECT_TRUE(first.contains(key)) << key;
  ASSERT_FALSE(first["steps"].empty());
  for (const char* key : {"setting", "saves", "costs_ms", "why"})
    EXPECT_TRUE(first["steps"][0].contains(key)) << key;
  // With the same settings, `check` must report the figures that `fit` proposed.
  std::vector<std::string> check = {"check", "--budget", "3GiB", "--json"};
  check.insert(check.end(), run.begin(), run.end());
  const Outcome as_it_is = RunVramscope(check);
  EXPECT_EQ(as_it_is.status, 1);
  EXPECT_EQ(json::parse(as_it_is.out)["needed"], fitted["start"]["needed"]);
  for (const auto& [key, value] : first["settings"].items()) {
    check.push_back("--set");
    check.push_back(key + "=" + value.get<std::string>());
  }
  const Outcome checked = RunVramscope(check);
  EXPECT_EQ(checked.status, 0) << checked.out;
  EXPECT_EQ(json::parse(checked.out)["peak"]["allocated"], first["peak"]);
  EXPECT_EQ(json::parse(checked.out)["peak"]["reserved"], first["reserved"]);
}

TEST_F(CliFit, WaterfallEndsAtThePlan) {
  const std::string svg = folder_ / "w.svg";
  const std::vector<std::string> sets = {"--preset", "gpt2",   "--set", "precision=bf16",
                                         "--set",    "seq=64", "--set", "checkpointing.mode=layer"};
  std::vector<std::string> waterfall = {"waterfall",     "--json", "--order",
                                        "checkpointing", "-o",     svg};
  waterfall.insert(waterfall.end(), sets.begin(), sets.end());
  const Outcome outcome = RunVramscope(waterfall);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json bars = json::parse(outcome.out)["bars"];
  ASSERT_EQ(bars.size(), 3u);
  EXPECT_EQ(bars[0]["name"], "baseline");
  EXPECT_EQ(bars[1]["name"], "checkpointing");
  std::vector<std::string> plan = {"plan", "--json"};
  plan.insert(plan.end(), sets.begin(), sets.end());
  EXPECT_EQ(json::parse(RunVramscope(plan).out)["peak"]["allocated"], bars[2]["peak"]);
  int64_t sum = bars[0]["peak"].get<int64_t>();
  for (const json& bar : bars) sum -= bar["saves"].get<int64_t>();
  EXPECT_EQ(sum, bars[2]["peak"].get<int64_t>());
  EXPECT_THAT(ReadFile(svg), HasSubstr("checkpointing"));
  EXPECT_EQ(RunVramscope({"waterfall", "--order", "lora", "--preset", "gpt2"}).status, 3);
}

// The run releases some segments when memory is short: with the CUDA context, it needs 9.33 GiB
// on a large GPU, but only 9.12 GiB with a limit of 9400 MiB. All commands must plan with the
// limit.
TEST_F(CliFit, CheckAndWaterfallMatchPlanUnderMemoryLimit) {
  const std::vector<std::string> run = {"--preset", "gpt2",          "--set", "batch=4",
                                        "--set",    "seq=100-900",   "--set", "steps=4",
                                        "--set",    "precision=fp32"};
  const auto with = [&](std::vector<std::string> command, const std::vector<std::string>& more) {
    command.insert(command.end(), run.begin(), run.end());
    command.insert(command.end(), more.begin(), more.end());
    return json::parse(RunVramscope(command).out);
  };
  const std::vector<std::string> limit = {"--set", "custom_device.memory=9400MiB"};
  const json plan = with({"plan", "--json"}, limit);
  const uint64_t reserved = plan["peak"]["reserved"];
  const uint64_t needed = reserved + plan["device_context"].get<uint64_t>();
  EXPECT_EQ(plan["fits"], true);
  EXPECT_LT(reserved, with({"plan", "--json"}, {})["peak"]["reserved"].get<uint64_t>());
  for (const auto& own_gpu : {limit, std::vector<std::string>()}) {
    const json check = with({"check", "--json", "--budget", "9400MiB"}, own_gpu);
    EXPECT_EQ(check["within_budget"], true);
    EXPECT_EQ(check["needed"], needed);
  }
  const json bar = with({"waterfall", "--json"}, limit)["bars"].back();
  EXPECT_EQ(bar["fits"], true);
  EXPECT_EQ(bar["reserved"], reserved);
  EXPECT_EQ(bar["needed"], needed);
}

// A waterfall may begin with a run that does not fit on the GPU.
TEST_F(CliFit, WaterfallStartsAboveTheGpusMemory) {
  const Outcome outcome =
      RunVramscope({"waterfall", "--json", "--preset", "gpt2", "--set", "custom_device.memory=2GiB",
                    "--set", "precision=bf16", "--set", "checkpointing.mode=layer"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json bars = json::parse(outcome.out)["bars"];
  ASSERT_EQ(bars.size(), 3u);
  EXPECT_GT(bars[0]["peak"].get<int64_t>(), int64_t{2} << 30);
  EXPECT_LT(bars[2]["peak"].get<int64_t>(), int64_t{2} << 30);
}

TEST(CliFitUsage, RejectsMissingOrUnitlessBudgets) {
  EXPECT_EQ(RunVramscope({"fit"}).status, 2);
  EXPECT_EQ(RunVramscope({"fit", "--budget", "much"}).status, 2);
  for (const char* command : {"fit", "check"}) {
    for (const char* no_unit : {"24", "0"}) {
      const Outcome outcome = RunVramscope({command, "--budget", no_unit});
      EXPECT_EQ(outcome.status, 2) << command;
      EXPECT_NE(outcome.err.find("24GiB"), std::string::npos) << outcome.err;
    }
  }
}

}  // namespace
}  // namespace vramscope::test
