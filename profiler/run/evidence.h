// Which plans were compared with recordings of the same run on a GPU. Only such a plan states its
// error, which was measured in this comparison. All other plans are labelled as modelled.
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

// Evidence for exactly this configuration (tests/trainer/backends/basics_test.cpp compares all its
// allocations); nullopt for any other. Pure; thread-safe.
std::optional<Evidence> EvidenceOf(const RunConfig& config);

}  // namespace vramscope::run
