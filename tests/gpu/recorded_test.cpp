// Plans each run that record.py recorded (tests/golden/gpu) for the same GPU. Compares the plan
// with the recording, allocation by allocation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/process.h"

namespace vramscope::test {
namespace {

using nlohmann::json;

struct Recorded {
  const char* name;
  std::vector<const char*> run;  // preset and settings, as in record.py
  // The allowed errors of the peaks, in bytes. On a GPU, each run has other segment addresses.
  // These decide which free block is used, and how large the unsplit rest of a block is.
  uint64_t allocated, reserved;
};
constexpr uint64_t kMiB = uint64_t{1} << 20;

const std::vector<Recorded>& Runs() {
  static const std::vector<Recorded> runs = {
      {"run_gpt2", {"gpt2", "batch=4", "seq=512"}, 0, 0},
      {"run_qwen2-0_5b", {"qwen2-0.5b", "batch=2", "seq=512"}, 0, 0},
      {"run_basics-medium", {"basics-medium"}, 0, 0},
      {"run_gpt2_techniques",
       {"gpt2", "batch=8", "seq=512", "precision=amp-bf16", "checkpointing.mode=layer",
        "optimizer.impl=fused"},
       0,
       0},
      {"run_gpt2_offload", {"gpt2", "batch=4", "seq=512", "offload.activations=cpu"}, 0, 0},
      {"run_vit-l-16", {"vit-l-16", "batch=8"}, 0, 0},
      {"run_bert-base-uncased", {"bert-base-uncased", "precision=amp-bf16"}, 3 * kMiB, 8 * kMiB},
      {"run_handmade-transformer-512", {"handmade-transformer-512"}, 6 * kMiB, 20 * kMiB},
  };
  return runs;
}

// Each recording contains the used memory that NVML reported. A part of it is unexplained: mainly
// modules that CUDA loads after NVML was first queried.
TEST(RecordedOnH200, UnexplainedPartOfUsedMemoryIsSmall) {
  int recordings = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(VRAMSCOPE_GOLDEN) + "/gpu/h200")) {
    if (entry.path().extension() != ".trace") continue;
    const Outcome peak = RunVramscope({"peak", entry.path().string(), "--json"});
    ASSERT_EQ(peak.status, 0) << peak.err;
    const json memory = json::parse(peak.out).at("device_memory");
    SCOPED_TRACE(entry.path().filename().string());
    EXPECT_GE(memory.at("remainder").get<int64_t>(), 0);
    EXPECT_LE(memory.at("remainder").get<int64_t>(), int64_t{128} << 20);
    // The CUDA context and cuBLAS's memory have the same size in all runs with this driver.
    for (const json& part : memory.at("parts")) {
      const auto bytes = part.at("bytes").get<int64_t>();
      if (part.at("name") == "libraries") {
        EXPECT_LE(bytes, int64_t{520} << 20);
      } else if (part.at("name") == "CUDA context") {
        EXPECT_GE(bytes, int64_t{518} << 20);
      }
    }
    ++recordings;
  }
  EXPECT_GE(recordings, 14);
}

class OnH200 : public testing::TestWithParam<size_t> {};

TEST_P(OnH200, PlanMatchesRecording) {
  namespace fs = std::filesystem;
  const fs::path build = fs::path(VRAMSCOPE_PROGRAM).parent_path().parent_path();
  if (std::getenv("VRAMSCOPE_WORKER") != nullptr || !fs::exists(build / "bin/vramscope-worker") ||
      !fs::exists(build / "lib/libvramscope_torch_cuda.so"))
    GTEST_SKIP() << "needs LibTorch with libtorch_cuda.so";
  const Recorded& recorded = Runs()[GetParam()];
  const TemporaryFolder folder;
  const std::string planned = folder / "planned.trace";
  std::vector<std::string> plan = {"plan", "--preset", recorded.run[0]};
  for (size_t i = 1; i < recorded.run.size(); ++i)
    plan.insert(plan.end(), {"--set", recorded.run[i]});
  plan.insert(plan.end(), {"--set", "steps=3", "--set", "device=h200", "-o", planned});
  const Outcome made = RunVramscope(plan);
  ASSERT_EQ(made.status, 0) << made.err;
  const Outcome compared = RunVramscope(
      {"diff", "--prediction", planned,
       std::string(VRAMSCOPE_GOLDEN) + "/gpu/h200/" + recorded.name + ".trace", "--json"});
  ASSERT_LE(compared.status, 1) << compared.err;
  const json diff = json::parse(compared.out);
  const json& peak = diff.at("peak");
  EXPECT_LE(std::abs(peak.at("allocated").at("error").get<int64_t>()),
            static_cast<int64_t>(recorded.allocated));
  EXPECT_LE(std::abs(peak.at("reserved").at("error").get<int64_t>()),
            static_cast<int64_t>(recorded.reserved));
  // Ignores the order of frees between two allocations, because host threads race on a GPU.
  const json& requests = diff.at("requests");
  EXPECT_EQ(requests.at("equal_frees_unordered"), requests.at("total"));
  for (const auto& [category, bytes] : diff.at("categories").items())
    EXPECT_LE(std::abs(bytes.at("error").get<int64_t>()), static_cast<int64_t>(recorded.allocated))
        << category;
}

INSTANTIATE_TEST_SUITE_P(, OnH200, testing::Range(size_t{0}, Runs().size()),
                         [](const testing::TestParamInfo<size_t>& info) {
                           std::string name = Runs()[info.param].name;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

}  // namespace
}  // namespace vramscope::test
