// Valid and invalid output of a worker: frames in any order, of this run and others, with invalid
// payloads, truncated, of impossible length, or no frames at all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/run/run_config.h"

namespace vramscope::testing {

// The same for the same seed. Each frame is written separately, so that it may arrive separately.
// Neither the run nor a read has to complete with them: the writer then ends its process.
std::vector<std::string> HostileBytes(uint64_t seed, uint64_t tag, const run::RunConfig& config);

}  // namespace vramscope::testing
