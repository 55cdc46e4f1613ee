// Formats as JSON why memory was released to the device, and the GPU size that follows from it.
#pragma once

#include "app/cli/command.h"
#include "profiler/replay/releases.h"

namespace vramscope::cli {

Json ReleasesJson(const replay::Releases& releases);
Json GpuJson(const replay::Capacity& gpu);  // null: unknown

}  // namespace vramscope::cli
