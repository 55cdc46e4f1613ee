// Reads what torch.profiler's `export_memory_timeline("x.raw.json.gz")` writes: a list of [time in
// ns, action, bytes, category] of one device. The file contains the curve and the categories, but
// no addresses, call stacks or reserved bytes. A free in the file does not name its block. The
// latest block of its size and category is assumed, which keeps all sums right.
//
// Thread-safe for different inputs; callbacks come from the calling thread.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "profiler/recording/recording.h"
#include "profiler/trace/input.h"

namespace vramscope::importers {

struct MemoryTimelineOptions {
  std::string_view head = {};                          // bytes already read from the input
  std::function<void(double fraction)> progress = {};  // 0 .. 1
  const std::atomic<bool>* cancel = nullptr;           // when true: stops with kCancelled
  uint64_t memory_limit = 0;                           // as KinetoOptions::memory_limit
};

// Errors: kInvalidArgument (another kind of memory timeline; the message states which, and what to
// export), kDataLoss (damaged), kResourceExhausted, kCancelled. For a truncated file the part
// before the cut is returned.
absl::StatusOr<recording::Recording> ReadMemoryTimeline(trace::InputStream& input,
                                                        const MemoryTimelineOptions& options);

}  // namespace vramscope::importers
