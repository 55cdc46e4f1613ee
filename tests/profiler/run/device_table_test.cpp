#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "profiler/run/compute_capability.h"
#include "profiler/run/device.h"
#include "profiler/run/device_sources.h"
#include "profiler/run/peers.h"
#include "profiler/run/run_config.h"
#include "resources/embedded_file.h"

namespace vramscope::run {
namespace {

using ::testing::HasSubstr;

// Returns each row as written in its file, together with the device that is derived from it.
std::vector<std::pair<nlohmann::json, Device>> Table() {
  std::vector<std::pair<nlohmann::json, Device>> table;
  for (const resources::EmbeddedFile& file : resources::DeviceFiles()) {
    for (const nlohmann::json& row : nlohmann::json::parse(file.content)) {
      table.emplace_back(row, ReadDevice(row.at("key").get<std::string>()).value());
    }
  }
  return table;
}

// Returns the source or the assumption that a row states for a figure, or "" if it has none.
std::string RemarkOn(const nlohmann::json& row, std::string_view figure) {
  const nlohmann::json none = nlohmann::json::object();
  const nlohmann::json sources = row.value("sources", none), assumed = row.value("assumed", none);
  for (const auto& [id, figures] : sources.items()) {
    if (std::ranges::find(figures, figure) != figures.end()) return id;
  }
  for (const auto& [figures, how] : assumed.items()) {
    if (("," + figures + ",").find("," + std::string(figure) + ",") != std::string::npos)
      return how;
  }
  return {};
}

TEST(DeviceTable, HasConsumerAndDataCentreGpus) {
  EXPECT_GE(DeviceTable().size(), 75u);
  for (const char* key : {"rtx-3060-12gb",
                          "rtx-3090",
                          "rtx-4090",
                          "rtx-5090",
                          "a100-80gb",
                          "h100-sxm",
                          "h200",
                          "b200",
                          "l4",
                          "gtx-1650",
                          "gtx-1660-ti",
                          "rtx-2060",
                          "rtx-2080-ti",
                          "titan-rtx",
                          "t4",
                          "quadro-rtx-8000",
                          "v100-sxm2-16gb",
                          "v100-sxm2-32gb",
                          "p100-pcie-16gb",
                          "a2",
                          "a10g",
                          "a16",
                          "l20",
                          "h20",
                          "l40",
                          "gh200-96gb",
                          "b100",
                          "b300",
                          "gb200",
                          "gb10",
                          "rtx-3070-laptop",
                          "rtx-4090-laptop",
                          "rtx-5090-laptop",
                          "rtx-a2000-12gb",
                          "rtx-5000-ada",
                          "rtx-pro-5000-72gb",
                          "jetson-orin-nano-8gb",
                          "jetson-orin-nx-16gb",
                          "jetson-agx-orin-64gb",
                          "jetson-thor-t5000"}) {
    EXPECT_TRUE(ReadDevice(key).ok()) << key;
  }
}

// Figures from independent sources must agree: memory with the advertised size, bandwidth with bus
// width and data rate, the fp32 rate with cores and clock, and tensor rates with the type of chip.
TEST(DeviceTable, FiguresAreConsistent) {
  std::set<std::string> keys, names;
  for (const auto& [row, d] : Table()) {
    SCOPED_TRACE(d.key);
    EXPECT_TRUE(keys.insert(d.key).second);
    EXPECT_TRUE(names.insert(d.name).second);
    EXPECT_TRUE(d.name.starts_with("NVIDIA ") || d.name.starts_with("Tesla ") ||
                d.name.starts_with("Quadro ") || (d.integrated && d.name.starts_with("Orin")));

    const uint32_t cc = d.compute_capability;
    const ComputeCapability* chip = FindComputeCapability(cc);
    ASSERT_NE(chip, nullptr);
    EXPECT_EQ(d.max_threads_per_sm, chip->max_threads_per_sm);
    EXPECT_EQ(d.blas_workspace_bytes, BlasWorkspaceBytes(cc));

    // ECC takes up a sixteenth of GDDR memory. The driver reserves 1 to 6 % of the rest. If host
    // and GPU share memory, the system takes up about as much as the driver would.
    const bool ecc = RemarkOn(row, "memory").find("ECC on") != std::string::npos;
    const double nominal =
        row.at("nominal_gib").get<double>() * 1073741824.0 * (ecc ? 15.0 / 16 : 1);
    EXPECT_LT(static_cast<double>(d.memory_bytes), nominal * 0.996);
    EXPECT_GT(static_cast<double>(d.memory_bytes), nominal * (d.integrated ? 0.89 : 0.92));

    const double bandwidth =
        row.at("bus_bits").get<double>() / 8 * row.at("data_rate_gbps").get<double>() * 1e9;
    EXPECT_NEAR(d.bandwidth_bytes_per_s / bandwidth, 1, 0.001);
    EXPECT_GE(d.bandwidth_bytes_per_s, 30e9);
    EXPECT_LE(d.bandwidth_bytes_per_s, 8e12);

    // Each core makes two operations per clock cycle.
    const double cores = d.sm_count * static_cast<double>(chip->cores_per_sm);
    const double clock = row.at("boost_mhz").get<double>() * 1e6;
    EXPECT_NEAR(d.fp32_flops / (2 * cores * clock), 1, 0.006);

    // These are dense 16-bit rates with fp32 accumulation. A GeForce GPU has half the rate of the
    // workstation or data-centre GPU with the same chip. Sparsity would double rates.
    const double ratio = d.bf16_flops / d.fp32_flops;
    EXPECT_GE(ratio, 0.99);
    EXPECT_LE(ratio, 33);
    const bool geforce = d.name.find("GeForce") != std::string::npos;
    const double expected = cc == 61                                 ? 1
                            : cc == 60                               ? 2
                            : cc == 70 || cc == 87                   ? 8
                            : cc == 80                               ? 16
                            : geforce && cc == 75 && d.sm_count < 28 ? 2
                            : geforce && cc == 75                    ? 4
                            : geforce                                ? 2
                                                                     : 0;
    if (expected > 0) {
      EXPECT_NEAR(ratio, expected, expected * 0.016);
    }
    // GPUs below compute capability 8.0 have no TF32.
    if (cc < 80) {
      EXPECT_EQ(d.tf32_flops, d.fp32_flops);
    } else {
      EXPECT_NEAR(d.bf16_flops / d.tf32_flops, 2.0, 0.03);
    }

    EXPECT_GE(d.l2_bytes, uint64_t{1} << 20);
    EXPECT_LE(d.l2_bytes, uint64_t{128} << 20);
    EXPECT_GE(d.context_bytes, 60ull << 20);
    EXPECT_LE(d.context_bytes, 1ull << 30);
  }
}

// A MIG slice must be a part of its GPU, and have the memory that its name states.
TEST(DeviceTable, SlicesArePartsOfTheirGpu) {
  size_t gpus = 0;
  for (const Device& d : DeviceTable()) {
    SCOPED_TRACE(d.key);
    gpus += MigSlicesOf(d.key).empty() ? 0 : 1;
    for (const MigSlice& slice : MigSlicesOf(d.key)) {
      SCOPED_TRACE(slice.profile);
      const Device part = ReadDevice(d.key + ":" + slice.profile).value();
      EXPECT_LE(part.sm_count, d.sm_count);
      EXPECT_LE(part.memory_bytes, d.memory_bytes);
      EXPECT_LE(part.bandwidth_bytes_per_s, d.bandwidth_bytes_per_s);
      EXPECT_LE(part.bf16_flops, d.bf16_flops);
      EXPECT_EQ(part.compute_capability, d.compute_capability);
      EXPECT_EQ(part.peers, Peers::kNone);
      EXPECT_LT(part.context_bytes, part.memory_bytes);
      const double gib = std::stod(slice.profile.substr(slice.profile.find('.') + 1));
      EXPECT_NEAR(static_cast<double>(part.memory_bytes) / 0x1p30 / gib, 0.95, 0.08);
    }
  }
  EXPECT_GE(gpus, 10u);
}

TEST(DeviceTable, PeerAccessMatchesTheBoard) {
  for (const auto& [row, d] : Table()) {
    SCOPED_TRACE(d.key);
    // GeForce GPUs of compute capability 6.1 still had peer access over PCIe.
    if (d.name.find("GeForce") != std::string::npos && d.compute_capability >= 75) {
      EXPECT_EQ(PeersOf(d.key), Peers::kNone);
    }
    if (d.name.find("SXM") != std::string::npos || d.name.find("HGX") != std::string::npos) {
      EXPECT_EQ(PeersOf(d.key), Peers::kNvlink);
    }
  }
  EXPECT_EQ(PeersOf("h100-pcie"), Peers::kPcie);
  EXPECT_EQ(PeersOf("rtx-6000-ada"), Peers::kNone);
}

// Every figure must state its source, or how it was assumed.
TEST(DeviceTable, EveryFigureHasASource) {
  size_t addresses = 0, assumptions = 0;
  for (const auto& [row, d] : Table()) {
    SCOPED_TRACE(d.key);
    const absl::StatusOr<FigureSources> sources = ParseFigureSources(row);
    ASSERT_TRUE(sources.ok()) << sources.status();
    std::set<std::string> figures;
    for (const FigureSources::Document& document : sources->read) {
      EXPECT_FALSE(document.title.empty());
      EXPECT_TRUE(document.address.empty() || document.address.starts_with("https://"));
      addresses += document.address.empty() ? 0 : document.figures.size();
      figures.insert(document.figures.begin(), document.figures.end());
    }
    for (const std::string& figure : sources->Assumed()) {
      EXPECT_TRUE(figures.insert(figure).second) << figure;
      EXPECT_THAT(d.source, HasSubstr(RemarkOn(row, figure)));
      ++assumptions;
    }
    for (const std::string_view figure : DeviceFigures())
      EXPECT_TRUE(figures.contains(std::string(figure))) << figure;
    EXPECT_EQ(d.sources.Assumed(), sources->Assumed());
  }
  EXPECT_GT(addresses, 1000u);
  EXPECT_GT(assumptions, 0u);
}

// If a figure has neither a source nor an assumption, its row must be refused, and the error must
// name the figure.
TEST(DeviceTable, RejectsFiguresWithoutSource) {
  const nlohmann::json good = Table().front().first;
  ASSERT_TRUE(ParseFigureSources(good).ok());
  const auto refusal = [&](const auto& change) {
    nlohmann::json row = good;
    change(row);
    const absl::StatusOr<FigureSources> sources = ParseFigureSources(row);
    return sources.ok() ? std::string() : std::string(sources.status().message());
  };
  EXPECT_THAT(refusal([](auto& row) { row.erase("sources"); }), HasSubstr("has no source"));
  EXPECT_THAT(refusal([](auto& row) { row["assumed"].erase("memory"); }), HasSubstr("memory has"));
  EXPECT_THAT(refusal([](auto& row) { row["assumed"]["l2"] = "as another"; }),
              HasSubstr("l2 has two sources"));
  EXPECT_THAT(refusal([](auto& row) { row["assumed"]["memory"] = ""; }),
              HasSubstr("without an explanation"));
  EXPECT_THAT(refusal([](auto& row) { row["sources"]["hearsay"] = {"l2"}; }),
              HasSubstr("no document \"hearsay\""));
  EXPECT_THAT(refusal([](auto& row) { row["assumed"]["colour"] = "green"; }),
              HasSubstr("no figure \"colour\""));
  EXPECT_THAT(refusal([](auto& row) { row["mig"] = {{"1g.5gb", {14, 4.7}}}; }), HasSubstr("mig"));
}

// Regression test: these figures were wrong until a source was found.
TEST(DeviceTable, KeepsCorrectedFigures) {
  EXPECT_EQ(ReadDevice("p4")->sm_count, 20u);
  EXPECT_EQ(ReadDevice("p40")->sm_count, 30u);
  EXPECT_EQ(ReadDevice("a10g")->sm_count, 80u);
  EXPECT_EQ(ReadDevice("h200")->l2_bytes, uint64_t{60} << 20);
  EXPECT_EQ(ReadDevice("b200")->bus_bits, 7680u);
}

TEST(DeviceTable, HasPublishedFigures) {
  const Device h100 = ReadDevice("h100-sxm").value();
  EXPECT_EQ(h100.sm_count, 132u);
  EXPECT_EQ(h100.compute_capability, 90u);
  EXPECT_NEAR(h100.bf16_flops, 989.4e12, 1e12);
  const Device ada = ReadDevice("rtx-4090").value();
  EXPECT_EQ(ada.sm_count, 128u);
  EXPECT_EQ(ada.memory_bytes, 25250627584u);
  EXPECT_DOUBLE_EQ(ada.bandwidth_bytes_per_s, 1008e9);
}

TEST(DeviceTable, UnknownGpuSuggestsTheNearest) {
  const absl::StatusOr<Device> device = ReadDevice("rtx-4900");
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(std::string(device.status().message()), HasSubstr("did you mean \"rtx-4090\""));
  EXPECT_THAT(std::string(ReadDevice("4090").status().message()), HasSubstr("rtx-4090"));
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
