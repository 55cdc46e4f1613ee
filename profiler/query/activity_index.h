// Puts activities (kernels, memcpys, API calls, ...) into tracks, and finds their relations. A
// kernel is related to the API call that launched it. An API call is related to the op and module
// that were open on its thread. An op is related to its allocations and launches.
//
//   ActivityIndex index(trace);
//   for (uint32_t track = 0; track < index.tracks().size(); ++track) {
//     LaneView v = index.Query(track, begin_ns, end_ns, width_px);     // rows of Trace::activities
//     ...
//   }
//   const uint32_t op = index.SliceOf(kernel, trace::SliceKind::kOp);
//   if (op != kNoRow) Show(index.MadeWithin(op), index.LaunchedWithin(op, 100));
//
// Allocations and kernels are related by address if the trace has operands (operand_links.h),
// otherwise only by op.
//
// Immutable once built; queries may come from any thread. Keeps the trace alive. The cost of a
// query grows with its result and the logarithm of the trace's size.
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
  // The kinds of tracks, in the order in which they are sorted. The end of each comment lists the
  // fields that distinguish tracks of this kind.
  enum class Of : uint8_t {
    kStream,            // kernels, memcpys and memsets: device, stream
    kCollectives,       // device, stream
    kDriverMemory,      // allocations of the driver, without duration: device
    kCounter,           // device, name; each value is valid until the next one
    kCalls,             // API calls of the runtime and driver: thread
    kSynchronizations,  // thread
    kOverhead,          // thread
    kRanges,            // thread
  };
  Of of = Of::kStream;
  uint8_t device = 0;
  uint32_t stream = 0;
  uint32_t thread = 0;
  trace::StringId name;  // name of a counter
  uint32_t depth = 0;    // tracks of overlapping activities differ in depth
  uint32_t count = 0;    // number of activities
  uint64_t busy_ns = 0;  // sum of the activities' durations
};

std::string_view Name(ActivityTrack::Of of);  // "stream"

// The properties that determine how an activity is drawn, packed in one byte.
struct ActivityStyle {
  static constexpr uint32_t kTints = 6;
  trace::ActivityKind kind = trace::ActivityKind::kKernel;
  uint32_t tint = 0;  // below kTints; derived from the name, so that neighbours differ

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
  // All activities that need this depth or a greater one share a track, in which they may overlap.
  static constexpr uint32_t kMostDepth = 15;

  explicit ActivityIndex(std::shared_ptr<const trace::Trace> trace);
  ~ActivityIndex();
  ActivityIndex(ActivityIndex&&) noexcept;
  ActivityIndex& operator=(ActivityIndex&&) noexcept;

  const trace::Trace& trace() const;
  // Sorted by kind, device, stream or thread, name, depth.
  std::span<const ActivityTrack> tracks() const;
  // Like LaneIndex::Query, Ask and At, but rows are rows of Trace::activities, and `style` is an
  // ActivityStyle.
  LaneView Query(uint32_t track, int64_t begin_ns, int64_t end_ns, int columns,
                 double min_rect_columns = 1.0) const;
  void Ask(uint32_t track, const TimeGrid& grid, double min_rect_columns, LaneView* view) const;
  std::optional<uint32_t> At(uint32_t track, int64_t time_ns) const;
  uint32_t TrackOf(uint32_t activity) const;

  // Returns the activity and all others with the same correlation. API calls come first; the others
  // are sorted by begin. Empty if the activity has no correlation.
  std::span<const uint32_t> Correlated(uint32_t activity) const;
  // Returns the runtime call that launched the activity, or else the driver call, or else kNoRow.
  // If the activity is a call, returns the activity itself.
  uint32_t CallOf(uint32_t activity) const;
  // Returns the innermost slice of the kind (op, module, ...) that was open on the call's thread
  // when the activity's call began. For a host activity without a call, this is the slice that was
  // open when it began. The result is a row of Trace::slices, or kNoRow.
  uint32_t SliceOf(uint32_t activity, trace::SliceKind kind) const;
  // Returns the activity's recorded module. If it has none, returns the module that was open at the
  // launch, or else the op's module. (In backward no module is open, but ops can have one.)
  trace::StringId ModuleOf(uint32_t activity) const;

  // Returns the rows of Trace::allocations that any thread allocated while the slice was open.
  RowRange MadeWithin(uint32_t slice) const;
  // Returns at most `most` rows of Trace::activities, in order of their calls: the device's work
  // that was launched by calls within the slice, on its thread.
  std::vector<uint32_t> LaunchedWithin(uint32_t slice, size_t most) const;

  // Returns the innermost op that was open when the block was allocated, or kNoRow.
  uint32_t OpThatMade(trace::AllocationId allocation) const;
  // Returns the innermost op that was open when the block's free was requested; if none was open,
  // the last op that began before. Returns kNoRow if the block is not freed or no op began before.
  uint32_t LastOpBeforeFree(trace::AllocationId allocation) const;

  // Relations by address, if the trace has operands.
  const OperandLinks& operands() const;

  size_t MemoryBytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::query
