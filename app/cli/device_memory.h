// Formats the use of a GPU's memory and the peak of the host's memory as text and as JSON, for
// `info` and `peak`.
#pragma once

#include <string>

#include "app/cli/command.h"
#include "profiler/analysis/host_memory.h"
#include "profiler/explain/device_memory.h"

namespace vramscope::cli {

Json DeviceMemoryJson(const trace::Trace& trace, const explain::DeviceMemory& memory);
// A heading, a line for each part of the memory, and the sum; "" if no part is known.
std::string DeviceMemoryText(const explain::DeviceMemory& memory);
// null if the driver's allocations were not recorded.
Json HostMemoryJson(const trace::Trace& trace);
// "largest: 4.00 GiB pinned at train.py:88 main", printable. `host` has sites.
std::string LargestText(const analysis::HostMemory& host);
// The largest sites of `host`, at most ten.
Json HostSitesJson(const analysis::HostMemory& host);

}  // namespace vramscope::cli
