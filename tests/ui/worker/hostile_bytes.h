// What a worker must not send, and may: frames in any order, of this run and others, with payloads
// that are none, cut off, of impossible length, or no frames at all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/run/run_config.h"

namespace vramscope::testing {

// The same for the same seed. Each is written by itself, so that it may arrive by itself. Neither
// the run nor what a reader waits for has to end with them: who writes them ends.
std::vector<std::string> HostileBytes(uint64_t seed, uint64_t tag, const run::RunConfig& config);

}  // namespace vramscope::testing
