// Reads torch.cuda.memory_stats() (or memory_stats_as_nested_dict()) written as JSON: figures of
// one moment and of all the time before it, no blocks. They become TraceInfo::statistics, a nested
// name joined by dots, as memory_stats() has it: "allocated_bytes.all.peak".
//
// Thread-safe for different inputs.
#pragma once

#include <absl/status/statusor.h>

#include <string_view>

#include "profiler/recording/recording.h"
#include "profiler/trace/input.h"

namespace vramscope::importers {

// Whether a key of the outermost object tells that it is such a file.
bool IsMemoryStatsKey(std::string_view key);

// `head`: what has been taken from the input before. Errors: kInvalidArgument (no such file),
// kDataLoss (damaged; a file that is cut says what came before), kResourceExhausted (more figures
// than PyTorch has).
absl::StatusOr<recording::Recording> ReadMemoryStats(trace::InputStream& input,
                                                     std::string_view head);

}  // namespace vramscope::importers
