// A device that the table does not have, as a text or as the JSON of a device file. Internal to
// this folder: ReadDevice() and device_file.h are what others call.
//
//   ASSIGN_OR_RETURN(Device d, DeviceFromText("memory=24GiB,compute_capability=8.6,..."));
//   d.key;   // the same in one form, which DeviceFromText() reads again
//
// Thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/run/device.h"

namespace vramscope::run {

// A table's GPU, a slice, figures.
absl::StatusOr<Device> DeviceFromText(std::string_view text);

// Figures by name, as they were written; "like" is the GPU that they change.
using Figures = std::vector<std::pair<std::string, std::string>>;
absl::StatusOr<Device> DeviceFromFigures(const Figures& figures);

// The JSON object of a device file. Refuses what is deeper, longer or set twice.
absl::StatusOr<Figures> FiguresFromJson(std::string_view json);

// By key, alias or name, however it is written; null: the table has none.
const Device* FindInTable(std::string_view name);
std::string_view KeyOfAlias(std::string_view name);  // `name` itself where it is none

}  // namespace vramscope::run
