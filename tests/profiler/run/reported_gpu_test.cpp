#include "profiler/run/reported_gpu.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "profiler/run/emulated_gpu.h"

namespace vramscope::run {
namespace {

// If the driver reports the same name for several GPUs, other properties distinguish them.
TEST(GpuProfile, IsFoundByTheNameOfTheDriver) {
  // Each of these shares its reported name, multiprocessors and memory with another GPU.
  const std::set<std::string> alike = {
      "gtx-1650-gddr6",        "gtx-1660-ti-laptop",     "rtx-2060-laptop",   "rtx-2070-laptop",
      "rtx-2080-super-laptop", "jetson-orin-nano-super", "jetson-orin-nx-8gb"};
  for (const DeviceProfile& d : Devices()) {
    if (alike.contains(d.key)) continue;
    const std::string name = CudaName(d.name);
    const uint64_t reported_bytes =
        d.memory_bytes - (uint64_t{60} << 20);  // the driver may report less than the table
    const DeviceProfile found = ProfileOf({name, reported_bytes, d.sm_count, d.compute_capability});
    EXPECT_EQ(found.key, d.key);
    EXPECT_EQ(found.name, name);
    EXPECT_EQ(found.memory_bytes, reported_bytes);
    EXPECT_EQ(found.bandwidth_bytes_per_s, d.bandwidth_bytes_per_s);
    EXPECT_EQ(found.context_bytes, d.context_bytes);
  }
}

TEST(GpuProfile, OfUnknownGpuHasWorkspaceButNoRates) {
  const DeviceProfile h100 = FindDevice("h100-sxm").value();
  const DeviceProfile slice =
      ProfileOf({"NVIDIA H100 80GB HBM3 MIG 1g.10gb", uint64_t{10} << 30, 16, 90});
  EXPECT_EQ(slice.key, "");
  EXPECT_EQ(slice.bandwidth_bytes_per_s, 0);
  EXPECT_EQ(slice.blas_workspace_bytes, h100.blas_workspace_bytes);
  EXPECT_EQ(ProfileOf({"NVIDIA Tesla K80", uint64_t{11} << 30, 13, 37}).blas_workspace_bytes, 0u);
}

TEST(GpuProfile, IsEmptyWithoutAName) { EXPECT_EQ(ProfileOf({}).name, ""); }

}  // namespace
}  // namespace vramscope::run
