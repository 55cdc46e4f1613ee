// Reads a device that is not in the table, from a text or from the JSON of a device file. Internal
// to this folder; other code uses ReadDevice() and device_file.h.
//
//   ASSIGN_OR_RETURN(Device d, DeviceFromText("memory=24GiB,compute_capability=8.6,..."));
//   d.key;   // the same text, normalised, which DeviceFromText() accepts, too
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

// Reads a device: the name of a GPU in the table, the name of a slice, or a list of figures.
absl::StatusOr<Device> DeviceFromText(std::string_view text);

// Names and values of figures, as written. "like" is the GPU whose figures the others modify.
using Figures = std::vector<std::pair<std::string, std::string>>;
absl::StatusOr<Device> DeviceFromFigures(const Figures& figures);

// Reads the JSON object of a device file. Nested values, too large files and repeated keys are
// errors.
absl::StatusOr<Figures> FiguresFromJson(std::string_view json);

// Finds a GPU by key, alias or name, in any spelling. Returns null if it is not in the table.
const Device* FindInTable(std::string_view name);
std::string_view KeyOfAlias(std::string_view name);  // `name` itself if it is no alias

}  // namespace vramscope::run
