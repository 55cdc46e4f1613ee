// Which plans have been held against recordings of the same run on a GPU. A plan says how far it
// may be off only where that was measured; everywhere else it is a model, and says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "profiler/run/run_config.h"

namespace vramscope::run {

struct Evidence {
  uint64_t reserved_within = 0;  // most bytes that reserved was off
  std::string_view what;         // one sentence
};

// Exactly this configuration (tests/trainer/backends/basics_test.cpp compares every request of it);
// nothing for any other, however near. Pure; thread-safe.
std::optional<Evidence> EvidenceOf(const RunConfig& config);

}  // namespace vramscope::run
