// The loop's plans: PyTorch's own libtorch_cuda over the emulated platform, beside recordings of
// GPUs, and what is known of how its operators ask.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/app/process.h"

namespace vramscope::test {
namespace {

using nlohmann::json;

class EmulatedPlan : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("VRAMSCOPE_WORKER") != nullptr)
      GTEST_SKIP() << "VRAMSCOPE_WORKER names another";
    if (!std::filesystem::exists(Build() / "bin/vramscope-worker") ||
        !std::filesystem::exists(Build() / "lib/libvramscope_torch_cuda.so") ||
        !std::filesystem::exists(Build() / "emulated/libvramscope-audit.so")) {
      GTEST_SKIP() << "needs LibTorch with libtorch_cuda.so and the emulated platform";
    }
  }
  static std::filesystem::path Build() {
    return std::filesystem::path(VRAMSCOPE_PROGRAM).parent_path().parent_path();
  }
  // Plans into a file; what --json says.
  json Plan(const std::string& file, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "plan");
    arguments.insert(arguments.end(), {"-o", folder_ / file, "--json"});
    const Outcome outcome = RunVramscope(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    json parsed = json::parse(outcome.out, nullptr, false);
    EXPECT_TRUE(parsed.is_object()) << outcome.out << outcome.err;
    return parsed.is_object() ? parsed : json::object();
  }
  json Requests(const std::string& a, const std::string& b) {
    const Outcome outcome = RunVramscope({"diff", "--requests", a, b, "--json"});
    EXPECT_LE(outcome.status, 1) << outcome.err;
    return json::parse(outcome.out, nullptr, false);
  }
  std::string RequestsCsv(const std::string& file) {
    const Outcome outcome = RunVramscope({"requests", folder_ / file});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  }
  TemporaryFolder folder_;
};

// What stand-ins for operators were found to lack when PyTorch's own were run.
TEST_F(EmulatedPlan, OperatorsAskForTheirTemporaries) {
  Plan("eager.trace", {"--preset", "qwen2-0.5b"});
  const std::string csv = RequestsCsv("eager.trace");
  std::istringstream lines(csv);
  // Backward of the scaled scores, and softmax backward's gradient times output.
  const std::string scores = ",alloc," + std::to_string(2 * 14 * 512 * 512 * 4) + ",";
  int products = 0, workspaces = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(",alloc,") == std::string::npos) continue;
    products += line.find(scores) != std::string::npos &&
                line.find(",backward,") != std::string::npos && line.ends_with(",aten::mul");
    workspaces += line.find(",Workspace,") != std::string::npos;
  }
  EXPECT_EQ(products, 2 * 24 * 2);
  EXPECT_EQ(workspaces, 3);  // cuBLAS's of the loop's thread and of autograd's; cuBLASLt's own
}

TEST_F(EmulatedPlan, TwoRunsAreTheSame) {
  // Autocast lets its casts go in the order of a hash.
  const std::vector<std::string> run = {"--preset", "gpt2", "--set", "precision=amp-fp16"};
  Plan("a.trace", run);
  Plan("b.trace", run);
  const std::string a = RequestsCsv("a.trace"), b = RequestsCsv("b.trace");
  EXPECT_GT(std::count(a.begin(), a.end(), '\n'), 3000);
  EXPECT_EQ(a, b);
}

TEST_F(EmulatedPlan, TheRecordedStepsRequestForRequest) {
  int found = 0;
  for (const int context : {128, 256}) {
    const std::filesystem::path recording =
        std::filesystem::path(VRAMSCOPE_SOURCE_DIR) / "../shared/snapshots" /
        ("medium_" + std::to_string(context) + "_training.pickle.zst");
    if (!std::filesystem::exists(recording)) continue;
    ++found;
    Plan("plan.trace", {"--preset", "basics-medium", "--set", "seq=" + std::to_string(context)});
    const json difference = Requests(recording, folder_ / "plan.trace");
    ASSERT_TRUE(difference.contains("requests")) << difference;
    EXPECT_GT(difference["requests"]["total"], 12000);
    EXPECT_EQ(difference["requests"]["equal"], difference["requests"]["total"]);
    EXPECT_EQ(difference["peak"]["a"], difference["peak"]["b"]);
  }
  if (found == 0) GTEST_SKIP() << "the recordings are not beside the checkout";
}

TEST_F(EmulatedPlan, WhatDoesNotFitIsSaidAndPlannedAllTheSame) {
  const json small = Plan(
      "small.trace", {"--preset", "gpt2", "--set", "device=rtx-3060-12gb", "--set", "batch=24"});
  const json large =
      Plan("large.trace", {"--preset", "gpt2", "--set", "device=a100-80gb", "--set", "batch=24"});
  ASSERT_TRUE(small.contains("fits") && large.contains("fits"));
  EXPECT_EQ(small["fits"], false);
  EXPECT_EQ(large["fits"], true);
  const double a = small["peak"]["allocated"], b = large["peak"]["allocated"];
  EXPECT_NEAR(b / a, 1.0, 0.01);
}

TEST_F(EmulatedPlan, SettingsOfTheAllocatorAreTheRealOnes) {
  const json plain = Plan("plain.trace", {"--preset", "gpt2"});
  const json expandable = Plan(
      "expandable.trace", {"--preset", "gpt2", "--set", "alloc_conf=expandable_segments:True"});
  const double a = plain["peak"]["reserved"], b = expandable["peak"]["reserved"];
  EXPECT_LT(b, a);
  const double allocated = expandable["peak"]["allocated"];
  EXPECT_LT(b / allocated, 1.1);
}

}  // namespace
}  // namespace vramscope::test
