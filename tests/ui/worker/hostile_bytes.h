// Valid and invalid output of a worker: frames in any order, of this run and others, with invalid
// payloads, truncated, of impossible length, or no frames at all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/run/run_config.h"

namespace vramscope::testing {

// The same for the same seed. Each frame is written separately, so that it may arrive separately.
// The bytes need not complete the run or the last frame, so the process must end after writing
// them.
std::vector<std::string> HostileBytes(uint64_t seed, uint64_t tag, const run::RunConfig& config);

}  // namespace vramscope::testing
