// Tells which plans were compared with recordings of the same run on a GPU. Such a plan states the
// error that was measured in the comparison. All other plans are labelled as modelled.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "profiler/run/run_config.h"

namespace vramscope::run {

struct Evidence {
  uint64_t reserved_within = 0;  // largest difference of reserved bytes
  std::string_view what;         // one sentence
};

// Returns the evidence for a compared configuration; nullopt for any other.
// (tests/trainer/backends/basics_test.cpp compares all allocations.) Pure; thread-safe.
std::optional<Evidence> EvidenceOf(const RunConfig& config);

}  // namespace vramscope::run
