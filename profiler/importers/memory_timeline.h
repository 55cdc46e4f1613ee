// Reads what torch.profiler's `export_memory_timeline("x.raw.json.gz")` writes: a list of
// [time in ns, action, bytes, category] of one device. The curve and the categories are in it;
// addresses, call stacks and how much was reserved are not. Which block a free is of is not in it
// either: the latest of the same size and category is taken, which leaves every sum right.
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
  std::string_view head = {};                          // taken from the input before
  std::function<void(double fraction)> progress = {};  // 0 .. 1
  const std::atomic<bool>* cancel = nullptr;           // set: kCancelled
  uint64_t memory_limit = 0;                           // as KinetoOptions::memory_limit
};

// Errors: kInvalidArgument (another kind of memory timeline: says which, and what to export),
// kDataLoss (damaged), kResourceExhausted, kCancelled. A file that is cut gives what came before.
absl::StatusOr<recording::Recording> ReadMemoryTimeline(trace::InputStream& input,
                                                        const MemoryTimelineOptions& options);

}  // namespace vramscope::importers
