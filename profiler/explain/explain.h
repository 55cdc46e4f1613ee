// Explains memory use: call sites, fragmentation, reserved but unused memory and its release (by
// replay), leaks over steps, out-of-memory errors, and the difference between two
// runs.
//
//   const Fragmentation f = FragmentationAt(*trace, event);
//   f.reserved == f.allocated + f.holes + f.cached + f.unplaced;
//
// All functions expect a trace of one device. trace/one_device.h splits a trace of several devices.
// Pure functions of an immutable Trace; thread-safe. For a trace of a million events, functions
// about one event take milliseconds, and functions about the whole trace take tens of milliseconds.
// Functions that replay take seconds; their comments say so.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/analysis/grouping.h"
#include "profiler/replay/releases.h"
#include "profiler/trace/segment_record.h"
#include "profiler/trace/trace.h"

namespace vramscope::explain {

// ---- Call sites ---------------------------------------------------------------------------------

// The code that allocated: a call stack or, if the trace has no stack, module and op.
struct CallSite {
  std::string name = {};  // one line: "optimizer.py:80 step > aten::add", "layers.3.mlp > aten::mm"
  trace::StackId stack = {};  // 0: none
  trace::StringId module = {}, op = {};
};

// The call site of every allocation.
struct CallSites {
  std::vector<CallSite> sites;
  std::vector<uint32_t> site_of;  // indexed by AllocationId
};
CallSites FindCallSites(const trace::Trace& trace);
// Returns the site of a single block. If the operator is unknown, the name includes the module.
CallSite SiteOf(const trace::Trace& trace, trace::AllocationId allocation);
// Returns the name of the group of GroupBySite() that contains the allocation.
std::string SiteGroupOf(const trace::Trace& trace, trace::AllocationId allocation);

// Returns a stack as lines such as "step  cs336_basics/optimizer.py:80", innermost frame first.
// `program_only` leaves out frames of the interpreter and of PyTorch's own C++ code.
std::vector<std::string> StackLines(const trace::Trace& trace, trace::StackId stack,
                                    bool program_only);

// Returns the live bytes of each site, the largest first. The sum of all sites is live.allocated.
std::vector<analysis::Group> GroupBySite(const trace::Trace& trace, const analysis::LiveSet& live);

struct SiteUse {
  uint32_t site = 0;   // row of CallSites::sites
  uint64_t count = 0;  // number of allocations
  uint64_t bytes = 0;  // sum of block sizes over all allocations
  uint64_t largest = 0;
  double byte_seconds = 0;  // sum of bytes times lifetime
  int64_t mean_life_ns = 0, longest_life_ns = 0;
  uint64_t peak_live_bytes = 0;                          // maximum of the site's live bytes
  uint64_t alive_count = 0, alive_bytes = 0;             // blocks live at the end of the range
  trace::Category category = trace::Category::kUnknown;  // the category with most of the bytes
};
enum class SiteOrder : uint8_t { kByteSeconds, kCount, kBytes, kLife, kPeak };
absl::StatusOr<SiteOrder> ParseSiteOrder(std::string_view name);  // "held", "count", "bytes", ...
std::string_view Name(SiteOrder order);
// Selects the allocations made in events [first, last]. Lifetimes are counted up to `last`.
struct SiteUseOptions {
  trace::EventIndex first = 0, last = trace::kNoEvent;
  bool older = false;  // whether blocks older than the recording count too
};
std::vector<SiteUse> UseOfSites(const trace::Trace& trace, const CallSites& sites,
                                const SiteUseOptions& options);
void Sort(std::vector<SiteUse>& uses, SiteOrder order);  // largest first

// ---- Segments and fragmentation -----------------------------------------------------------------

// A segment and its blocks directly after an event.
struct SegmentView {
  enum class Use : uint8_t {
    kFree,
    kLive,
    kPending,   // the program freed it, but another stream still uses it; counts as live
    kUnmapped,  // addresses of an expandable segment without memory
  };
  struct Piece {
    uint64_t address = 0, bytes = 0;
    trace::AllocationId allocation = {};  // set for live and pending pieces
    Use use = Use::kFree;
  };
  trace::SegmentId segment = {};
  uint64_t address = 0;
  uint64_t bytes = 0;       // mapped bytes; the pieces may span more addresses
  uint64_t live_bytes = 0;  // bytes of live blocks; `bytes` - `live_bytes` are free
  uint64_t largest_hole = 0;
  uint32_t stream = 0;
  uint32_t mempool = 0;
  uint8_t device = 0;
  trace::Pool pool = trace::Pool::kSmall;
  bool expandable = false;
  std::vector<Piece> pieces = {};  // sorted by address, without gaps or overlaps
  uint64_t free_bytes() const { return bytes - live_bytes; }
};
// Returns the segments by address. An expandable segment ends at its last mapped byte. Segments
// that only represent a reserved total are left out (trace/segment_record.h).
std::vector<SegmentView> SegmentsAt(const trace::Trace& trace, trace::EventIndex event);

// A private pool and its use.
struct PoolOwner {
  uint8_t device = 0;
  uint32_t mempool = 0;  // segment_pool_id (first, second), as first << 16 | second
  std::string name;      // "CUDA graph capture", "vLLM: KV cache", "private pool"
  CallSite site;         // the site with most bytes in the pool; without stacks, site.stack is 0
};

struct Fragmentation {
  analysis::Context context;
  uint64_t requested = 0, allocated = 0, reserved = 0;
  // Parts of allocated - requested:
  uint64_t rounding = 0;  // rounding to 512 bytes, or by roundup_power2_divisions
  uint64_t tails = 0;     // unsplit tails of blocks
  // Parts of reserved - allocated:
  uint64_t holes = 0;         // free bytes in segments with live blocks
  uint64_t cached = 0;        // free segments, and free pages (2 or 20 MiB) of expandable segments
  uint64_t largest_hole = 0;  // the largest free range of either kind
  // All unused bytes if the trace contains the reserved total but not the segments. The other
  // figures of unused bytes and of pools are then unknown: they are 0 or empty.
  uint64_t unplaced = 0;
  trace::SegmentRecord record = trace::SegmentRecord::kEach;
  bool reserved_known() const { return record != trace::SegmentRecord::kNone; }
  // True if requested sizes were not recorded. `requested` is then the sum of the block sizes.
  bool sizes_are_of_blocks = false;
  uint64_t pending = 0;  // part of `allocated`: SegmentView::kPending
  uint64_t outside = 0;  // part of `allocated`: in no known segment (trace without segments)
  uint32_t segments = 0, segments_cached = 0;
  struct PoolUse {
    uint8_t device = 0;
    trace::Pool pool = trace::Pool::kSmall;
    uint32_t stream = 0;
    uint32_t mempool = 0;
    uint32_t segments = 0, segments_cached = 0;
    uint64_t blocks = 0;  // number of live blocks
    uint64_t reserved = 0, live = 0, holes = 0, cached = 0, largest_hole = 0;
    std::string owner = {};  // for a private pool: PoolOwner::name
  };
  std::vector<PoolUse> pools;     // most free bytes first
  std::vector<PoolOwner> owners;  // owners of private pools, by device and id
  // A live block that prevents the release of its segment.
  struct Pin {
    trace::AllocationId allocation;
    uint64_t bytes = 0;
    trace::Category category = trace::Category::kUnknown;  // the block's category at that event
    CallSite site;
  };
  // A segment with holes, and the live blocks that prevent its release. Sorted by free bytes,
  // largest first.
  struct Pinned {
    trace::SegmentId segment;
    uint64_t bytes = 0, free = 0, largest_hole = 0;
    trace::Pool pool = trace::Pool::kSmall;
    uint32_t stream = 0;
    uint32_t pin_count = 0;
    std::vector<Pin> pins = {};  // largest first; at most kPins
  };
  static constexpr size_t kPinned = 100, kPins = 16;
  uint32_t pinned_count = 0;
  std::vector<Pinned> pinned;  // at most kPinned
  // The call sites of the blocks that prevent the release of holes, largest first. A
  // segment's live blocks share the bytes of its holes equally, so the sum over all sites is
  // `holes`.
  std::vector<analysis::Group> pinned_by;
  std::string headline;  // one sentence
};
Fragmentation FragmentationAt(const trace::Trace& trace, trace::EventIndex event);

// ---- Reserved but unused ------------------------------------------------------------------------

// The result of a replay with other settings, or with a call of empty_cache().
struct Remedy {
  std::string name = {};       // "empty_cache()", "max_split_size_mb:128"
  std::string note = {};       // the assumption: "for a GPU with 8.00 GiB, ..."
  std::string error = {};      // why there is no result; the figures are then 0
  uint64_t reserved = 0;       // reserved bytes at the event
  int64_t given_back = 0;      // decrease of `reserved` against the comparison run (see Reclaim)
  uint64_t peak_reserved = 0;  // highest reserved bytes in the whole trace
  int64_t peak_given_back = 0;
  uint64_t segment_allocs = 0;  // cudaMalloc calls and mappings
  uint64_t segment_frees = 0, retries = 0, out_of_memory = 0;
};
struct Reclaim {
  uint8_t device = 0;
  analysis::Context context;                                    // context of the event
  uint64_t allocated = 0, reserved = 0, cached = 0, holes = 0;  // the recorded bytes at the event
  // True for a snapshot without history, for which all remedies except empty_cache() have an error.
  bool state = false;
  // The replay with the recorded settings (replay::Baseline::own).
  Remedy as_recorded;
  // A replay with the recorded settings that also allocates the blocks from before the recording
  // anew. Remedies with other settings are compared with this replay. It is nullopt if there are no
  // such blocks; the remedies are then compared with `as_recorded`.
  std::optional<Remedy> anew;
  std::vector<Remedy> remedies;  // sorted by given_back, largest first
  // The memory that the program returned to the driver, and the GPU memory inferred from it.
  replay::Releases releases;
  std::string headline;
};
struct ReclaimOptions {
  // The event to explain. nullopt selects the event of MostUnused().
  std::optional<trace::EventIndex> at = {};
  // The settings to try, in the syntax of PYTORCH_CUDA_ALLOC_CONF. If there are none, expandable
  // segments, several values of max_split_size_mb, and garbage collection are tried.
  std::vector<std::string> alloc_confs = {};
  std::function<void(double fraction)> progress = {};
  const std::atomic<bool>* cancel = nullptr;  // set it to stop with kCancelled
};
// Replays the trace once for each remedy. This takes seconds for a large trace.
absl::StatusOr<Reclaim> ComputeReclaim(const trace::Trace& trace, const ReclaimOptions& options);
// Returns the event with the most unused memory, not counting events before the recording began.
trace::EventIndex MostUnused(const trace::Trace& trace);

// ---- Leaks over steps ---------------------------------------------------------------------------

// A call site at which steps allocate memory that later steps do not free. Allocations that are
// made once (parameters, optimizer state), and allocations that each step replaces (gradients,
// averages), are not leaks.
struct Leak {
  uint32_t site = 0;              // row of CallSites::sites
  double bytes_per_step = 0;      // bytes that one step leaves allocated
  double confidence = 0;          // 0 to 1: rises with the share and the number of steps that leak
  uint64_t bytes = 0, count = 0;  // alive when the last step ends
  // For each of Leaks::steps: the bytes allocated in it that are live at the end of the last step.
  std::vector<uint64_t> stayed;
  trace::Category category = trace::Category::kUnknown;
  std::vector<trace::AllocationId> examples;  // at most 8 of the leaked blocks
};
struct Leaks {
  bool known = false;               // false: too few steps to tell
  std::vector<int32_t> steps;       // step numbers
  std::vector<uint64_t> allocated;  // allocated bytes at the end of each step
  std::vector<Leak> leaks;          // most bytes per step first
  double bytes_per_step = 0;
  // The number of further steps after which the leaks fill the GPU's memory. It is 0 if nothing
  // leaks or if the size of that memory is unknown.
  double steps_until_full = 0;
  std::string headline;
};
Leaks FindLeaks(const trace::Trace& trace, const CallSites& sites);

// ---- Out of memory ------------------------------------------------------------------------------

struct WayOut {
  std::string name;       // "expandable_segments:True", "gradient checkpointing"
  std::string how;        // one sentence: the effect, and how it was computed
  bool computed = false;  // true: by replay; false: estimated from the block sizes with this change
  bool passes = false;    // run_passes if known, else request_passes
  bool request_passes = false;
  // Whether the whole run would fit. This is known only for a plan, which continues after the
  // failed request to the run's end. nullopt means that only this request was checked.
  std::optional<bool> run_passes = {};
  uint64_t over = 0;   // bytes by which the run exceeds the limit
  uint64_t bytes = 0;  // bytes that the way out frees at the event
};
struct OutOfMemory {
  trace::EventIndex event = 0;
  uint8_t device = 0;
  analysis::Context context;
  CallSite site;                   // call site of the failed request
  uint64_t asked = 0, needed = 0;  // requested size; size of the segment for it
  uint64_t device_free = 0;
  uint64_t requested = 0, allocated = 0, reserved = 0;
  uint64_t cached = 0;                   // cached memory outside private pools
  uint64_t holes = 0, largest_hole = 0;  // free memory in the request's pool and stream
  uint64_t missing = 0;                  // needed - (free memory of the device + cached memory)
  // Whether there was enough free memory, but not in one piece.
  bool fragmented = false;
  analysis::CategoryBytes by_category{};
  std::vector<analysis::Group> sites;  // call sites of live blocks, most bytes first; at most 20
  std::vector<WayOut> ways;            // ways that pass come first
  std::string replay_error;            // why no way out could be computed
  std::string headline;
};
struct OutOfMemoryPage {
  std::vector<OutOfMemory> events;  // the first kMost events
  uint64_t count = 0;
  static constexpr size_t kMost = 20;
  // The highest reserved bytes, and the GPU's memory. Both are set only if no request failed.
  uint64_t peak_reserved = 0, device_memory = 0;
  std::string headline;  // "no out-of-memory event in this file; ..."
};
// Returns how much memory the failed request needed from the driver: a segment, or pages of an
// expandable segment.
uint64_t SegmentNeededAt(const trace::Trace& trace, trace::EventIndex event);
struct OutOfMemoryOptions {
  bool replay = true;  // false: omit the ways out that need a replay
  std::function<void(double fraction)> progress = {};
  const std::atomic<bool>* cancel = nullptr;
};
// Replays the trace to find out how to avoid the first failure. For later failures, the effect of
// each way is only estimated.
absl::StatusOr<OutOfMemoryPage> ExplainOutOfMemory(const trace::Trace& trace,
                                                   const OutOfMemoryOptions& options);

// ---- Two traces ---------------------------------------------------------------------------------

struct TraceDiff {
  enum class Change : uint8_t { kSame, kAdded, kRemoved, kGrown, kShrunk };
  struct Site {
    std::string name;
    uint64_t a_bytes = 0, b_bytes = 0;  // live at the peak of each trace
    uint64_t a_count = 0, b_count = 0;
    trace::Category category = trace::Category::kUnknown;
    trace::StackId a_stack, b_stack;                      // an example from each trace
    std::vector<trace::AllocationId> a_blocks, b_blocks;  // the blocks of this site, largest first
    Change change = Change::kSame;
    int64_t delta() const { return static_cast<int64_t>(b_bytes - a_bytes); }
  };
  struct Step {
    int32_t step = 0;  // -1: the whole trace, which has no steps
    uint64_t a_peak = 0, b_peak = 0, a_reserved = 0, b_reserved = 0;
    bool in_a = false, in_b = false;
  };
  analysis::Peak a, b;
  bool by_stack = false;    // false: one of the traces has no stacks; sites are "module > op"
  std::vector<Step> steps;  // sorted by number
  std::vector<Site> sites;  // sorted by change, greatest first
  std::string headline;
};
std::string_view Name(TraceDiff::Change change);  // "added"
// Compares the peaks in `step` or, if it is nullopt, those of the whole traces. Stacks match if
// their frames have equal functions and files, regardless of line numbers and outer folders. Sites
// without a match are then matched by the program's innermost frame and the operator.
//
// `within_packages`: for runs that differ in a package. Sites are named and matched by the
// innermost Python frame, which may be in a package: "llama.py:1074 _update_mask < train.py:53
// main".
absl::StatusOr<TraceDiff> DiffTraces(const trace::Trace& a, const trace::Trace& b,
                                     std::optional<int32_t> step, bool within_packages = false);

}  // namespace vramscope::explain
