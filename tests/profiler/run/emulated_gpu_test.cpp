#include "profiler/run/emulated_gpu.h"

#include <absl/strings/str_split.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "profiler/run/context_growth.h"
#include "profiler/run/device.h"
#include "profiler/run/peers.h"

namespace vramscope::run {
namespace {

TEST(EmulatedGpu, HasTheNameThatCudaReports) {
  EXPECT_EQ(CudaName("NVIDIA H100 80GB HBM3 (SXM5)"), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(CudaName("NVIDIA GeForce RTX 3060 12GB"), "NVIDIA GeForce RTX 3060");
  EXPECT_EQ(CudaName("NVIDIA GeForce RTX 4090"), "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(CudaName("NVIDIA A100-SXM4-40GB"), "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(CudaName("a;b\nc"), "a b c");
}

// All figures of all GPUs must exist and be whole numbers greater than zero.
TEST(EmulatedGpu, HasAllFiguresOfEveryGpu) {
  for (const Device& device : DeviceTable()) {
    SCOPED_TRACE(device.key);
    std::map<std::string, std::string> fields;
    for (const absl::string_view part : absl::StrSplit(EmulatedGpu(device), ';')) {
      const std::pair<std::string, std::string> field =
          absl::StrSplit(part, absl::MaxSplits('=', 1));
      EXPECT_TRUE(fields.insert(field).second) << field.first;
    }
    EXPECT_EQ(fields.size(), GrowthOf(device.key).idle > 0 ? 17u : 16u);
    EXPECT_FALSE(fields["name"].empty());
    fields.erase("name");
    EXPECT_EQ(fields["peers"], std::to_string(static_cast<int>(PeersOf(device.key))));
    EXPECT_EQ(fields["integrated"], device.integrated ? "1" : "0");
    EXPECT_EQ(fields["ecc"], device.ecc ? "1" : "0");
    for (const char* may_be_zero : {"peers", "integrated", "ecc"}) fields.erase(may_be_zero);
    for (const auto& [name, value] : fields) {
      EXPECT_FALSE(value.empty() || value == "0") << name;
      EXPECT_EQ(value.find_first_not_of("0123456789"), std::string::npos) << name << "=" << value;
    }
    EXPECT_EQ(fields["memory_bytes"], std::to_string(device.memory_bytes));
    EXPECT_EQ(fields["compute_capability"], std::to_string(device.compute_capability));
  }
}

// The context of a program grows only on GPUs for which the growth was measured.
TEST(EmulatedGpu, ContextGrowsOnlyOnMeasuredGpus) {
  const DeviceProfile h200 = FindDevice("h200").value(), ada = FindDevice("rtx-4090").value();
  EXPECT_EQ(GrowingGpu(ada), EmulatedGpu(ada));
  EXPECT_EQ(GrowingGpu(h200).rfind(EmulatedGpu(h200), 0), 0u);
  EXPECT_NE(GrowingGpu(h200).find(";bare_context_bytes=543162368;"), std::string::npos);
  // The table's figure includes the first kernel, and a cuBLAS handle in each of two threads.
  const ContextGrowth& g = GrowthOf("h200");
  EXPECT_EQ(g.bare + g.kernels + 2 * g.cublas, h200.context_bytes);
}

// A program's context grows while it runs. A run of the embedded loop has a context of the final
// size from the start.
TEST(ContextOfRun, DependsOnLibrariesOfTheRun) {
  const auto context = [](const std::vector<std::pair<std::string, std::string>>& settings,
                          const char* preset = "gpt2") {
    RunConfigBuilder builder;
    EXPECT_TRUE(builder.SetPreset(preset).ok());
    EXPECT_TRUE(builder.Set("device", "h200").ok());
    for (const auto& [key, value] : settings) EXPECT_TRUE(builder.Set(key, value).ok()) << key;
    return ResolveDevice(builder.Build().value())->context_bytes;
  };
  const ContextGrowth& g = GrowthOf("h200");
  const uint64_t training = FindDevice("h200")->context_bytes;
  EXPECT_EQ(context({}), training);
  EXPECT_EQ(context({{"mode", "inference"}}), training - g.cublas);
  EXPECT_EQ(context({{"shard.strategy", "ddp"}, {"shard.ranks", "2"}}), training + g.nccl);
  EXPECT_EQ(context({{"galore.rank", "64"}}, "qwen2-0.5b"), training + g.cusolver);
  EXPECT_EQ(context({}, "vit-l-16"), training + 2 * g.cudnn);
  // For other GPUs, the table has only one figure for all runs.
  EXPECT_EQ(context({{"device", "rtx-4090"}, {"mode", "inference"}}),
            FindDevice("rtx-4090")->context_bytes);
}

}  // namespace
}  // namespace vramscope::run
