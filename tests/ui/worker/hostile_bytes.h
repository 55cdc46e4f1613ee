// Generates valid and invalid output of a worker: frames in any order, of this run and others,
// truncated frames, frames with invalid payloads or impossible lengths, and bytes that are not
// frames.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/run/run_config.h"

namespace vramscope::testing {

// Depends only on the arguments. Write each element of the result separately, so that frames may
// arrive one by one. The run and the last frame may be incomplete, so the process must end after it
// has written everything.
std::vector<std::string> HostileBytes(uint64_t seed, uint64_t tag, const run::RunConfig& config);

}  // namespace vramscope::testing
