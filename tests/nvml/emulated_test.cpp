// Tests the sampler with the emulated platform's driver and NVML.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "nvml/sampler.h"

namespace vramscope::nvml {
namespace {

const int kEnvironment =
    setenv(
        "VRAMSCOPE_EMULATED_GPU",
        "name=Test Card;memory_bytes=8589934592;context_bytes=300000000;sm_count=20;"
        "max_threads_per_sm=1536;compute_capability=86;l2_bytes=4194304;"
        "bandwidth_bytes_per_s=5e11;fp32_flops=1e13;tf32_flops=4e13;bf16_flops=8e13;bus_bits=256;"
        "boost_mhz=1700",
        1) |
    setenv("VRAMSCOPE_EMULATED_DEVICES", "2", 1) | unsetenv("VRAMSCOPE_EMULATED_OUTPUT");

void* Open(const char* soname) {
  void* handle =
      dlopen((std::string(VRAMSCOPE_EMULATED_DIR "/") + soname).c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(handle, nullptr) << dlerror();
  return handle;
}
template <class... Arguments>
int Call(void* library, const char* name, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name))(arguments...);
}

TEST(NvmlEmulated, ReportsMemoryOfOwnProcess) {
  Open("libcuda.so.1");
  Open("libnvidia-ml.so.1");
  void* const runtime = Open("libcudart.so.12");
  Sampler sampler;
  ASSERT_EQ(sampler.Open(), "");
  EXPECT_TRUE(sampler.Now().empty());  // there is no context, and the query creates none
  EXPECT_TRUE(sampler.Now().empty());
  void* memory = nullptr;
  ASSERT_EQ(Call(runtime, "cudaSetDevice", 1), 0);
  ASSERT_EQ(Call(runtime, "cudaMalloc", &memory, size_t{64} << 20), 0);
  const std::vector<GpuMemory> gpus = sampler.Now();
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].device, 1);
  EXPECT_EQ(gpus[0].total, 8589934592u);
  EXPECT_EQ(gpus[0].used, 300000000u + (64u << 20));
  EXPECT_EQ(gpus[0].process, gpus[0].used);
  ASSERT_EQ(Call(runtime, "cudaFree", memory), 0);
  EXPECT_EQ(sampler.Now().at(0).used, 300000000u);
}

}  // namespace
}  // namespace vramscope::nvml
