#include "profiler/run/device_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "profiler/base/i18n.h"
#include "profiler/run/compute_capability.h"
#include "profiler/run/device_text.h"
#include "profiler/run/messages.h"
#include "profiler/run/units.h"

namespace vramscope::run {
namespace {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::NotFoundError(
        i18n::Format("device: {} is not a file on this computer", Quoted(path)));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxDeviceFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (!file.is_open() || file.bad()) {
    return absl::NotFoundError(i18n::Format("device: {} cannot be read", Quoted(path)));
  }
  if (text.size() > kMaxDeviceFile) {
    return absl::InvalidArgumentError(
        i18n::Format("device: {} is larger than {}, the limit for a device file", Quoted(path),
                     FormatBytes(kMaxDeviceFile)));
  }
  return text;
}

}  // namespace

bool IsDeviceFile(std::string_view text) {
  // A text with "=" contains figures, which can have a slash ("448GB/s"). So it is no file name.
  const bool figures = text.find('=') != std::string_view::npos;
  return text.ends_with(".json") || (!figures && text.find('/') != std::string_view::npos);
}

absl::StatusOr<Device> DeviceFromJson(std::string_view json) {
  if (json.size() > kMaxDeviceFile) {
    return absl::InvalidArgumentError(
        i18n::Format("device: {} is too large for a device file", FormatBytes(json.size())));
  }
  const absl::StatusOr<Figures> figures = FiguresFromJson(json);
  if (!figures.ok()) return figures.status();
  return DeviceFromFigures(*figures);
}

absl::StatusOr<std::string> DeviceTextOf(std::string_view written) {
  if (!IsDeviceFile(written)) return std::string(written);
  const absl::StatusOr<std::string> text = ReadFile(std::string(written));
  if (!text.ok()) return text.status();
  const absl::StatusOr<Device> device = DeviceFromJson(*text);
  if (device.ok()) return device->key;
  return absl::Status(device.status().code(), fmt::format("{}: {}", Printable(written, 200),
                                                          std::string(device.status().message())));
}

std::string DeviceJson(const Device& d) {
  static constexpr const char* kPeers[] = {"none", "pcie", "nvlink"};
  nlohmann::ordered_json json = {
      {"name", std::string(d.name.substr(0, 120))},
      {"memory", d.memory_bytes},
      {"context", d.context_bytes},
      {"compute_capability", ComputeCapabilityText(d.compute_capability)},
      {"multiprocessors", d.sm_count},
      {"l2", d.l2_bytes},
      {"clock", fmt::format("{}MHz", d.boost_mhz)},
      {"memory_bus", d.bus_bits},
      {"bandwidth", fmt::format("{}GB/s", d.bandwidth_bytes_per_s / 1e9)},
      {"fp32", fmt::format("{}TFLOPS", d.fp32_flops / 1e12)},
      {"tf32", fmt::format("{}TFLOPS", d.tf32_flops / 1e12)},
      {"bf16", fmt::format("{}TFLOPS", d.bf16_flops / 1e12)},
      {"peers", kPeers[static_cast<int>(d.peers)]},
      {"integrated", d.integrated},
      {"ecc", d.ecc}};
  return json.dump(1) + "\n";
}

absl::StatusOr<std::string> WithMemory(std::string_view device, std::string_view memory) {
  const absl::StatusOr<Device> whole = ReadDevice(device);
  if (!whole.ok()) return whole.status();
  const absl::StatusOr<uint64_t> bytes = ParseBytes(memory);
  if (!bytes.ok()) {
    return absl::InvalidArgumentError(
        i18n::Format("device: memory: {}", std::string(bytes.status().message())));
  }
  // Drops the memory size that the text already contains.
  std::string text;
  std::string_view rest = whole->key;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (!part.starts_with("memory=")) text += fmt::format("{}{}", text.empty() ? "" : ",", part);
  }
  text += fmt::format("{}memory={}", text.empty() ? "" : ",", *bytes);
  const absl::StatusOr<Device> changed = ReadDevice(text);
  if (!changed.ok()) return changed.status();
  return changed->key;
}

}  // namespace vramscope::run
