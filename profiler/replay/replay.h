// A recorded trace against the model of the caching allocator: the same requests in the same order
// from the same start state; do addresses and segments come out alike? And under other settings:
// what would have been reserved, how fragmented, would it still have run out?
//
//   ASSIGN_OR_RETURN(Replayed r, Replay(trace, {}));
//   r.addresses_equal == r.addresses_total;
//
// Pure functions of an immutable Trace; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/run/alloc_conf.h"
#include "profiler/trace/trace.h"

namespace vramscope::replay {

struct ReplayOptions {
  // Other settings than the recording's own: the answer is a what-if, addresses are not compared.
  std::optional<run::AllocConf> alloc_conf = {};
  uint64_t device_memory_bytes = 0;  // limit for segments; 0: the trace's device, else none
  double memory_fraction = 0;        // set_per_process_memory_fraction; 0: not set
  // What-if: whether the older blocks stay where they were, or are allocated anew under the
  // settings.
  bool restart = true;
  uint8_t device = 0;
  // Events before which empty_cache() is called besides (what would give memory back).
  std::vector<trace::EventIndex> empty_cache_at = {};
  std::function<void(double fraction)> progress = {};
  const std::atomic<bool>* cancel = nullptr;  // set: kCancelled
};

struct Difference {
  trace::EventIndex event = 0;
  std::string what;   // "alloc of 1,048,576 B: recorded 0x7f.., model 0x7f.."
  std::string cause;  // what the model chose from, and which rule would explain the recording
};

struct Replayed {
  bool what_if = false;
  uint64_t addresses_equal = 0, addresses_total = 0;
  uint64_t segment_allocs_equal = 0, segment_allocs_total = 0;
  uint64_t segment_frees_equal = 0, segment_frees_total = 0;
  bool end_state_equal = false;
  std::optional<Difference> first_difference;
  // Start states: blocks older than the recording whose unsplit tail the file does not state.
  uint64_t unknown_tails = 0;  // blocks whose tail could be more than one thing
  uint64_t start_states_tried = 0;
  uint64_t start_states_consistent = 0;  // that reproduce the recording as far as any does
  bool start_states_exhausted = true;    // false: the search was cut short, there may be more
  // Of the model.
  uint64_t peak_allocated = 0, peak_reserved = 0;
  uint64_t segment_allocs = 0, segment_frees = 0, retries = 0, out_of_memory = 0;
  std::optional<trace::EventIndex> first_out_of_memory;
  struct Point {
    trace::EventIndex event;
    uint64_t allocated, reserved;
  };
  std::vector<Point> curve;  // after every event that changed either
  // Largest free block and free bytes in partly used segments, at the model's peak of reserved.
  uint64_t largest_hole = 0, stranded_bytes = 0;
};

absl::StatusOr<Replayed> Replay(const trace::Trace& trace, const ReplayOptions& options);

}  // namespace vramscope::replay
