// The loop on PyTorch's own libtorch_cuda over the emulated platform, beside the modelled device
// and beside recordings of GPUs.
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
  json Plan(const std::string& path, const std::string& file, std::vector<std::string> arguments,
            int status = 0) {
    arguments.insert(arguments.begin(), "plan");
    arguments.insert(arguments.end(), {"-o", folder_ / file, "--json"});
    const Outcome outcome = RunVramscope(
        arguments,
        {.environment = {"VRAMSCOPE_WORKER=" + (Build() / "bin/vramscope-worker").string() +
                         " --plan " + path}});
    EXPECT_EQ(outcome.status, status) << outcome.err;
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

// What the modelled device is known not to ask for. Everything else it asks for as PyTorch does.
struct Case {
  const char* name;
  std::vector<std::string> arguments;
  std::set<std::string> only_emulated;  // operators that ask for more
};

TEST_F(EmulatedPlan, AsksForWhatTheModelledDeviceAsksForAndWhatThatLacks) {
  const std::vector<std::string> qwen = {"--preset", "qwen2-0.5b"};
  const auto with = [&](std::vector<std::string> settings) {
    std::vector<std::string> all = qwen;
    for (std::string& setting : settings) {
      all.push_back("--set");
      all.push_back(std::move(setting));
    }
    return all;
  };
  // aten::mul: softmax backward's product of gradient and output.
  const Case cases[] = {
      {"fp32", with({}), {"aten::mul"}},
      {"bf16", with({"precision=bf16"}), {"aten::mul"}},
      {"efficient attention", with({"attention=efficient"}), {}},
      {"checkpointing", with({"checkpointing.mode=layer"}), {"aten::mul"}},
      {"LoRA", with({"lora.rank=8"}), {"aten::mul"}},
      {"fused AdamW", with({"optimizer.impl=fused"}), {"aten::mul"}},
      {"micro-batches", with({"batch=4", "micro_batches=2"}), {"aten::mul"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const json modelled = Plan("modelled", "modelled.trace", c.arguments);
    const json emulated = Plan("emulated", "emulated.trace", c.arguments);
    ASSERT_TRUE(modelled.contains("peak") && emulated.contains("peak"));
    EXPECT_EQ(modelled["parameters"], emulated["parameters"]);
    const json difference = Requests(folder_ / "modelled.trace", folder_ / "emulated.trace");
    ASSERT_TRUE(difference.contains("requests")) << difference;
    const uint64_t equal = difference["requests"]["equal"], total = difference["requests"]["total"];
    if (c.only_emulated.empty()) {
      EXPECT_EQ(equal, total);
    } else {
      EXPECT_LT(equal, total);
      EXPECT_GT(static_cast<double>(equal), 0.99 * static_cast<double>(total));
    }
    for (const json& one : difference["first_differences"]) {
      EXPECT_EQ(one["a"], "") << one;
      const std::string b = one["b"];
      EXPECT_TRUE(
          std::any_of(c.only_emulated.begin(), c.only_emulated.end(),
                      [&](const std::string& op) { return b.find(op) != std::string::npos; }))
          << one;
    }
    // Where a segment lies decides ties between free blocks, and the card's addresses go down.
    const double a = modelled["peak"]["allocated"], b = emulated["peak"]["allocated"];
    EXPECT_NEAR(b / a, 1.0, 0.003);
    printf("%-22s %6llu of %6llu requests equal, peak %+.3f %%\n", c.name,
           static_cast<unsigned long long>(equal), static_cast<unsigned long long>(total),
           (b / a - 1) * 100);
  }
}

TEST_F(EmulatedPlan, TwoRunsAreTheSame) {
  // Autocast lets its casts go in the order of a hash.
  const std::vector<std::string> run = {"--preset", "gpt2", "--set", "precision=amp-fp16"};
  Plan("emulated", "a.trace", run);
  Plan("emulated", "b.trace", run);
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
    Plan("emulated", "plan.trace",
         {"--preset", "basics-medium", "--set", "seq=" + std::to_string(context)});
    const json difference = Requests(recording, folder_ / "plan.trace");
    ASSERT_TRUE(difference.contains("requests")) << difference;
    EXPECT_GT(difference["requests"]["total"], 12000);
    EXPECT_EQ(difference["requests"]["equal"], difference["requests"]["total"]);
    EXPECT_EQ(difference["peak"]["a"], difference["peak"]["b"]);
  }
  if (found == 0) GTEST_SKIP() << "the recordings are not beside the checkout";
}

TEST_F(EmulatedPlan, WhatDoesNotFitIsSaidAndPlannedAllTheSame) {
  const std::vector<std::string> run = {"--preset", "gpt2",    "--set", "device=rtx-3060-12gb",
                                        "--set",    "batch=24"};
  const json modelled = Plan("modelled", "modelled.trace", run);
  const json emulated = Plan("emulated", "emulated.trace", run);
  ASSERT_TRUE(emulated.contains("fits"));
  EXPECT_EQ(modelled["fits"], false);
  EXPECT_EQ(emulated["fits"], false);
  const double a = modelled["peak"]["allocated"], b = emulated["peak"]["allocated"];
  EXPECT_NEAR(b / a, 1.0, 0.01);
}

TEST_F(EmulatedPlan, SettingsOfTheAllocatorAreTheRealOnes) {
  const std::vector<std::string> run = {"--preset", "gpt2", "--set",
                                        "alloc_conf=expandable_segments:True"};
  const json modelled = Plan("modelled", "modelled.trace", run);
  const json emulated = Plan("emulated", "emulated.trace", run);
  const double a = modelled["peak"]["reserved"], b = emulated["peak"]["reserved"];
  EXPECT_NEAR(b / a, 1.0, 0.01);
  const double allocated = emulated["peak"]["allocated"];
  EXPECT_LT(b / allocated, 1.1);  // plain segments: some 4 % more
}

}  // namespace
}  // namespace vramscope::test
