// Formats two results as JSON: why memory was released to the device, and the memory that the
// device has for segments.
#pragma once

#include "app/cli/command.h"
#include "profiler/replay/releases.h"

namespace vramscope::cli {

Json ReleasesJson(const replay::Releases& releases);
Json GpuJson(const replay::Capacity& gpu);  // null: unknown

}  // namespace vramscope::cli
