// Tests plans of the embedded loop, which run PyTorch's own libtorch_cuda on the emulated platform.
// Compares them with recordings of GPUs, and checks known allocations of operators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
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
  // Writes a plan to a file and returns the output of --json.
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
  json Info(const std::string& file) {
    const Outcome outcome = RunVramscope({"info", folder_ / file, "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(outcome.out, nullptr, false);
  }
  json Kernels(std::vector<std::string> options) {
    options.insert(options.begin(), {"kernels", folder_ / "gpt2.trace", "--json"});
    const Outcome outcome = RunVramscope(options);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(outcome.out, nullptr, false);
  }
  std::string RequestsCsv(const std::string& file) {
    const Outcome outcome = RunVramscope({"requests", folder_ / file});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  }
  TemporaryFolder folder_;
};

// An earlier version, which replaced operators, missed these allocations.
TEST_F(EmulatedPlan, OperatorsAllocateTheirTemporaries) {
  Plan("eager.trace", {"--preset", "qwen2-0.5b"});
  const std::string csv = RequestsCsv("eager.trace");
  std::istringstream lines(csv);
  // Two tensors have this size: the gradient of the scaled scores, and the product of gradient and
  // output in the backward of softmax.
  const std::string scores = ",alloc," + std::to_string(2 * 14 * 512 * 512 * 4) + ",";
  int products = 0, workspaces = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(",alloc,") == std::string::npos) continue;
    products += line.find(scores) != std::string::npos &&
                line.find(",backward,") != std::string::npos && line.ends_with(",aten::mul");
    workspaces += line.find(",Workspace,") != std::string::npos;
  }
  EXPECT_EQ(products, 2 * 24 * 2);
  EXPECT_EQ(workspaces, 3);  // two of cuBLAS (the loop's thread and autograd's), one of cuBLASLt
}

TEST_F(EmulatedPlan, RepeatedPlansAreEqual) {
  // Autocast frees its casts in the order of a hash table.
  const std::vector<std::string> run = {"--preset", "gpt2", "--set", "precision=amp-fp16"};
  Plan("a.trace", run);
  Plan("b.trace", run);
  const std::string a = RequestsCsv("a.trace"), b = RequestsCsv("b.trace");
  EXPECT_GT(std::count(a.begin(), a.end(), '\n'), 3000);
  EXPECT_EQ(a, b);
}

// backend=cuda finds an emulated GPU here, with the same libraries as on a computer with a GPU. It
// must record with CUPTI and NVML alone, without tapes and interfaces that only a plan has.
TEST_F(EmulatedPlan, RunOnEmulatedGpuMatchesPlan) {
  const std::vector<std::string> run = {"--preset", "gpt2", "--set", "precision=amp-bf16"};
  Plan("plan.trace", run);
  std::vector<std::string> command = {"plan",
                                      "--device",
                                      "rtx-4090",
                                      "--writable",
                                      folder_.path(),
                                      "--",
                                      VRAMSCOPE_PROGRAM,
                                      "run",
                                      "--backend",
                                      "cuda",
                                      "-o",
                                      folder_ / "recorded.trace"};
  command.insert(command.end(), run.begin(), run.end());
  const Outcome outcome = RunVramscope(command);
  ASSERT_TRUE(std::filesystem::exists(folder_ / "recorded.trace")) << outcome.out << outcome.err;
  const json planned = Info("plan.trace"), recorded = Info("recorded.trace");
  EXPECT_EQ(recorded["backend"], "cuda");
  EXPECT_EQ(recorded["measured"], true);
  EXPECT_GT(recorded["kernels"], 1000);
  EXPECT_EQ(recorded["kernels"], planned["kernels"]);
  const Outcome diff = RunVramscope(
      {"diff", "--prediction", folder_ / "plan.trace", folder_ / "recorded.trace", "--json"});
  const json same = json::parse(diff.out, nullptr, false);
  ASSERT_TRUE(same.is_object()) << diff.err;
  EXPECT_EQ(same["requests"]["equal"], same["requests"]["total"]) << same["first_difference"];
  EXPECT_TRUE(same["equal"]);
  // System thread ids join each kernel's launch to an operator; both runs must find the same ones.
  // Set-up is excluded, because a plan does not initialise the parameters.
  const auto by = [&](const char* what, const char* file) {
    const Outcome outcome = RunVramscope({"kernels", folder_ / file, "--by", what, "--json"});
    std::map<std::string, int64_t> counts;
    const json kernels = json::parse(outcome.out);
    for (const json& group : kernels["groups"]) counts[group["name"]] = group["count"];
    counts.erase("setup");
    return counts;
  };
  EXPECT_EQ(by("op", "recorded.trace")["aten::mm"], by("op", "plan.trace")["aten::mm"]);
  EXPECT_EQ(by("module", "recorded.trace")["lm_head"], by("module", "plan.trace")["lm_head"]);
  auto phases = by("phase", "recorded.trace");
  phases.erase("");  // the loss is read back between phases
  EXPECT_EQ(phases, by("phase", "plan.trace"));
  // All figures of the GPU's memory come from NVML, none from the device table.
  ASSERT_EQ(recorded["device_memory"].size(), 1u);
  for (const json& part : recorded["device_memory"][0]["parts"])
    EXPECT_EQ(part["source"], "measured");
}

