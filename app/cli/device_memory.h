// Formats how a GPU's memory is used, and the peak of host memory, as text and as JSON for `info`
// and `peak`.
#pragma once

#include <string>

#include "app/cli/command.h"
#include "profiler/analysis/host_memory.h"
#include "profiler/explain/device_memory.h"

namespace vramscope::cli {

Json DeviceMemoryJson(const trace::Trace& trace, const explain::DeviceMemory& memory);
// Returns a heading, a line for each part of the memory, and the sum, or "" if no part is known.
std::string DeviceMemoryText(const explain::DeviceMemory& memory);
// Returns null if the driver's allocations were not recorded.
Json HostMemoryJson(const trace::Trace& trace);
// Returns for example "largest: 4.00 GiB pinned at train.py:88 main", with control characters
// escaped. `host` must have sites.
std::string LargestText(const analysis::HostMemory& host);
// Returns the largest call sites of `host`, at most ten.
Json HostSitesJson(const analysis::HostMemory& host);

}  // namespace vramscope::cli
