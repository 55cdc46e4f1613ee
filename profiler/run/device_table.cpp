// Reads the device table from resources/devices. The files are compiled in, so a mistake in them is
// ours: it ends the program with the file and the card, and a test loads the whole table.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "profiler/run/context_growth.h"
#include "profiler/run/device_profile.h"
#include "profiler/run/facts.h"
#include "profiler/run/messages.h"
#include "profiler/run/peers.h"
#include "profiler/run/run_config.h"
#include "profiler/run/units.h"
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

DeviceProfile FromJson(const nlohmann::json& row) {
  DeviceProfile d;
  d.key = row.at("key");
  d.name = row.at("name");
  d.memory_bytes = row.at("memory_bytes");
  d.context_bytes = row.at("context_mib").get<uint64_t>() << 20;
  d.sm_count = row.at("sm_count");
  d.max_threads_per_sm = row.at("max_threads_per_sm");
  d.compute_capability = row.at("compute_capability");
  d.l2_bytes = row.at("l2_mib").get<uint64_t>() << 20;
  d.boost_mhz = row.at("boost_mhz");
  d.bus_bits = row.at("bus_bits");
  d.blas_workspace_bytes = row.at("blas_workspace_bytes");
  d.bandwidth_bytes_per_s = row.at("bandwidth_gb_s").get<double>() * 1e9;
  d.fp32_flops = row.at("fp32_tflops").get<double>() * 1e12;
  d.tf32_flops = row.at("tf32_tflops").get<double>() * 1e12;
  d.bf16_flops = row.at("bf16_tflops").get<double>() * 1e12;
  d.source = fmt::format("{}; memory: {}; context: {}",
                         row.at("rates_source").get_ref<const std::string&>(),
                         row.at("memory_source").get_ref<const std::string&>(),
                         row.at("context_source").get_ref<const std::string&>());
  return d;
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
  std::vector<DeviceProfile> devices;
  std::map<std::string, ContextGrowth, std::less<>> growth;  // by key, of those that have one
  std::map<std::string, Peers, std::less<>> peers;           // by key
};

Table LoadTable() {
  Table table;
  for (const resources::EmbeddedFile& file : resources::DeviceFiles()) {
    try {
      for (const nlohmann::json& row : nlohmann::json::parse(file.content)) {
        table.devices.push_back(FromJson(row));
        table.peers[table.devices.back().key] = PeersFromJson(row);
        if (const auto growth = row.find("context_growth"); growth != row.end())
          table.growth[table.devices.back().key] = GrowthFromJson(*growth);
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

const std::vector<DeviceProfile>& Devices() { return TheTable().devices; }

const ContextGrowth& GrowthOf(std::string_view device) {
  static const ContextGrowth none;
  const auto found = TheTable().growth.find(device);
  return found == TheTable().growth.end() ? none : found->second;
}

Peers PeersOf(std::string_view device) {
  const auto found = TheTable().peers.find(device);
  return found == TheTable().peers.end() ? Peers::kPcie : found->second;
}

absl::StatusOr<DeviceProfile> FindDevice(std::string_view key) {
  std::vector<std::string_view> keys;
  for (const DeviceProfile& device : Devices()) {
    if (device.key == key) return device;
    keys.push_back(device.key);
  }
  const std::string_view near = Nearest(key, keys.data(), keys.data() + keys.size());
  return absl::InvalidArgumentError(fmt::format(
      "device: no {} in the device table{}; `vramscope devices` lists what there is", Quoted(key),
      near.empty() ? std::string() : fmt::format(" (did you mean \"{}\"?)", near)));
}

uint64_t ContextOfRun(const RunConfig& config, const DeviceProfile& device) {
  const ContextGrowth& growth = GrowthOf(device.key);
  if (growth.bare == 0) return device.context_bytes;
  const uint64_t threads = config.Is("mode", "train") ? 2 : 1;  // forward's and backward's
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
    // fp32 runs compute in fp32 without TF32; all others on the 16-bit tensor cores.
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
