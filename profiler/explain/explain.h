// Why memory is as it is: who asked for it, how it is fragmented and what pins it, what is reserved
// but unused and what would give it back (computed by replay), leaks over steps, out of memory,
// and how two runs differ.
//
//   const Fragmentation f = FragmentationAt(*trace, event);
//   f.reserved == f.allocated + f.holes + f.cached + f.unplaced;
//
// Of one device: of a trace of several, explain each one's slice (trace/one_device.h). Pure
// functions of an immutable Trace; thread-safe. One moment of a trace of a million events
// takes milliseconds, a page over the whole trace some tens of them; what replays says so and takes
// seconds.
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
#include "profiler/replay/releases.h"
#include "profiler/trace/segment_record.h"
#include "profiler/trace/trace.h"

namespace vramscope::explain {

// ---- Call sites ---------------------------------------------------------------------------------

// Who asked: a call stack; where the trace has none for the allocation, its module and op.
struct CallSite {
  std::string name = {};  // one line: "optimizer.py:80 step > aten::add", "layers.3.mlp > aten::mm"
  trace::StackId stack = {};  // 0: none
  trace::StringId module = {}, op = {};
};

// Which site every allocation belongs to.
struct CallSites {
  std::vector<CallSite> sites;
  std::vector<uint32_t> site_of;  // row = AllocationId
};
CallSites FindCallSites(const trace::Trace& trace);
// As one block is shown: by its module, too, where no operator is known.
CallSite SiteOf(const trace::Trace& trace, trace::AllocationId allocation);
// The name of its group in GroupBySite.
std::string SiteGroupOf(const trace::Trace& trace, trace::AllocationId allocation);

// A stack as lines, innermost frame first: "step  cs336_basics/optimizer.py:80". `program_only`
// leaves out the frames of the interpreter and of PyTorch's own C++.
std::vector<std::string> StackLines(const trace::Trace& trace, trace::StackId stack,
                                    bool program_only);

// What each site holds, most bytes first; adds up to live.allocated.
std::vector<analysis::Group> GroupBySite(const trace::Trace& trace, const analysis::LiveSet& live);

struct SiteUse {
  uint32_t site = 0;   // row of CallSites::sites
  uint64_t count = 0;  // allocations
  uint64_t bytes = 0;  // of blocks, summed over all allocations (churn)
  uint64_t largest = 0;
  double byte_seconds = 0;  // bytes times time held
  int64_t mean_life_ns = 0, longest_life_ns = 0;
  uint64_t peak_live_bytes = 0;                          // most at once
  uint64_t alive_count = 0, alive_bytes = 0;             // at the end of the range
  trace::Category category = trace::Category::kUnknown;  // of most of its bytes
};
enum class SiteOrder : uint8_t { kByteSeconds, kCount, kBytes, kLife, kPeak };
absl::StatusOr<SiteOrder> ParseSiteOrder(std::string_view name);  // "held", "count", "bytes", ...
std::string_view Name(SiteOrder order);
// Of the allocations born in events [first, last]; what they hold is counted until `last`.
struct SiteUseOptions {
  trace::EventIndex first = 0, last = trace::kNoEvent;
  bool older = false;  // whether blocks older than the recording count, too
};
std::vector<SiteUse> UseOfSites(const trace::Trace& trace, const CallSites& sites,
                                const SiteUseOptions& options);
void Sort(std::vector<SiteUse>& uses, SiteOrder order);  // most first

// ---- Segments and fragmentation -----------------------------------------------------------------

// A segment and its blocks right after an event.
struct SegmentView {
  enum class Use : uint8_t {
    kFree,
    kLive,
    kPending,   // freed by the program, another stream not yet done with it; counts as live
    kUnmapped,  // addresses of an expandable segment without memory
  };
  struct Piece {
    uint64_t address = 0, bytes = 0;
    trace::AllocationId allocation = {};  // of live and pending ones
    Use use = Use::kFree;
  };
  trace::SegmentId segment = {};
  uint64_t address = 0;
  uint64_t bytes = 0;       // mapped; `pieces` of an expandable one may span more
  uint64_t live_bytes = 0;  // of blocks; free = bytes - live_bytes
  uint64_t largest_hole = 0;
  uint32_t stream = 0;
  uint32_t mempool = 0;
  uint8_t device = 0;
  trace::Pool pool = trace::Pool::kSmall;
  bool expandable = false;
  std::vector<Piece> pieces = {};  // by address, without gaps or overlaps
  uint64_t free_bytes() const { return bytes - live_bytes; }
};
// By address. Expandable segments end with what is mapped last. Without segments that stand for a
// total (trace/segment_record.h).
std::vector<SegmentView> SegmentsAt(const trace::Trace& trace, trace::EventIndex event);

// Who a private pool is for.
struct PoolOwner {
  uint8_t device = 0;
  uint32_t mempool = 0;  // first << 16 | second of segment_pool_id
  std::string name;      // "CUDA graph capture", "vLLM: KV cache", "private pool"
  CallSite site;         // that has asked for most of it; stack 0: none has a stack
};

struct Fragmentation {
  analysis::Context context;
  uint64_t requested = 0, allocated = 0, reserved = 0;
  // allocated - requested:
  uint64_t rounding = 0;  // up to 512 bytes, or as roundup_power2_divisions says
  uint64_t tails = 0;     // unsplit rests of blocks
  // reserved - allocated:
  uint64_t holes = 0;         // free, in segments that live blocks hold
  uint64_t cached = 0;        // in segments (for expandable ones: pages of 2 or 20 MiB) wholly free
  uint64_t largest_hole = 0;  // of both
  // Free, where the trace says how much was reserved and not in which segments: then holes, cached
  // and pools are not known and stay empty.
  uint64_t unplaced = 0;
  trace::SegmentRecord record = trace::SegmentRecord::kEach;
  bool reserved_known() const { return record != trace::SegmentRecord::kNone; }
  bool sizes_are_of_blocks = false;  // requested sizes are not recorded: `requested` is of blocks
  uint64_t pending = 0;              // of allocated: see SegmentView::Use
  uint64_t outside = 0;              // of allocated: in no known segment (a trace without segments)
  uint32_t segments = 0, segments_cached = 0;
  struct PoolUse {
    uint8_t device = 0;
    trace::Pool pool = trace::Pool::kSmall;
    uint32_t stream = 0;
    uint32_t mempool = 0;
    uint32_t segments = 0, segments_cached = 0;
    uint64_t blocks = 0;  // live
    uint64_t reserved = 0, live = 0, holes = 0, cached = 0, largest_hole = 0;
    std::string owner = {};  // of a private pool: PoolOwner::name
  };
  std::vector<PoolUse> pools;     // most free bytes first
  std::vector<PoolOwner> owners;  // of private pools, by device and id
  // Segments with holes, most free bytes first: the live blocks that keep them from going back.
  struct Pin {
    trace::AllocationId allocation;
    uint64_t bytes = 0;
    trace::Category category = trace::Category::kUnknown;  // at that moment
    CallSite site;
  };
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
  // Who keeps free memory from going back: holes of each segment shared out over its blocks' sites
  // by count. Most first; adds up to `holes`.
  std::vector<analysis::Group> pinned_by;
  std::string headline;  // one sentence
};
Fragmentation FragmentationAt(const trace::Trace& trace, trace::EventIndex event);

// ---- Reserved but unused ------------------------------------------------------------------------

// What the allocator would have done under other settings, or with empty_cache(): by replay.
struct Remedy {
  std::string name = {};       // "empty_cache()", "max_split_size_mb:128"
  std::string note = {};       // what it takes for granted: "on a card of 8.00 GiB, ..."
  std::string error = {};      // why it could not be computed; then the rest is 0
  uint64_t reserved = 0;       // at the moment
  int64_t given_back = 0;      // at the moment, against the model under the recorded settings
  uint64_t peak_reserved = 0;  // over the trace
  int64_t peak_given_back = 0;
  uint64_t segment_allocs = 0;  // cudaMalloc calls (maps, for expandable segments)
  uint64_t segment_frees = 0, retries = 0, out_of_memory = 0;
};
struct Reclaim {
  uint8_t device = 0;
  analysis::Context context;                                    // of the moment
  uint64_t allocated = 0, reserved = 0, cached = 0, holes = 0;  // recorded, at the moment
  // A state has no history of requests: what needs one has an error, and the moment is the only one
  // there is.
  bool state = false;
  // The model under the recorded settings (replay::Baseline), what empty_cache() is compared with.
  Remedy as_recorded;
  // And with the older blocks allocated anew, what settings are compared with; nullopt: nothing is
  // older than the recording, so that it is the same.
  std::optional<Remedy> anew;
  std::vector<Remedy> remedies;  // most given back at the moment first
  // What went back to the device in the recording, and the card that follows from it.
  replay::Releases releases;
  std::string headline;
};
struct ReclaimOptions {
  // None: where most is reserved and least of it used; never within the filling-in of what is older
  // than the recording.
  std::optional<trace::EventIndex> at = {};
  // Settings to try, as PYTORCH_CUDA_ALLOC_CONF; empty: max_split_size_mb of some sizes,
  // expandable segments, garbage collection.
  std::vector<std::string> alloc_confs = {};
  std::function<void(double fraction)> progress = {};
  const std::atomic<bool>* cancel = nullptr;  // set: kCancelled
};
// Replays once for every remedy: seconds for a large trace.
absl::StatusOr<Reclaim> ComputeReclaim(const trace::Trace& trace, const ReclaimOptions& options);
// The moment of ReclaimOptions::at when that is not given.
trace::EventIndex MostUnused(const trace::Trace& trace);

// ---- Leaks over steps ---------------------------------------------------------------------------

// A site whose allocations of one step stay into the steps after it, step after step. Not: what is
// made once (parameters, optimizer state), what is replaced (gradients, averages).
struct Leak {
  uint32_t site = 0;              // row of CallSites::sites
  double bytes_per_step = 0;      // that stay
  double confidence = 0;          // 0 .. 1: share of the steps that left something, and how many
  uint64_t bytes = 0, count = 0;  // alive when the last step ends
  std::vector<uint64_t> stayed;   // by step (Leaks::steps): bytes born in it, alive at the end
  trace::Category category = trace::Category::kUnknown;
  std::vector<trace::AllocationId> examples;  // at most 8
};
struct Leaks {
  bool known = false;               // false: too few steps to say
  std::vector<int32_t> steps;       // numbers
  std::vector<uint64_t> allocated;  // at each step's end
  std::vector<Leak> leaks;          // most bytes a step first
  double bytes_per_step = 0;
  // When it does not fit any more, from the end on and as it grows; 0: never, or no device memory.
  double steps_until_full = 0;
  std::string headline;
};
Leaks FindLeaks(const trace::Trace& trace, const CallSites& sites);

// ---- Out of memory ------------------------------------------------------------------------------

struct WayOut {
  std::string name;       // "expandable_segments:True", "gradient checkpointing"
  std::string how;        // one sentence: what it gives, from what it was reckoned
  bool computed = false;  // by replay; else an estimate: sizes that blocks of the trace would have
  bool passes = false;    // the run, where that is known; else that request alone
  bool request_passes = false;
  // Whether all of the run would fit: of a plan, which is known to its end. Nullopt: that request
  // alone was looked at.
  std::optional<bool> run_passes = {};
  uint64_t over = 0;   // by how much the run does not
  uint64_t bytes = 0;  // that it frees at that moment
};
struct OutOfMemory {
  trace::EventIndex event = 0;
  uint8_t device = 0;
  analysis::Context context;
  CallSite site;                   // who asked
  uint64_t asked = 0, needed = 0;  // requested; of the segment that the request needs
  uint64_t device_free = 0;
  uint64_t requested = 0, allocated = 0, reserved = 0;
  uint64_t cached = 0;                   // wholly free, but for private pools
  uint64_t holes = 0, largest_hole = 0;  // of the pool and stream that the request comes from
  uint64_t missing = 0;  // needed - what the device and the cache together could give
  // Whether what is free in all would have sufficed, had it been in one piece.
  bool fragmented = false;
  analysis::CategoryBytes by_category{};
  std::vector<analysis::Group> sites;  // of live blocks, most bytes first; at most 20
  std::vector<WayOut> ways;            // those that pass first
  std::string replay_error;            // why no way out could be computed
  std::string headline;
};
struct OutOfMemoryPage {
  std::vector<OutOfMemory> events;  // at most kMost; the first ones
  uint64_t count = 0;
  static constexpr size_t kMost = 20;
  // What was the closest to it, where nothing ran out: most that was reserved, and the device.
  uint64_t peak_reserved = 0, device_memory = 0;
  std::string headline;  // "no out-of-memory event in this file; ..."
};
// What the driver would have had to give for the request of an out-of-memory event: its segment, or
// pages of an expandable one.
uint64_t SegmentNeededAt(const trace::Trace& trace, trace::EventIndex event);
struct OutOfMemoryOptions {
  bool replay = true;  // false: without the computed ways out
  std::function<void(double fraction)> progress = {};
  const std::atomic<bool>* cancel = nullptr;
};
// Replays for the ways out of the first event (the others get estimates alone).
absl::StatusOr<OutOfMemoryPage> ExplainOutOfMemory(const trace::Trace& trace,
                                                   const OutOfMemoryOptions& options);

// ---- Two traces ---------------------------------------------------------------------------------

struct TraceDiff {
  enum class Change : uint8_t { kSame, kAdded, kRemoved, kGrown, kShrunk };
  struct Site {
    std::string name;
    uint64_t a_bytes = 0, b_bytes = 0;  // live at each one's peak
    uint64_t a_count = 0, b_count = 0;
    trace::Category category = trace::Category::kUnknown;
    trace::StackId a_stack, b_stack;                      // an example of each
    std::vector<trace::AllocationId> a_blocks, b_blocks;  // that these are, largest first
    Change change = Change::kSame;
    int64_t delta() const { return static_cast<int64_t>(b_bytes - a_bytes); }
  };
  struct Step {
    int32_t step = 0;  // -1: of a trace without steps, all of it
    uint64_t a_peak = 0, b_peak = 0, a_reserved = 0, b_reserved = 0;
    bool in_a = false, in_b = false;
  };
  analysis::Peak a, b;
  bool by_stack = false;    // false: one of them has no stacks; sites are "module > op"
  std::vector<Step> steps;  // by number
  std::vector<Site> sites;  // greatest change first
  std::string headline;
};
std::string_view Name(TraceDiff::Change change);  // "added"
// Peaks are those of the step, or of the whole traces. Stacks match when their frames' functions
// and files do: lines may differ, and folders above the last one. What has no match so is matched
// by the program's innermost frame and the operator.
absl::StatusOr<TraceDiff> DiffTraces(const trace::Trace& a, const trace::Trace& b,
                                     std::optional<int32_t> step);

}  // namespace vramscope::explain
