// Activities (kernels, memcpys, calls, ...) as tracks for drawing, and their relations: from a
// kernel to the call that launched it, from a call to the op and module in which its thread made
// it, from an op to what it allocated and launched.
//
//   ActivityIndex index(trace);
//   for (uint32_t track = 0; track < index.tracks().size(); ++track) {
//     LaneView v = index.Query(track, begin_ns, end_ns, width_px);     // rows of Trace::activities
//     ...
//   }
//   const uint32_t op = index.SliceOf(kernel, trace::SliceKind::kOp);
//   if (op != kNoRow) Show(index.MadeWithin(op), index.LaunchedWithin(op, 100));
//
// Allocations and kernels are related by address if the trace has operands (operand_links.h), else
// by op.
//
// Immutable once built; queries may come from any thread. Keeps the trace alive. The cost of a
// query is its result plus the logarithm of the trace's size.
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
  // The kinds of tracks, in the order in which tracks are sorted. The comments name the fields that
  // distinguish the tracks of a kind.
  enum class Of : uint8_t {
    kStream,            // kernels, memcpys and memsets: device, stream
    kCollectives,       // device, stream
    kDriverMemory,      // cudaMalloc and the like, without duration: device
    kCounter,           // device, name; a value is valid until the next begins
    kCalls,             // calls of the runtime and the driver: thread
    kSynchronizations,  // thread
    kOverhead,          // thread
    kRanges,            // thread
  };
  Of of = Of::kStream;
  uint8_t device = 0;
  uint32_t stream = 0;
  uint32_t thread = 0;
  trace::StringId name;  // name of a counter
  uint32_t depth = 0;    // overlapping activities have several rows; 0 is the one that begins first
  uint32_t count = 0;    // number of activities
  uint64_t busy_ns = 0;  // sum of their durations
};

std::string_view Name(ActivityTrack::Of of);  // "stream"

// The properties that determine how an activity is drawn, in one byte.
struct ActivityStyle {
  static constexpr uint32_t kTints = 6;
  trace::ActivityKind kind = trace::ActivityKind::kKernel;
  uint32_t tint = 0;  // below kTints, computed from the name; distinguishes neighbours

  static ActivityStyle Of(trace::ActivityKind kind, trace::StringId name) {
    return {kind, name.value % kTints};
  }
  static ActivityStyle FromByte(uint8_t byte) {
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
  // All activities at greater depths are drawn in one row, where they may overlap.
  static constexpr uint32_t kMostDepth = 15;

  explicit ActivityIndex(std::shared_ptr<const trace::Trace> trace);
  ~ActivityIndex();
  ActivityIndex(ActivityIndex&&) noexcept;
  ActivityIndex& operator=(ActivityIndex&&) noexcept;

  const trace::Trace& trace() const;
  // Sorted by kind, device, stream or thread, name, depth.
  std::span<const ActivityTrack> tracks() const;
  // Like LaneIndex::Query, Ask and At, with rows of Trace::activities; the `style` of a column is
  // an ActivityStyle.
  LaneView Query(uint32_t track, int64_t begin_ns, int64_t end_ns, int columns,
                 double min_rect_columns = 1.0) const;
  void Ask(uint32_t track, const TimeGrid& grid, double min_rect_columns, LaneView* view) const;
  std::optional<uint32_t> At(uint32_t track, int64_t time_ns) const;
  uint32_t TrackOf(uint32_t activity) const;

  // All activities with the same correlation, including the given one: calls first, then by begin.
  // Empty: the activity has no correlation.
  std::span<const uint32_t> Correlated(uint32_t activity) const;
  // The call that launched the activity (of the runtime, else of the driver), or the activity
  // itself if it is a call; kNoRow if unknown.
  uint32_t CallOf(uint32_t activity) const;
  // The innermost slice of the kind (op, module, ...) in which the activity's call began, on the
  // call's thread. For host activities without a call, the slice in which the activity itself
  // began. A row of Trace::slices or kNoRow.
  uint32_t SliceOf(uint32_t activity, trace::SliceKind kind) const;
  // The module that the producer recorded, else the open module, else the operator's module
  // (backward nodes have one when no module is open).
  trace::StringId ModuleOf(uint32_t activity) const;

  // Rows of Trace::allocations that were made while the slice was open (on any thread).
  RowRange MadeWithin(uint32_t slice) const;
  // Rows of Trace::activities: the device's work for calls that began within the slice on the
  // slice's thread, ordered by call; at most `most`.
  std::vector<uint32_t> LaunchedWithin(uint32_t slice, size_t most) const;

  // The innermost op that was open when the block was allocated; kNoRow if none.
  uint32_t OpThatMade(trace::AllocationId allocation) const;
  // The innermost op that was open when the block's free was requested, else the last op that began
  // before; kNoRow: the block is not freed, or there is no op.
  uint32_t LastOpBeforeFree(trace::AllocationId allocation) const;

  // Relations by address, if the trace has operands.
  const OperandLinks& operands() const;

  size_t MemoryBytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::query
