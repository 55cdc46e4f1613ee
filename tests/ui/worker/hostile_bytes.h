// Generates valid and invalid output of a worker: frames in any order, of this run and others,
// truncated frames, frames with invalid payloads or impossible lengths, and bytes that are not
// frames.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/run/run_config.h"

namespace vramscope::testing {

// The result only depends on the arguments. Each frame is written separately, so that it may arrive
// separately. The run and the last frame may be incomplete, so the process must end after writing
// the bytes.
std::vector<std::string> HostileBytes(uint64_t seed, uint64_t tag, const run::RunConfig& config);

}  // namespace vramscope::testing
