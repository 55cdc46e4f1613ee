// Reads the device table from resources/devices. The files are compiled in, so an error in them is
// a bug of vramscope: the program ends with a message that names the file and the GPU. A test loads
// the whole table.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "profiler/run/context_growth.h"
#include "profiler/run/device_profile.h"
#include "profiler/run/device_sources.h"
#include "profiler/run/device_text.h"
#include "profiler/run/facts.h"
#include "profiler/run/peers.h"
#include "profiler/run/run_config.h"
#include "resources/embedded_file.h"

namespace vramscope::run {
namespace {

Peers PeersFromJson(const nlohmann::json& row) {
  static const std::map<std::string, Peers> kinds = {
      {"none", Peers::kNone}, {"pcie", Peers::kPcie}, {"nvlink", Peers::kNvlink}};
  const auto found = kinds.find(row.at("peers"));
  if (found != kinds.end()) return found->second;
  fmt::print(stderr, "resources/devices: {}: peers is none, pcie or nvlink\n",
             row.at("key").get<std::string>());
  std::abort();
}

FigureSources SourcesFromJson(const nlohmann::ordered_json& row) {
  absl::StatusOr<FigureSources> sources = ParseFigureSources(row);
  if (sources.ok()) return *std::move(sources);
  fmt::print(stderr, "resources/devices: {}: {}\n", row.at("key").get<std::string>(),
             std::string(sources.status().message()));
  std::abort();
}

Device FromJson(const nlohmann::json& row) {
  const auto bytes = [&](const char* key) {  // a number may have a fraction: some L2 caches have
                                             // half a MiB
    return static_cast<uint64_t>(row.at(key).get<double>() * 1048576);
  };
  Device d;
  d.key = row.at("key");
  d.name = row.at("name");
  d.memory_bytes = row.at("memory_bytes");
  d.context_bytes = bytes("context_mib");
  d.sm_count = row.at("sm_count");
  d.max_threads_per_sm = row.at("max_threads_per_sm");
  d.compute_capability = row.at("compute_capability");
  d.l2_bytes = bytes("l2_mib");
  d.boost_mhz = row.at("boost_mhz");
  d.bus_bits = row.at("bus_bits");
  d.blas_workspace_bytes = row.at("blas_workspace_bytes");
  d.bandwidth_bytes_per_s = row.at("bandwidth_gb_s").get<double>() * 1e9;
  d.fp32_flops = row.at("fp32_tflops").get<double>() * 1e12;
  d.tf32_flops = row.at("tf32_tflops").get<double>() * 1e12;
  d.bf16_flops = row.at("bf16_tflops").get<double>() * 1e12;
  d.peers = PeersFromJson(row);
  d.integrated = row.value("integrated", false);
  // HBM always has ECC. With GDDR, ECC is on if the memory size was read with ECC on.
  const uint32_t cc = d.compute_capability;
  d.ecc = row.value("ecc", cc == 60 || cc == 70 || cc == 80 || cc == 90 || cc / 10 == 10);
  d.sources = SourcesFromJson(row);
  d.source = d.sources.Text();
  return d;
}

// The format is {"1g.10gb": [14, 9.5]}: multiprocessors and GiB. A slice, even one of the whole
// GPU, has at most the memory that CUDA reports for the GPU. (This excludes the driver's part.)
std::vector<MigSlice> SlicesFromJson(const nlohmann::ordered_json& row, uint64_t memory) {
  std::vector<MigSlice> slices;
  for (const auto& [profile, figures] : row.items()) {
    const uint64_t bytes = static_cast<uint64_t>(figures.at(1).get<double>() * 1024) << 20;
    slices.push_back({profile, figures.at(0).get<uint32_t>(), std::min(bytes, memory)});
  }
  return slices;
}

ContextGrowth GrowthFromJson(const nlohmann::json& growth) {
  const auto mib = [&](const char* key) { return growth.at(key).get<uint64_t>() << 20; };
  return {.driver = growth.at("driver"),
          .with = growth.at("with"),
          .bare = mib("bare_mib"),
          .kernels = mib("kernels_mib"),
          .cublas = mib("cublas_mib"),
          .cudnn = mib("cudnn_mib"),
          .cusolver = mib("cusolver_mib"),
          .cufft = mib("cufft_mib"),
          .nccl = mib("nccl_mib"),
          .idle = growth.at("idle_bytes")};
}

struct Table {
  std::vector<Device> devices;
  // The measured growth, keyed by device. GPUs without a measurement are missing.
  std::map<std::string, ContextGrowth, std::less<>> growth;
  std::map<std::string, std::vector<MigSlice>, std::less<>> slices;  // device key -> MIG slices
  std::map<std::string, std::string, std::less<>> aliases;           // alias to key
};

Table LoadTable() {
  Table table;
  for (const resources::EmbeddedFile& file : resources::DeviceFiles()) {
    try {
      for (const nlohmann::ordered_json& row : nlohmann::ordered_json::parse(file.content)) {
        table.devices.push_back(FromJson(row));
        Device& d = table.devices.back();
        d.line = file.name;
        if (const auto growth = row.find("context_growth"); growth != row.end())
          table.growth[d.key] = GrowthFromJson(*growth);
        if (const auto slices = row.find("mig"); slices != row.end())
          table.slices[d.key] = SlicesFromJson(*slices, d.memory_bytes);
        for (const std::string& alias : row.value("aliases", std::vector<std::string>()))
          table.aliases[alias] = d.key;
      }
    } catch (const nlohmann::json::exception& error) {
      fmt::print(stderr, "resources/devices/{}.json, entry {}: {}\n", file.name,
                 table.devices.size(), error.what());
      std::abort();
    }
  }
  return table;
}

const Table& TheTable() {
  static const auto* table = new Table(LoadTable());
  return *table;
}

}  // namespace

const std::vector<Device>& DeviceTable() { return TheTable().devices; }

const std::vector<DeviceProfile>& Devices() {
  static const auto* devices =
      new std::vector<DeviceProfile>(DeviceTable().begin(), DeviceTable().end());
  return *devices;
}

std::span<const MigSlice> MigSlicesOf(std::string_view name) {
  const Device* device = FindInTable(name);
  const auto found =
      device == nullptr ? TheTable().slices.end() : TheTable().slices.find(device->key);
  if (found == TheTable().slices.end()) return {};
  return found->second;
}

std::string_view KeyOfAlias(std::string_view name) {
  const auto found = TheTable().aliases.find(name);
  return found == TheTable().aliases.end() ? name : std::string_view(found->second);
}

// The growth still applies to a GPU with another memory size, which has the same chip and driver.
// Does not apply after any other change.
const ContextGrowth& GrowthOf(std::string_view device) {
  static const ContextGrowth none;
  const std::string_view base = device.substr(0, device.find(','));
  std::string_view figures = device.substr(base.size());
  while (!figures.empty()) {
    figures.remove_prefix(1);
    const std::string_view figure = figures.substr(0, figures.find(','));
    if (!figure.starts_with("memory=") && !figure.starts_with("name=")) return none;
    figures.remove_prefix(figure.size());
  }
  const auto found = TheTable().growth.find(base);
  return found == TheTable().growth.end() ? none : found->second;
}

Peers PeersOf(std::string_view device) {
  const absl::StatusOr<Device> found = ReadDevice(device);
  return found.ok() ? found->peers : Peers::kPcie;
}

absl::StatusOr<Device> ReadDevice(std::string_view text) { return DeviceFromText(text); }

absl::StatusOr<DeviceProfile> FindDevice(std::string_view text) {
  absl::StatusOr<Device> device = ReadDevice(text);
  if (!device.ok()) return device.status();
  return DeviceProfile(*std::move(device));
}

uint64_t ContextOfRun(const RunConfig& config, const DeviceProfile& device) {
  const ContextGrowth& growth = GrowthOf(device.key);
  if (growth.bare == 0) return device.context_bytes;
  const uint64_t threads = config.Is("mode", "train") ? 2 : 1;  // one for forward, one for backward
  const bool convolves = FactOf(config, "model.family") == "vit";
  const bool shares = !config.Is("shard.strategy", "none") && config.Integer("shard.ranks") > 1;
  const bool decomposes = config.Integer("galore.rank") > 0;
  return growth.bare + growth.kernels + threads * growth.cublas +
         (convolves ? threads * growth.cudnn : 0) + (decomposes ? growth.cusolver : 0) +
         (shares ? growth.nccl : 0);
}

absl::StatusOr<DeviceProfile> ResolveDevice(const RunConfig& config) {
  absl::StatusOr<DeviceProfile> device = FindDevice(config.device);
  if (!device.ok()) return device;
  device->context_bytes = ContextOfRun(config, *device);
  const CustomDevice& custom = config.custom_device;
  if (custom.memory_bytes > 0) device->memory_bytes = custom.memory_bytes;
  if (custom.bandwidth_bytes_per_s > 0)
    device->bandwidth_bytes_per_s = custom.bandwidth_bytes_per_s;
  if (custom.flops > 0) {
    // The rate of fp32 runs is that of fp32 without TF32. All other runs use 16-bit tensor cores.
    if (config.Is("precision", "fp32")) {
      device->fp32_flops = device->tf32_flops = custom.flops;
    } else {
      device->bf16_flops = custom.flops;
    }
  }
  if (custom.any()) {
    device->name += " (changed)";
    device->source += "; memory, bandwidth or rate set by custom_device";
  }
  return device;
}

}  // namespace vramscope::run