TEST_F(EmulatedPlan, CudaRunWithoutGpuSuggestsPlan) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "there is a GPU";
  const Outcome outcome = RunVramscope({"run", "--backend", "cuda"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, ::testing::AllOf(::testing::HasSubstr("GPU"),
                                            ::testing::HasSubstr("vramscope plan")));
}

TEST_F(EmulatedPlan, PlanMatchesRecordedStepsByRequest) {
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
  if (found == 0) GTEST_SKIP() << "needs the recordings next to the checkout";
}

TEST_F(EmulatedPlan, PlansRunThatDoesNotFit) {
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

TEST_F(EmulatedPlan, KernelsAgreeInExportInfoAndKernelsCommand) {
  Plan("gpt2.trace", {"--preset", "gpt2", "--set", "batch=2", "--set", "seq=64"});
  const Outcome exported = RunVramscope(
      {"export", folder_ / "gpt2.trace", "--to", "chrome", "-o", folder_ / "gpt2.json"});
  ASSERT_EQ(exported.status, 0) << exported.err;
  std::ifstream file(folder_ / "gpt2.json");
  const json chrome = json::parse(file, nullptr, false);
  ASSERT_TRUE(chrome.is_object());
  size_t kernels = 0, of_layers = 0;
  std::set<int64_t> calls, launched;
  for (const json& event : chrome["traceEvents"]) {
    const std::string category = event.value("cat", "");
    if (category == "cuda_runtime") calls.insert(event["args"].value("correlation", 0));
    if (category != "kernel") continue;
    ++kernels;
    EXPECT_NE(event["args"].value("Op", ""), "") << event;
    EXPECT_TRUE(launched.insert(event["args"].value("correlation", 0)).second);
    of_layers += event["args"].value("Module", "").find(".h.7.") != std::string::npos;
  }
  EXPECT_GT(kernels, 1000u);
  EXPECT_GT(of_layers, 50u) << "a layer that was not rehearsed";
  EXPECT_TRUE(std::includes(calls.begin(), calls.end(), launched.begin(), launched.end()));
  const json info = Info("gpt2.trace");
  EXPECT_EQ(info["kernels"], kernels);

  // Adds up the exported events of each operator and compares the sums with the table.
  std::map<std::string, uint64_t> by_op;
  for (const json& event : chrome["traceEvents"]) {
    const std::string category = event.value("cat", "");
    if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset")
      ++by_op[event["args"].value("Op", "")];
  }
  const json sums = Kernels({"--by", "op", "--top", "100000"});
  for (const json& sum : sums["groups"]) {
    EXPECT_EQ(sum["count"], by_op[sum["name"]]) << sum;
    by_op.erase(sum["name"]);
  }
  EXPECT_TRUE(by_op.empty()) << by_op.begin()->first;
  const auto product = std::find_if(sums["longest"].begin(), sums["longest"].end(),
                                    [](const json& one) { return one["op"] == "aten::mm"; });
  ASSERT_NE(product, sums["longest"].end());
  const int number = (*product)["activity"];
  const json longest = Kernels({"--kernel", std::to_string(number)});
  EXPECT_EQ(longest["name"], (*product)["name"]);
  EXPECT_EQ(longest["call"]["name"], "cudaLaunchKernel");
  ASSERT_FALSE(longest["op_allocated"].empty()) << longest;
  const int allocation = longest["op_allocated"][0]["allocation"];
  const json made = Kernels({"--allocation", std::to_string(allocation)});
  EXPECT_EQ(made["made_by"]["op"], longest["op"]);
  EXPECT_TRUE(std::any_of(made["made_by"]["kernels"].begin(), made["made_by"]["kernels"].end(),
                          [&](const json& kernel) { return kernel["activity"] == number; }))
      << made;
  EXPECT_EQ(RunVramscope({"kernels", folder_ / "gpt2.trace", "--kernel", "999999999"}).status, 3);
  EXPECT_GT(info["copies"], 0);
  EXPECT_EQ(info["collectives"], 0);
}

// One of four ranks is planned. Its gathers and reductions must be on a separate stream.
TEST_F(EmulatedPlan, ShardedPlansRecordCollectives) {
  for (const char* strategy : {"ddp", "zero3"}) {
    Plan("ranks.trace", {"--preset", "gpt2", "--set", "batch=2", "--set", "seq=64", "--set",
                         "shard.ranks=4", "--set", std::string("shard.strategy=") + strategy});
    const json info = Info("ranks.trace");
    EXPECT_GT(info["collectives"], 2) << strategy;
    EXPECT_GT(info["kernels"], 1000) << strategy;
    EXPECT_GT(info["streams"], 1) << strategy;
  }
}

TEST_F(EmulatedPlan, AllocatorSettingsAffectReservedMemory) {
  const json plain = Plan("plain.trace", {"--preset", "gpt2"});
  const json expandable = Plan(
      "expandable.trace", {"--preset", "gpt2", "--set", "alloc_conf=expandable_segments:True"});
  const double a = plain["peak"]["reserved"], b = expandable["peak"]["reserved"];
  EXPECT_LT(b, a);
  const double allocated = expandable["peak"]["allocated"];
  EXPECT_LT(b / allocated, 1.1);
  // This setting uses a LibTorch function with more arguments, whose declaration must match.
  for (const char* size : {"12", "32"})
    Plan("segments.trace",
         {"--preset", "gpt2", "--set", std::string("alloc_conf=large_segment_size_mb:") + size});
}

}  // namespace
}  // namespace vramscope::test
