// `diff --prediction`: compares a plan with a recording, as text and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "profiler/analysis/analysis.h"
#include "profiler/analysis/requests.h"

namespace vramscope::cli {

// Returns for example "984 of 1,000 requests equal (990 if frees between two allocations may be
// reordered)".
std::string EqualRequestsText(const analysis::RequestDiff& diff);

// In each pair, A is the plan. The figures of `shown` are at the top level of the JSON, for scripts
// that expect one device.
ExitCode DiffPrediction(const std::vector<analysis::DevicePair>& pairs, size_t shown,
                        std::optional<int32_t> step, size_t top, bool json);

}  // namespace vramscope::cli
