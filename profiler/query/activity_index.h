// What ran beside the allocator's stream (kernels, copies, calls, ...) as tracks for a picture, and
// what belongs to what: a kernel to the call that launched it, the call to the op and module in
// which it lies on its thread, an op to what it allocated and launched.
//
//   ActivityIndex index(trace);
//   for (uint32_t track = 0; track < index.tracks().size(); ++track) {
//     LaneView v = index.Query(track, begin_ns, end_ns, width_px);     // rows of Trace::activities
//     ...
//   }
//   const uint32_t op = index.SliceOf(kernel, trace::SliceKind::kOp);
//   if (op != kNoRow) Show(index.MadeWithin(op), index.LaunchedWithin(op, 100));
//
// What an allocation has to do with kernels is told by address where the trace has operands
// (operand_links.h), else by op.
//
// Immutable once built; queries may come from any thread. Keeps the trace alive. No query costs
// more than what it returns and the logarithm of the trace.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/query/lane_index.h"
#include "profiler/query/operand_links.h"
#include "profiler/trace/trace.h"

namespace vramscope::query {

inline constexpr uint32_t kNoRow = UINT32_MAX;

struct ActivityTrack {
  // In the order in which tracks come.
  enum class Of : uint8_t {
    kStream,            // kernels, copies and sets: device, stream
    kCollectives,       // device, stream
    kDriverMemory,      // cudaMalloc and the like, moments: device
    kCounter,           // device, name; a value holds until the next begins
    kCalls,             // of the runtime and the driver: thread
    kSynchronizations,  // thread
    kOverhead,          // thread
    kRanges,            // thread
  };
  Of of = Of::kStream;
  uint8_t device = 0;
  uint32_t stream = 0;
  uint32_t thread = 0;
  trace::StringId name;  // of a counter
  uint32_t depth = 0;    // what overlaps has rows of its own, the first to begin at 0
  uint32_t count = 0;    // activities
  uint64_t busy_ns = 0;  // that they take together
};

std::string_view Name(ActivityTrack::Of of);  // "stream"

// What an activity is drawn by, in a byte.
struct ActivityLook {
  static constexpr uint32_t kTints = 6;
  trace::ActivityKind kind = trace::ActivityKind::kKernel;
  uint32_t tint = 0;  // by its name, below kTints: neighbours are told apart

  static ActivityLook Of(trace::ActivityKind kind, trace::StringId name) {
    return {kind, name.value % kTints};
  }
  static ActivityLook FromByte(uint8_t byte) {
    return {static_cast<trace::ActivityKind>(byte & 15), uint32_t{byte} >> 4};
  }
  uint8_t ToByte() const { return static_cast<uint8_t>(static_cast<uint32_t>(kind) | tint << 4); }
};
static_assert(trace::kActivityKindCount <= 16);

// Rows [first, last) of a table.
struct RowRange {
  uint32_t first = 0, last = 0;
  uint32_t size() const { return last - first; }
};

class ActivityIndex {
 public:
  // Depths beyond it lie on one another.
  static constexpr uint32_t kMostDepth = 15;

  explicit ActivityIndex(std::shared_ptr<const trace::Trace> trace);
  ~ActivityIndex();
  ActivityIndex(ActivityIndex&&) noexcept;
  ActivityIndex& operator=(ActivityIndex&&) noexcept;

  const trace::Trace& trace() const;
  // By what they are of, device, stream or thread, name, depth.
  std::span<const ActivityTrack> tracks() const;
  // As LaneIndex::Query, Ask and At, with rows of Trace::activities; a column's `look`:
  // ActivityLook.
  LaneView Query(uint32_t track, int64_t begin_ns, int64_t end_ns, int columns,
                 double min_rect_columns = 1.0) const;
  void Ask(uint32_t track, const TimeGrid& grid, double min_rect_columns, LaneView* view) const;
  std::optional<uint32_t> At(uint32_t track, int64_t time_ns) const;
  uint32_t TrackOf(uint32_t activity) const;

  // All of the same correlation, itself among them: calls first, then by begin. Empty: it has none.
  std::span<const uint32_t> Correlated(uint32_t activity) const;
  // The call that launched it (of the runtime, else of the driver), itself where it is one; kNoRow.
  uint32_t CallOf(uint32_t activity) const;
  // The innermost op, module, ... in which its call began, on the call's thread (of what has no
  // call and is the host's: it itself). A row of Trace::slices; kNoRow.
  uint32_t SliceOf(uint32_t activity, trace::SliceKind kind) const;
  // Of the producer's word, the open module and the operator's (which a backward node has, where no
  // module is open) the first that there is.
  trace::StringId ModuleOf(uint32_t activity) const;

  // Rows of Trace::allocations: made while the slice was open (on whatever thread).
  RowRange MadeWithin(uint32_t slice) const;
  // Rows of Trace::activities: what the device did for calls that began within the slice on its
  // thread, by call; at most `most`.
  std::vector<uint32_t> LaunchedWithin(uint32_t slice, size_t most) const;

  // The innermost op that was open when it was made; kNoRow.
  uint32_t OpThatMade(trace::AllocationId allocation) const;
  // The innermost op that was open when its free was requested, else the last to begin before;
  // kNoRow: it lives, or there is none.
  uint32_t LastOpBeforeFree(trace::AllocationId allocation) const;

  // By address, where anybody said what kernels work on.
  const OperandLinks& operands() const;

  size_t MemoryBytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::query
