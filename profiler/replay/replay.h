// Replays the allocations of a recorded trace on the model of the caching allocator, in the same
// order and from the same start state. With the recorded settings, a replay tests whether addresses
// and segments agree. With other settings, it computes how much memory would have been reserved,
// how fragmented this would have been, and whether the run would still have run out of memory.
//
//   ASSIGN_OR_RETURN(Replayed r, Replay(trace, {}));
//   r.addresses_equal == r.addresses_total;
//
// Requires a trace of one device. If a trace has several devices, replay the slice of each
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
  // Settings to use instead of the recorded settings. The result is then a what-if,
  // and addresses are not compared.
  std::optional<run::AllocConf> alloc_conf = {};
  // What-if: the limit for segments. 0 means as much as the device had for segments. A plan states
  // this size; for a recording, the size is inferred (Releases::capacity). If the size is unknown,
  // there is no limit.
  uint64_t device_memory_bytes = 0;
  double memory_fraction = 0;  // what-if: set_per_process_memory_fraction; 0: not changed
  // What-if: whether blocks older than the recording are allocated anew. If not, they and
  // all cached memory stay in place. Default: allocated anew if settings or device memory
  // change.
  std::optional<bool> restart = {};
  bool try_settings = true;  // after a difference, search for `settings_that_agree`
  // What-if: the replay also calls empty_cache() before each of these events (ascending).
  std::vector<trace::EventIndex> empty_cache_at = {};
  // What-if: the total memory to which memory fractions refer; 0: that of the trace's device.
  uint64_t device_total_bytes = 0;
  // What-if: returns the size to request instead of `bytes` at an event (an allocation or an
  // out-of-memory event). If it returns 0, the request is left out.
  std::function<uint64_t(trace::EventIndex event, uint64_t bytes)> resize = {};
  // What-if: the last event to replay. If set, the holes at the peak are not measured.
  std::optional<trace::EventIndex> last = {};
  bool holes = true;  // what-if: measure the holes at the peak (needs a second pass)
  std::function<void(double fraction)> progress = {};
  const std::atomic<bool>* cancel = nullptr;  // set it to stop with kCancelled

  // Whether any option makes the replay a what-if.
  bool what_if() const {
    return alloc_conf.has_value() || device_memory_bytes != 0 || memory_fraction != 0 ||
           !empty_cache_at.empty() || device_total_bytes != 0 || resize || last.has_value();
  }
};

struct Difference {
  trace::EventIndex event = 0;
  std::string what;   // "alloc of 1,048,576 B: recorded at 0x7f.., but the replay .."
  std::string cause;  // the model's alternatives, and a rule that explains the recording
};

struct Replayed {
  bool what_if = false;
  run::AllocConf conf;  // the model's settings
  std::vector<std::string> warnings;
  // The comparison with the recording. After a difference, the model continues from the recorded
  // state.
  uint64_t addresses_equal = 0, addresses_total = 0;
  uint64_t segment_allocs_equal = 0, segment_allocs_total = 0;  // includes mapped pages
  uint64_t segment_frees_equal = 0, segment_frees_total = 0;    // includes unmapped pages
  bool end_state_equal = false;  // all blocks agree at the end of the recording
  uint64_t differences = 0;
  std::optional<Difference> first_difference;
  // Other common settings with which every decision agrees, searched for if there are differences;
  // nullopt: none found.
  std::optional<run::AllocConf> settings_that_agree;
  // Start states. Some blocks older than the recording have an unsplit tail whose size the file
  // does not contain. Every size from 0 to 1 MiB is tested against every choice that the recorded
  // allocator made while the block existed.
  uint64_t unknown_tails = 0;   // number of such blocks
  uint64_t tails_inferred = 0;  // number of these that must have a tail
  // The number of all combinations of tails, and the number of combinations that no recorded choice
  // excludes; nullopt: more than 2^64 - 1. The decimal logarithms of both numbers follow.
  std::optional<uint64_t> start_states_tried = 0, start_states_consistent = 0;
  double log10_tried = 0, log10_consistent = 0;
  // Results of the model.
  uint64_t device_memory_bytes = 0;  // the limit for segments; 0: none
  bool device_memory_inferred = false;
  bool older_unchanged = false;  // blocks older than the recording stayed in place
  uint64_t peak_allocated = 0, peak_reserved = 0;
  trace::EventIndex peak_reserved_event = 0;
  uint64_t segment_allocs = 0, segment_frees = 0;  // cudaMalloc, cudaFree
  uint64_t segment_maps = 0, segment_unmaps = 0;   // maps and unmaps of pages
  uint64_t retries = 0, out_of_memory = 0;
  uint64_t driver_calls() const {
    return segment_allocs + segment_frees + segment_maps + segment_unmaps;
  }
  std::optional<trace::EventIndex> first_out_of_memory;
  // The memory at the first failure, after the cache was released.
  struct Failure {
    uint64_t asked = 0, device_free = 0, allocated = 0, reserved = 0;
    uint64_t holes = 0, largest_hole = 0;  // holes in the pool and stream of the failed allocation
  } first_failure;
  struct Point {
    trace::EventIndex event;
    uint64_t allocated, reserved;
  };
  std::vector<Point> curve;  // one point after every event that changed memory
  // At the model's peak of reserved memory: the largest free block, and the free bytes that
  // could not be released. (Their segment or, in an expandable segment, their page was partly in
  // use.)
  uint64_t largest_hole = 0, stranded_bytes = 0;
};

// Returns the allocator settings of the recording or plan, as in PYTORCH_CUDA_ALLOC_CONF.
const std::string& RecordedConf(const trace::Trace& trace);

// Returns kFailedPrecondition if the trace has no history or cannot be replayed
// (trace::WhyNoReplay). If the options ask for no what-if, the trace must also have segments, and
// settings that can be parsed.
absl::StatusOr<Replayed> Replay(const trace::Trace& trace, const ReplayOptions& options);

// The replays with which all pages compare what-ifs.
struct Baseline {
  // The replay with the recorded settings, from the recorded start state. If every choice agrees,
  // it equals the recording.
  Replayed own;
  // The same, except that older blocks are allocated anew, as in replays with other settings.
  // nullopt: no block is older than the recording.
  std::optional<Replayed> anew;
  const Replayed& of_settings() const { return anew.has_value() ? *anew : own; }
};
// Of the options, uses only `holes`, `progress` and `cancel`.
absl::StatusOr<Baseline> ReplayBaseline(const trace::Trace& trace, const ReplayOptions& options);

}  // namespace vramscope::replay
