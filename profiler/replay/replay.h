// Replays a recorded trace on the model of the caching allocator. With the same allocations in the
// same order from the same start state, it tests whether addresses and segments agree. With other
// settings, it computes how much would have been reserved, how fragmented memory would have been,
// and whether it would still have run out.
//
//   ASSIGN_OR_RETURN(Replayed r, Replay(trace, {}));
//   r.addresses_equal == r.addresses_total;
//
// Requires a trace of one device: of a trace of several, replay each device's slice
// (trace/one_device.h). Pure functions of an immutable Trace; thread-safe.
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
  // Settings other than the recording's: the result is a what-if, and addresses are not compared.
  std::optional<run::AllocConf> alloc_conf = {};
  // What-if: the limit for segments. 0: the device's memory for segments, if known (releases.h: a
  // plan's device; inferred for a recording), else none.
  uint64_t device_memory_bytes = 0;
  double memory_fraction = 0;  // what-if: set_per_process_memory_fraction; 0: as in the settings
  // What-if: whether the older blocks are allocated anew with the settings, or stay where they were
  // together with all cached memory. By default they stay if settings and memory are the recorded
  // ones.
  std::optional<bool> restart = {};
  bool try_settings = true;  // after a difference, tries other settings, for `settings_that_agree`
  // What-if: events before which empty_cache() is called in addition (to see what it would
  // release), ascending.
  std::vector<trace::EventIndex> empty_cache_at = {};
  // What-if: the total memory that memory fractions refer to; 0: that of the trace's device.
  uint64_t device_total_bytes = 0;
  // What-if: the size to request instead of `bytes` at an event (an allocation, or an out-of-memory
  // event); 0: no request is made.
  std::function<uint64_t(trace::EventIndex event, uint64_t bytes)> resize = {};
  // What-if: the last event to replay; the holes at the peak are then not computed.
  std::optional<trace::EventIndex> last = {};
  bool holes = true;  // what-if: measure the holes at the peak (needs a second pass)
  std::function<void(double fraction)> progress = {};
  const std::atomic<bool>* cancel = nullptr;  // set it to end with kCancelled

  // Whether any option makes it a what-if.
  bool what_if() const {
    return alloc_conf.has_value() || device_memory_bytes != 0 || memory_fraction != 0 ||
           !empty_cache_at.empty() || device_total_bytes != 0 || resize || last.has_value();
  }
};

struct Difference {
  trace::EventIndex event = 0;
  std::string what;   // "alloc of 1,048,576 B: recorded 0x7f.., model 0x7f.."
  std::string cause;  // the model's alternatives, and the rule that would explain the recording
};

struct Replayed {
  bool what_if = false;
  run::AllocConf conf;  // used by the model
  std::vector<std::string> warnings;
  // Comparison with the recording; after a difference the model continues from the recorded state.
  uint64_t addresses_equal = 0, addresses_total = 0;
  uint64_t segment_allocs_equal = 0, segment_allocs_total = 0;  // includes mapped pages
  uint64_t segment_frees_equal = 0, segment_frees_total = 0;    // includes unmapped pages
  bool end_state_equal = false;  // all blocks and segments at the end of the recording agree
  uint64_t differences = 0;
  std::optional<Difference> first_difference;
  // After a difference: other common settings with which every decision agrees. Nullopt: none do.
  std::optional<run::AllocConf> settings_that_agree;
  // Start states: blocks older than the recording whose unsplit tail the file does not state. Every
  // tail from none to 1 MiB is tested against every choice that the recorded allocator made while
  // the block existed.
  uint64_t unknown_tails = 0;   // number of such blocks
  uint64_t tails_inferred = 0;  // number of those that must have a tail
  // The number of combinations of tails, and the number of those that no choice excludes; nullopt:
  // more than 2^64 - 1. The next two are their decimal logarithms.
  std::optional<uint64_t> start_states_tried = 0, start_states_consistent = 0;
  double log10_tried = 0, log10_consistent = 0;
  // Results of the model.
  uint64_t device_memory_bytes = 0;  // the limit for segments; 0: none
  bool device_memory_inferred = false;
  bool older_unchanged = false;  // the older blocks stayed where they were
  uint64_t peak_allocated = 0, peak_reserved = 0;
  trace::EventIndex peak_reserved_event = 0;
  uint64_t segment_allocs = 0, segment_frees = 0;  // cudaMalloc, cudaFree
  uint64_t segment_maps = 0, segment_unmaps = 0;   // of expandable segments
  uint64_t retries = 0, out_of_memory = 0;
  uint64_t driver_calls() const {
    return segment_allocs + segment_frees + segment_maps + segment_unmaps;
  }
  std::optional<trace::EventIndex> first_out_of_memory;
  // The memory at the first failure, after the cache was released.
  struct Failure {
    uint64_t asked = 0, device_free = 0, allocated = 0, reserved = 0;
    uint64_t holes = 0, largest_hole = 0;  // in the pool and stream of the allocation
  } first_failure;
  struct Point {
    trace::EventIndex event;
    uint64_t allocated, reserved;
  };
  std::vector<Point> curve;  // after every event that changed a figure
  // At the model's peak of reserved memory: the largest free block, and free bytes that cannot be
  // released because their segment (in an expandable segment, their page) is partly in use.
  uint64_t largest_hole = 0, stranded_bytes = 0;
};

// The settings with which the trace was recorded or planned, as PYTORCH_CUDA_ALLOC_CONF.
const std::string& RecordedConf(const trace::Trace& trace);

// kFailedPrecondition: nothing can be replayed (a state without history; a trace without segments,
// unless it is a what-if; the recorded settings cannot be parsed).
absl::StatusOr<Replayed> Replay(const trace::Trace& trace, const ReplayOptions& options);

// The replays with which what-ifs are compared, the same on every page.
struct Baseline {
  // The replay with the recorded settings from the recorded start state. If the model is exact, it
  // equals the recording.
  Replayed own;
  // The same with the older blocks allocated anew, as in a replay with other settings, so that only
  // the settings differ; nullopt: no block is older than the recording.
  std::optional<Replayed> anew;
  const Replayed& of_settings() const { return anew.has_value() ? *anew : own; }
};
// Uses only holes, progress and cancel of `options`.
absl::StatusOr<Baseline> ReplayBaseline(const trace::Trace& trace, const ReplayOptions& options);

}  // namespace vramscope::replay
