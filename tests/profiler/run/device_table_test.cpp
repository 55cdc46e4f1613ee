#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "profiler/run/device_profile.h"
#include "profiler/run/peers.h"
#include "profiler/run/run_config.h"
#include "resources/embedded_file.h"

namespace vramscope::run {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The table's rows as written, beside what the program made of them.
std::vector<std::pair<nlohmann::json, DeviceProfile>> Table() {
  std::vector<std::pair<nlohmann::json, DeviceProfile>> table;
  for (const resources::EmbeddedFile& file : resources::DeviceFiles()) {
    for (const nlohmann::json& row : nlohmann::json::parse(file.content)) {
      table.emplace_back(row, FindDevice(row.at("key").get<std::string>()).value());
    }
  }
  return table;
}

TEST(DeviceTable, HoldsConsumerAndDataCentreCards) {
  EXPECT_GE(Devices().size(), 25u);
  for (const char* key : {"rtx-3060-12gb", "rtx-3090", "rtx-4090", "rtx-5090", "a100-80gb",
                          "h100-sxm", "h200", "b200", "l4"}) {
    EXPECT_TRUE(FindDevice(key).ok()) << key;
  }
}

// What was looked up independently must agree: memory with the size on the box, bandwidth with bus
// and data rate, fp32 with cores and clock, tensor rates with the kind of chip.
TEST(DeviceTable, FiguresAreConsistent) {
  std::set<std::string> keys, names;
  for (const auto& [row, d] : Table()) {
    SCOPED_TRACE(d.key);
    EXPECT_TRUE(keys.insert(d.key).second);
    EXPECT_TRUE(names.insert(d.name).second);
    EXPECT_EQ(d.name.rfind("NVIDIA ", 0), 0u);

    const uint32_t cc = d.compute_capability;
    const bool data_centre_chip = cc == 80 || cc == 90 || cc == 100;
    EXPECT_TRUE(data_centre_chip || cc == 86 || cc == 89 || cc == 120);
    EXPECT_EQ(d.max_threads_per_sm, data_centre_chip ? 2048u : 1536u);
    EXPECT_EQ(d.blas_workspace_bytes, cc >= 90 ? 33554432u : 8519680u);

    // The driver keeps 1 to 6 %; ECC on GDDR takes a sixteenth before that.
    const bool ecc = row.at("memory_source").get<std::string>().find("ECC on") != std::string::npos;
    const double nominal =
        row.at("nominal_gib").get<double>() * 1073741824.0 * (ecc ? 15.0 / 16 : 1);
    EXPECT_LT(static_cast<double>(d.memory_bytes), nominal * 0.995);
    EXPECT_GT(static_cast<double>(d.memory_bytes), nominal * 0.94);

    const double bandwidth =
        row.at("bus_bits").get<double>() / 8 * row.at("data_rate_gbps").get<double>() * 1e9;
    EXPECT_NEAR(d.bandwidth_bytes_per_s / bandwidth, 1, 0.001);

    // Two operations a core and clock; 64 cores an SM on 8.0, 128 on all others.
    const double cores = d.sm_count * (cc == 80 ? 64.0 : 128.0);
    const double clock = row.at("boost_mhz").get<double>() * 1e6;
    EXPECT_NEAR(d.fp32_flops / (2 * cores * clock), 1, 0.005);

    // Dense bf16 with fp32 accumulation: GeForce cards have half the rate of the same chip sold as
    // a workstation or data-centre card. A rate with sparsity would be off by two.
    const bool geforce = d.name.find("GeForce") != std::string::npos;
    const double ratio = cc == 80 ? 16 : cc == 90 ? 14.8 : cc == 100 ? 30.2 : geforce ? 2 : 4;
    EXPECT_NEAR(d.bf16_flops / d.fp32_flops, ratio, ratio * 0.015);
    EXPECT_NEAR(d.bf16_flops / d.tf32_flops, 2.0, 0.03);

    EXPECT_GE(d.context_bytes, 100ull << 20);
    EXPECT_LE(d.context_bytes, 1ull << 30);
  }
}

TEST(DeviceTable, PeersAreOfTheKindOfBoard) {
  for (const auto& [row, d] : Table()) {
    SCOPED_TRACE(d.key);
    if (d.name.find("GeForce") != std::string::npos) {
      EXPECT_EQ(PeersOf(d.key), Peers::kNone);
    }
    if (d.name.find("SXM") != std::string::npos || d.name.find("HGX") != std::string::npos) {
      EXPECT_EQ(PeersOf(d.key), Peers::kNvlink);
    }
  }
  EXPECT_EQ(PeersOf("h100-pcie"), Peers::kPcie);
  EXPECT_EQ(PeersOf("rtx-6000-ada"), Peers::kNone);
}

// Every figure says where it was read, or that it is an estimate.
TEST(DeviceTable, SourcesAreNamed) {
  for (const auto& [row, d] : Table()) {
    SCOPED_TRACE(d.key);
    EXPECT_FALSE(row.at("rates_source").get<std::string>().empty());
    EXPECT_FALSE(row.at("memory_source").get<std::string>().empty());
    EXPECT_FALSE(row.at("peers_source").get<std::string>().empty());
    const std::string context = row.at("context_source");
    EXPECT_TRUE(context.rfind("measured: ", 0) == 0 ||
                (context.rfind("estimate: ", 0) == 0 &&
                 context.find("not confirmed: ") != std::string::npos))
        << context;
    EXPECT_THAT(d.source, AllOf(HasSubstr("memory: "), HasSubstr("context: " + context)));
  }
}

TEST(DeviceTable, PublishedFigures) {
  const DeviceProfile h100 = FindDevice("h100-sxm").value();
  EXPECT_EQ(h100.sm_count, 132u);
  EXPECT_EQ(h100.compute_capability, 90u);
  EXPECT_NEAR(h100.bf16_flops, 989.4e12, 1e12);
  const DeviceProfile ada = FindDevice("rtx-4090").value();
  EXPECT_EQ(ada.sm_count, 128u);
  EXPECT_EQ(ada.memory_bytes, 25250627584u);
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
  EXPECT_DOUBLE_EQ(device.bf16_flops, 71.2e12);
  EXPECT_EQ(device.sm_count, 82u);
  EXPECT_THAT(device.name, HasSubstr("changed"));
  config.Set("precision", "amp-bf16");
  device = ResolveDevice(config).value();
  EXPECT_EQ(device.bf16_flops, 10e12);
  EXPECT_EQ(device.fp32_flops, 35.6e12);
}

}  // namespace
}  // namespace vramscope::run
