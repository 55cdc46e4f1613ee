// `diff --prediction`: a plan held against a recording, in words and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/cli/command.h"
#include "profiler/analysis/analysis.h"

namespace vramscope::cli {

// A of each pair is the plan; `shown`: whose figures a script that knows of one device reads.
ExitCode DiffPrediction(const std::vector<analysis::DevicePair>& pairs, size_t shown,
                        std::optional<int32_t> step, size_t top, bool json);

}  // namespace vramscope::cli
