// Times in which a stream, or a whole device, had nothing to run, and what it waited for as far as
// the recording says. For pictures, like ActivityIndex; every answer names its rule.
//
//   IdleGaps gaps(trace, index);
//   for (const IdleGaps::Line& line : gaps.lines()) Show(line.device, line.stream, line.idle_ns);
//   if (auto gap = gaps.At(line, time_ns)) Say(Name(gaps.Gap(*gap).cause), Rule(gaps.Gap(*gap)));
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

// In the order in which they are looked for; the first that holds is the cause.
enum class IdleCause : uint8_t {
  kMemory,           // the host was in cudaMalloc or cudaFree for a good part of it
  kSynchronization,  // the host was waiting for the device, with nothing queued behind
  kHost,             // what ran next was asked for only when the gap had begun
  kOtherStream,      // what ran next was queued, and began when another stream came to an end
  kUnknown,          // it was queued, or nobody says when it was
};
inline constexpr int kIdleCauseCount = 5;

std::string_view Name(IdleCause cause);  // "host"
std::string_view Rule(IdleCause cause);  // by what it is told, a sentence

struct IdleGap {
  int64_t begin_ns = 0, end_ns = 0;
  uint32_t before = kNoRow, after = kNoRow;  // rows of Trace::activities
  IdleCause cause = IdleCause::kUnknown;
  uint32_t evidence = kNoRow;  // the call or the activity that the cause was told by
};

class IdleGaps {
 public:
  // Shorter ones are what lies between any two kernels.
  static constexpr int64_t kShortest = 2'000;
  // A stream that waits for another begins at most so much after it.
  static constexpr int64_t kHandOver = 5'000;

  // From the first to the last of its activities.
  struct Line {
    uint8_t device = 0;
    uint32_t stream = trace::kAllStreams;  // kAllStreams: the device, where no stream has work
    uint32_t gaps = 0;
    int64_t begin_ns = 0, end_ns = 0;
    uint64_t idle_ns = 0;  // in gaps
    std::array<uint64_t, kIdleCauseCount> idle_by_cause{};
  };

  IdleGaps(std::shared_ptr<const trace::Trace> trace, std::shared_ptr<const ActivityIndex> index);
  ~IdleGaps();
  IdleGaps(IdleGaps&&) noexcept;
  IdleGaps& operator=(IdleGaps&&) noexcept;

  // By device; the device's own before those of its streams.
  std::span<const Line> lines() const;
  std::optional<uint32_t> LineOf(uint8_t device, uint32_t stream) const;
  // As ActivityIndex's, with numbers of gaps in place of rows; `look` is the IdleCause.
  LaneView Query(uint32_t line, int64_t begin_ns, int64_t end_ns, int columns,
                 double min_rect_columns = 1.0) const;
  void Ask(uint32_t line, const TimeGrid& grid, double min_rect_columns, LaneView* view) const;
  // The gaps of at least `least_ns` that meet [begin_ns, end_ns), by begin.
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
