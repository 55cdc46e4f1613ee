// Reads torch.cuda.memory_stats() (or memory_stats_as_nested_dict()) written as JSON: figures at
// one time and totals up to then, but no blocks. They become TraceInfo::statistics. Nested names
// are joined by dots as in memory_stats(): "allocated_bytes.all.peak".
//
// Thread-safe for different inputs.
#pragma once

#include <absl/status/statusor.h>

#include <string_view>

#include "profiler/recording/recording.h"
#include "profiler/trace/input.h"

namespace vramscope::importers {

// Whether a key of the outermost object identifies a file with memory statistics.
bool IsMemoryStatsKey(std::string_view key);

// `head`: bytes already read from the input. Errors: kInvalidArgument (not such a file), kDataLoss
// (damaged; if the file is cut off, the message lists what precedes the cut), kResourceExhausted
// (more figures than PyTorch writes).
absl::StatusOr<recording::Recording> ReadMemoryStats(trace::InputStream& input,
                                                     std::string_view head);

}  // namespace vramscope::importers
