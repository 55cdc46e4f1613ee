// A recorded trace against the model of the caching allocator: the same requests in the same order
// from the same start state; do addresses and segments come out alike? And under other settings:
// what would have been reserved, how fragmented, would it still have run out?
//
//   ASSIGN_OR_RETURN(Replayed r, Replay(trace, {}));
//   r.addresses_equal == r.addresses_total;
//
// Of one device: of a trace of several, replay each one's slice (trace/one_device.h). Pure
// functions of an immutable Trace; thread-safe.
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
  // What-if: limit for segments. 0: what the device has for them, as far as that is known
  // (releases.h: a plan's device; inferred from a recording), else none.
  uint64_t device_memory_bytes = 0;
  double memory_fraction = 0;  // what-if: set_per_process_memory_fraction; 0: as in the settings
  // What-if: whether the older blocks are allocated anew under the settings, or stay where they
  // were, with all that was cached then. Not said: under the recorded settings and memory they
  // stay.
  std::optional<bool> restart = {};
  bool try_settings = true;  // after a difference: other settings, for `settings_that_agree`
  // What-if: events before which empty_cache() is called besides (what would give memory back),
  // ascending.
  std::vector<trace::EventIndex> empty_cache_at = {};
  // What-if: what memory fractions are parts of; 0: the trace's device.
  uint64_t device_total_bytes = 0;
  // What-if: what the request of an event (an allocation, or an out-of-memory event) asks for
  // instead of `bytes`; 0: it is not made.
  std::function<uint64_t(trace::EventIndex event, uint64_t bytes)> resize = {};
  // What-if: the last event to replay; what is said of the peak's holes is left out then.
  std::optional<trace::EventIndex> last = {};
  bool holes = true;  // what-if: whether to look at the holes of the peak, which is a second pass
  std::function<void(double fraction)> progress = {};
  const std::atomic<bool>* cancel = nullptr;  // set: kCancelled

  // Any of the above that makes it a what-if.
  bool what_if() const {
    return alloc_conf.has_value() || device_memory_bytes != 0 || memory_fraction != 0 ||
           !empty_cache_at.empty() || device_total_bytes != 0 || resize || last.has_value();
  }
};

struct Difference {
  trace::EventIndex event = 0;
  std::string what;   // "alloc of 1,048,576 B: recorded 0x7f.., model 0x7f.."
  std::string cause;  // what the model chose from, and which rule would explain the recording
};

struct Replayed {
  bool what_if = false;
  run::AllocConf conf;  // that the model ran with
  std::vector<std::string> warnings;
  // Against the recording, which after a difference is followed again.
  uint64_t addresses_equal = 0, addresses_total = 0;
  uint64_t segment_allocs_equal = 0, segment_allocs_total = 0;  // mapped pages included
  uint64_t segment_frees_equal = 0, segment_frees_total = 0;    // unmapped pages included
  bool end_state_equal = false;  // every block and segment that the recording leaves
  uint64_t differences = 0;
  std::optional<Difference> first_difference;
  // After a difference: other settings than those said, under which every decision is as recorded;
  // of the ones that people use. Nullopt: none of them.
  std::optional<run::AllocConf> settings_that_agree;
  // Start states: blocks older than the recording whose unsplit tail the file does not state. Every
  // tail from none to 1 MiB is weighed against every choice that the recorded allocator made while
  // the block was there.
  uint64_t unknown_tails = 0;   // such blocks
  uint64_t tails_inferred = 0;  // of which the recording tells that they have a tail
  // Combinations weighed, and those that reproduce the recording as far as any does; nullopt: more
  // than 2^64 - 1. And their logarithms (to 10).
  std::optional<uint64_t> start_states_tried = 0, start_states_consistent = 0;
  double log10_tried = 0, log10_consistent = 0;
  // Of the model.
  uint64_t device_memory_bytes = 0;  // limit for segments that applied; 0: none
  bool device_memory_inferred = false;
  bool kept = false;  // the older blocks stayed where they were
  uint64_t peak_allocated = 0, peak_reserved = 0;
  trace::EventIndex peak_reserved_event = 0;
  uint64_t segment_allocs = 0, segment_frees = 0;  // cudaMalloc, cudaFree
  uint64_t segment_maps = 0, segment_unmaps = 0;   // of expandable segments
  uint64_t retries = 0, out_of_memory = 0;
  uint64_t driver_calls() const {
    return segment_allocs + segment_frees + segment_maps + segment_unmaps;
  }
  std::optional<trace::EventIndex> first_out_of_memory;
  // What there was when that request failed: the cache had been given back before.
  struct Failure {
    uint64_t asked = 0, device_free = 0, allocated = 0, reserved = 0;
    uint64_t holes = 0, largest_hole = 0;  // of the pool and stream that it comes from
  } first_failure;
  struct Point {
    trace::EventIndex event;
    uint64_t allocated, reserved;
  };
  std::vector<Point> curve;  // after every event that changed either
  // At the model's peak of reserved: largest free block, and free bytes that cannot go back to the
  // device because their segment (of an expandable one: their page) is partly in use.
  uint64_t largest_hole = 0, stranded_bytes = 0;
};

// The settings that the trace was recorded or planned under, as PYTORCH_CUDA_ALLOC_CONF.
const std::string& RecordedConf(const trace::Trace& trace);

// kFailedPrecondition: nothing to replay (a state, which has no history; a trace without segments,
// unless it is a what-if; the settings that it was recorded under are not understood).
absl::StatusOr<Replayed> Replay(const trace::Trace& trace, const ReplayOptions& options);

// What what-ifs are compared with, the same wherever they are shown.
struct Baseline {
  // Under the recorded settings from the recorded start: where the model is exact, the recording.
  Replayed own;
  // The same with the older blocks allocated anew, as under other settings, so that what differs is
  // the settings' doing alone; nullopt: nothing is older than the recording.
  std::optional<Replayed> anew;
  const Replayed& of_settings() const { return anew.has_value() ? *anew : own; }
};
// `options`: holes, progress and cancel alone.
absl::StatusOr<Baseline> ReplayBaseline(const trace::Trace& trace, const ReplayOptions& options);

}  // namespace vramscope::replay
