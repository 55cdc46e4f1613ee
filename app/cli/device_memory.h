// What a card's memory is used for, in words and as JSON: `info`, `peak`.
#pragma once

#include <string>

#include "app/cli/command.h"
#include "profiler/explain/device_memory.h"

namespace vramscope::cli {

Json DeviceMemoryJson(const trace::Trace& trace, const explain::DeviceMemory& memory);
// A heading, a row a part, the sum; "" where there is nothing.
std::string DeviceMemoryText(const explain::DeviceMemory& memory);

}  // namespace vramscope::cli
