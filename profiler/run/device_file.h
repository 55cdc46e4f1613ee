// Device files: a GPU's figures as a JSON object (docs/devices.md).
//
//   ASSIGN_OR_RETURN(std::string device, DeviceTextOf("my_gpu.json"));
//   builder.Set("device", device);      // figures, not a path: a trace can be read without the
//   file
//
// What is read is bounded and nothing in it is executed. Thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "profiler/run/device.h"

namespace vramscope::run {

constexpr size_t kMaxDeviceFile = size_t{64} << 10;

// Whether a device is written as a file: it ends in ".json" or has a slash.
bool IsDeviceFile(std::string_view text);

// The device's text as ReadDevice() reads it: a file is read, everything else is returned as it is.
absl::StatusOr<std::string> DeviceTextOf(std::string_view written);

// Of a file's bytes.
absl::StatusOr<Device> DeviceFromJson(std::string_view json);
// What DeviceFromJson() reads, with all figures. Of a GPU of the table, too.
std::string DeviceJson(const Device& device);

// `device` with other memory: "rtx-4090" and 8 GiB are "rtx-4090,memory=8GiB".
absl::StatusOr<std::string> WithMemory(std::string_view device, std::string_view memory);

}  // namespace vramscope::run
