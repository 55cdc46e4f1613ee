// Questions about a Trace and their answers, as plain values: curves, peak, phases, summary, diff.
// Bytes of a category are those of blocks (rounded), so that the categories add up to the allocated
// bytes, which is what torch.cuda.memory_allocated() reports; `requested` is carried beside.
// Pure functions of an immutable Trace; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/memory_cursor.h"
#include "profiler/trace/one_device.h"
#include "profiler/trace/packed_column.h"
#include "profiler/trace/trace.h"

namespace vramscope::analysis {

using trace::CategoryBytes;

// Memory over time: one point after every event that changes it (Alloc, FreeCompleted, Retag,
// segment events), in event order. Between points the curve is flat.
struct MemoryCurves {
  using Bytes = trace::PackedColumn<uint64_t>;
  trace::PackedColumn<trace::EventIndex> event;
  trace::PackedColumn<int64_t> time_ns;
  Bytes allocated;  // sum of live blocks
  Bytes requested;
  Bytes reserved;  // sum of live segments
  // category[c][i], c = static_cast<int>(Category); empty columns for categories never present.
  std::array<Bytes, trace::kCategoryCount> category;
  size_t size() const { return time_ns.size(); }
  size_t MemoryBytes() const;
};
MemoryCurves ComputeCurves(const trace::Trace& trace);
// The same at the cost of what is new, where the trace goes on from an earlier one whose curves are
// known (EventTable::GoOnFrom): shares with them what there was.
MemoryCurves ContinueCurves(const trace::Trace& trace, const trace::Trace& earlier,
                            const MemoryCurves& of_earlier);
// The last point at or before the event, or nullopt when memory was still untouched.
std::optional<size_t> PointAt(const MemoryCurves& curves, trace::EventIndex event);

// Where the run stands at an event.
struct Context {
  trace::EventIndex event = 0;
  int64_t time_ns = 0;
  int32_t step = -1;
  int32_t micro_batch = -1;
  trace::Phase phase = trace::Phase::kNone;
  std::string module;  // of the allocation or op at the event
  std::string op;
};

struct LiveAllocation {
  trace::AllocationId id;
  trace::Category category;  // at that moment
};

// Inside an allocation's event: where that was made. Elsewhere: the innermost open slices.
Context ContextAt(const trace::Trace& trace, trace::EventIndex event);

// What is in memory right after `event` (clamped to the last). A block counts until its free has
// completed. Sorted by block size, largest first.
struct LiveSet {
  Context context;
  uint64_t allocated = 0, requested = 0, reserved = 0;
  CategoryBytes by_category{};
  std::vector<LiveAllocation> allocations;
};
LiveSet LiveAt(const trace::Trace& trace, trace::EventIndex event);
// The last event at or before the time (the first event when before the trace; 0 when empty).
trace::EventIndex EventAtTime(const trace::Trace& trace, int64_t time_ns);

// kFile: of the program's innermost frame. kSize, kAge: classes, "<= 1 MiB", "< 10 ms" (of a trace
// without times "< 10 entries"). kAnnotation: the innermost that was open when the block was made,
// else what the program said of it (user metadata).
enum class GroupBy : uint8_t {
  kCategory,
  kModule,
  kOp,
  kStack,
  kPhase,
  kFile,
  kSize,
  kAge,
  kAnnotation,
};
absl::StatusOr<GroupBy> ParseGroupBy(std::string_view name);
std::vector<std::string> GroupByNames();  // what ParseGroupBy() takes
struct Group {
  std::string name;
  uint64_t bytes = 0;
  uint64_t count = 0;
};
// Most bytes first; the groups add up to live.allocated. kStack: the program's innermost frame,
// "optimizer.py:80 step", on a thread of autograd its node, "MmBackward0"; of a trace without
// stacks "module > op". Of a recording, by phase and stack, "(before the recording)" is what it
// began with.
std::vector<Group> GroupLive(const trace::Trace& trace, const LiveSet& live, GroupBy by);
// The same, and which of them each block is of.
struct LiveGroups {
  std::vector<Group> groups;
  std::vector<uint32_t> group_of;  // row = LiveSet::allocations
};
LiveGroups GroupBlocks(const trace::Trace& trace, const LiveSet& live, GroupBy by);

// Of a recording, never before it began: what it began with was all there then.
struct Peak {
  uint64_t allocated = 0;      // highest, and where it was first reached
  uint64_t reserved = 0;       // highest over the trace, independently
  uint64_t reserved_then = 0;  // where `allocated` was reached
  Context context;
  CategoryBytes by_category{};
};
Peak FindPeak(const trace::Trace& trace, const MemoryCurves& curves);

// What torch.cuda.max_memory_allocated() counts: PyTorch takes a block off when its free is
// requested, while blocks that another stream still uses (record_stream, FSDP) stay active, and are
// allocated here, until the free has completed. Equal to Peak::allocated where nothing waits. One
// walk over the events.
uint64_t MostByCounter(const trace::Trace& trace);

// What this file says of memory, it says of one device: of a trace of several, ask about a slice of
// it (trace/one_device.h). These two tell of all of them, each by itself.
using trace::DevicesOf;
struct DevicePeak {
  uint8_t device = 0;
  Peak peak;
};
// By device.
std::vector<DevicePeak> PeakOfEachDevice(const std::shared_ptr<const trace::Trace>& trace);
// Where the figures of one device are asked for: nothing when there is only one; else the first
// that ran out of memory; else the one with the highest peak.
std::optional<uint8_t> DeviceToShow(const std::shared_ptr<const trace::Trace>& trace);

// Every iteration: times are sums of its phases (forward includes the loss), in milliseconds. A
// phase nested in another counts as the outer one (recomputation inside backward is backward).
struct StepRow {
  int32_t index = 0;
  int64_t begin_ns = 0, end_ns = 0;
  double forward_ms = 0, backward_ms = 0, optimizer_ms = 0, total_ms = 0;
  uint64_t peak_allocated = 0, peak_reserved = 0;
  trace::Phase peak_phase = trace::Phase::kNone;
};
std::vector<StepRow> StepTable(const trace::Trace& trace, const MemoryCurves& curves);

// What `plan --json` and `run --json` print. before_training and after_training are taken at the
// markers kMarkerTrainingBegin and -End; without them, where the first step begins and the last
// ends (without steps: the trace's begin, or a recording's, and its end).
struct MemoryPair {
  uint64_t allocated = 0, reserved = 0;
};
// Of a card: by the allocator, and past it (past_allocator.h).
struct CardUse {
  uint64_t reserved = 0, past_allocator = 0;
  uint64_t sum() const { return reserved + past_allocator; }
};
struct Summary {
  MemoryPair before_training, after_training;
  Peak peak;
  CardUse most_used;  // when both together are most
  std::vector<StepRow> steps;
  uint64_t events = 0;
  bool fits = true;
  // Device memory - context - most_used; negative: by how much it does not fit.
  int64_t headroom_bytes = 0;
  bool out_of_memory = false;  // the run met an OutOfMemory event
  bool went_on = false;  // a planned program caught it: it allocated behind it, and ended by itself
};
Summary Summarize(const trace::Trace& trace, const MemoryCurves& curves);

// Totals per step (-1: outside), phase and category: peak bytes of the category within that phase,
// what was there on entry included. Only where not zero; ordered by step, phase, category.
struct PhaseTotal {
  int32_t step = 0;
  trace::Phase phase = trace::Phase::kNone;
  trace::Category category = trace::Category::kUnknown;
  uint64_t bytes = 0;
};
std::vector<PhaseTotal> PhaseTotals(const trace::Trace& trace, const MemoryCurves& curves);
// Which device of one trace is compared with which of another: the one with the one, of several the
// same number. By device; one pair at least.
struct DevicePair {
  uint8_t device = 0;                        // B's number; A's where B does not have it
  std::shared_ptr<const trace::Trace> a, b;  // slices; a trace without memory: it does not have it
};
std::vector<DevicePair> DevicePairs(const std::shared_ptr<const trace::Trace>& a,
                                    const std::shared_ptr<const trace::Trace>& b);
struct DiffRow {
  int32_t step = 0;
  trace::Phase phase = trace::Phase::kNone;
  trace::Category category = trace::Category::kUnknown;
  uint64_t a = 0, b = 0;
};
// Steps align by their number. Every key that either side has.
std::vector<DiffRow> Diff(const trace::Trace& a, const trace::Trace& b);

}  // namespace vramscope::analysis
