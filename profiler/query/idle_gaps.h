// Finds the idle gaps of streams and devices, and the cause of each gap as far as the recording
// shows it. Each cause has a rule that identifies it. Queries are for drawing, as in ActivityIndex.
//
//   IdleGaps gaps(trace, index);
//   for (const IdleGaps::Line& line : gaps.lines()) Show(line.device, line.stream, line.idle_ns);
//   if (const auto gap = gaps.At(*gaps.LineOf(device, stream), time_ns))
//     Say(Name(gaps.Gap(*gap).cause), Rule(gaps.Gap(*gap).cause));
//
// Immutable once built; queries may come from any thread. Keeps the trace and its index alive.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/query/activity_index.h"
#include "profiler/trace/trace.h"

namespace vramscope::query {

// The causes, in the order in which they are tested. The first that applies is used. But if the
// next work was already queued when the gap began, only kOtherStream and then kMemory are tested.
enum class IdleCause : uint8_t {
  kMemory,           // the host was in cudaMalloc or cudaFree for at least a quarter of the gap
  kSynchronization,  // nothing was queued: the host was waiting, and launched right afterwards
  kHost,             // the next work was launched only after the gap had begun
  kOtherStream,      // the next work began when another stream's work ended
  kUnknown,          // none of these applies
};
inline constexpr int kIdleCauseCount = 5;

std::string_view Name(IdleCause cause);  // "host"
std::string_view Rule(IdleCause cause);  // the rule that identifies the cause, as a sentence

struct IdleGap {
  int64_t begin_ns = 0, end_ns = 0;
  uint32_t before = kNoRow, after = kNoRow;  // rows of Trace::activities
  IdleCause cause = IdleCause::kUnknown;
  uint32_t evidence = kNoRow;  // the call or activity that shows the cause
};

class IdleGaps {
 public:
  // Gaps shorter than this are ignored, because they occur between any two kernels.
  static constexpr int64_t kShortest = 2'000;
  // For kOtherStream: the maximum time from the end of the other stream's work to the end of the
  // gap.
  static constexpr int64_t kHandOver = 5'000;

  // The gaps of a stream or device between its first and last activity.
  struct Line {
    uint8_t device = 0;
    uint32_t stream = trace::kAllStreams;  // kAllStreams: gaps of the device, in which none of
                                           // its streams has work
    uint32_t gaps = 0;
    int64_t begin_ns = 0, end_ns = 0;
    uint64_t idle_ns = 0;  // total time in gaps
    std::array<uint64_t, kIdleCauseCount> idle_by_cause{};
  };

  IdleGaps(std::shared_ptr<const trace::Trace> trace, std::shared_ptr<const ActivityIndex> index);
  ~IdleGaps();
  IdleGaps(IdleGaps&&) noexcept;
  IdleGaps& operator=(IdleGaps&&) noexcept;

  // Sorted by device; the device's own line comes before the lines of its streams.
  std::span<const Line> lines() const;
  std::optional<uint32_t> LineOf(uint8_t device, uint32_t stream) const;
  // Like ActivityIndex::Query, but rows are numbers of gaps (see Gap()), and `style` is an
  // IdleCause.
  LaneView Query(uint32_t line, int64_t begin_ns, int64_t end_ns, int columns,
                 double min_rect_columns = 1.0) const;
  void Ask(uint32_t line, const TimeGrid& grid, double min_rect_columns, LaneView* view) const;
  // Returns the gaps of at least `least_ns` that overlap [begin_ns, end_ns), sorted by begin.
  std::vector<LaneRect> Long(uint32_t line, int64_t begin_ns, int64_t end_ns,
                             uint64_t least_ns) const;
  std::optional<uint32_t> At(uint32_t line, int64_t time_ns) const;
  IdleGap Gap(uint32_t gap) const;
  size_t MemoryBytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::query
