// Device files: a GPU's figures as a JSON object (docs/devices.md).
//
//   ASSIGN_OR_RETURN(std::string device, DeviceTextOf("my_gpu.json"));
//   builder.Set("device", device);      // the figures, not the path, so no file is needed later
//
// Input is limited and nothing in it is executed. Thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "profiler/run/device.h"

namespace vramscope::run {

constexpr size_t kMaxDeviceFile = size_t{64} << 10;

// Whether the text is the name of a device file: it ends in ".json" or contains a slash.
bool IsDeviceFile(std::string_view text);

// Returns a text for ReadDevice(): reads a file if `written` names one, or else returns `written`.
absl::StatusOr<std::string> DeviceTextOf(std::string_view written);

// `json`: the contents of a file.
absl::StatusOr<Device> DeviceFromJson(std::string_view json);
// Returns all figures of a GPU, also of one in the table. DeviceFromJson() can read the result.
std::string DeviceJson(const Device& device);

// Gives `device` another memory size: "rtx-4090" and 8 GiB become "rtx-4090,memory=8GiB".
absl::StatusOr<std::string> WithMemory(std::string_view device, std::string_view memory);

}  // namespace vramscope::run
