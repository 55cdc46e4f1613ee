#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "profiler/run/device_profile.h"
#include "profiler/run/run_config.h"

namespace vramscope::run {
namespace {

using ::testing::HasSubstr;

TEST(DeviceTable, HoldsConsumerAndDataCentreCards) {
  EXPECT_GE(Devices().size(), 25u);
  for (const char* key : {"rtx-3060-12gb", "rtx-3090", "rtx-4090", "rtx-5090", "a100-80gb",
                          "h100-sxm", "h200", "b200", "l4"}) {
    EXPECT_TRUE(FindDevice(key).ok()) << key;
  }
}

// Multiprocessors, threads and cores hang together; rates and bandwidths lie where such cards lie.
TEST(DeviceTable, FiguresAreConsistent) {
  std::set<std::string> keys, names;
  for (const DeviceProfile& d : Devices()) {
    SCOPED_TRACE(d.key);
    EXPECT_TRUE(keys.insert(d.key).second);
    EXPECT_TRUE(names.insert(d.name).second);
    EXPECT_FALSE(d.source.empty());
    EXPECT_EQ(d.name.rfind("NVIDIA ", 0), 0u);

    const bool data_centre_chip =
        d.compute_capability == 80 || d.compute_capability == 90 || d.compute_capability == 100;
    EXPECT_TRUE(data_centre_chip || d.compute_capability == 86 || d.compute_capability == 89 ||
                d.compute_capability == 120);
    EXPECT_EQ(d.max_threads_per_sm, data_centre_chip ? 2048u : 1536u);
    EXPECT_EQ(d.blas_workspace_bytes, d.compute_capability >= 90 ? 33554432u : 8519680u);

    const double gib = 1073741824.0;
    EXPECT_GE(d.memory_bytes, 7.9 * gib);
    EXPECT_LE(d.memory_bytes, 192 * gib);
    EXPECT_GE(d.context_bytes, 0.2 * gib);
    EXPECT_LE(d.context_bytes, 1.1 * gib);
    EXPECT_GE(d.sm_count, 24u);
    EXPECT_LE(d.sm_count, 188u);
    EXPECT_GE(d.bandwidth_bytes_per_s, 250e9);
    EXPECT_LE(d.bandwidth_bytes_per_s, 8000e9);

    // fp32: two operations a core and clock; 64 cores an SM on 8.0, 128 on all later ones.
    const double cores = d.sm_count * (d.compute_capability == 80 ? 64.0 : 128.0);
    const double clock = d.fp32_flops / (2 * cores);
    EXPECT_GE(clock, 1.2e9);
    EXPECT_LE(clock, 2.8e9);
    EXPECT_GE(d.tf32_flops, d.fp32_flops * 0.99);
    EXPECT_NEAR(d.bf16_flops / d.tf32_flops, 2.0, 0.04);  // dense: bf16 is twice tf32
  }
}

TEST(DeviceTable, PublishedFigures) {
  const DeviceProfile h100 = FindDevice("h100-sxm").value();
  EXPECT_EQ(h100.sm_count, 132u);
  EXPECT_EQ(h100.compute_capability, 90u);
  EXPECT_NEAR(h100.bf16_flops, 989.4e12, 1e12);
  const DeviceProfile ada = FindDevice("rtx-4090").value();
  EXPECT_EQ(ada.sm_count, 128u);
  EXPECT_EQ(ada.memory_bytes, 24564ull << 20);
  EXPECT_DOUBLE_EQ(ada.bandwidth_bytes_per_s, 1008e9);
}

TEST(DeviceTable, UnknownCardNamesTheNearest) {
  const absl::StatusOr<DeviceProfile> device = FindDevice("rtx-4900");
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(std::string(device.status().message()), HasSubstr("did you mean \"rtx-4090\""));
  EXPECT_THAT(std::string(FindDevice("4090").status().message()), HasSubstr("rtx-4090"));
}

TEST(ResolveDevice, OverridesReplaceTheTablesFigures) {
  RunConfigBuilder builder;
  ASSERT_TRUE(builder.Set("device", "rtx-3090").ok());
  ASSERT_TRUE(builder.Set("custom_device.memory", "8GiB").ok());
  ASSERT_TRUE(builder.Set("custom_device.bandwidth", "500e9").ok());
  ASSERT_TRUE(builder.Set("custom_device.flops", "10e12").ok());
  RunConfig config = builder.Build().value();
  DeviceProfile device = ResolveDevice(config).value();
  EXPECT_EQ(device.memory_bytes, 8ull << 30);
  EXPECT_EQ(device.bandwidth_bytes_per_s, 500e9);
  EXPECT_EQ(device.fp32_flops, 10e12);
  EXPECT_EQ(device.bf16_flops, 71e12);
  EXPECT_EQ(device.sm_count, 82u);
  EXPECT_THAT(device.name, HasSubstr("changed"));
  config.precision = Precision::kAmpBf16;
  device = ResolveDevice(config).value();
  EXPECT_EQ(device.bf16_flops, 10e12);
  EXPECT_EQ(device.fp32_flops, 35.6e12);
}

}  // namespace
}  // namespace vramscope::run
