// Which activities belong to one call, and which slices lie around a moment. What ActivityIndex
// answers from, beside its tracks. Internal to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "profiler/query/activity_index.h"
#include "profiler/trace/trace.h"

namespace vramscope::query {

// By correlation.
class Correlations {
 public:
  explicit Correlations(const trace::ActivityTable& activities);
  // Calls of the runtime, then of the driver, then the others; within these by begin.
  std::span<const uint32_t> Of(uint64_t correlation) const;
  size_t MemoryBytes() const {
    return rows_.capacity() * sizeof(uint32_t) + samples_.capacity() * sizeof(uint64_t);
  }

 private:
  // A search looks at every so manieth correlation, which lie side by side, and then at rows.
  static constexpr size_t kSample = 32;

  const trace::ActivityTable& activities_;
  std::vector<uint32_t> rows_;     // of those that have one
  std::vector<uint64_t> samples_;  // of rows 0, kSample, 2 kSample, ... of them
};

// How slices of a kind nest: those of a thread, of steps, micro-batches and phases those of a
// process.
class SliceNesting {
 public:
  explicit SliceNesting(const trace::Trace& trace);

  // The innermost of the thread that holds the moment; one that begins at it and takes no time
  // holds it.
  uint32_t At(trace::SliceKind kind, uint32_t thread, int64_t time_ns) const;
  // The innermost op that is open at the event, of any thread of the device's process. `name` where
  // several threads have one: that of this name first.
  uint32_t OpAround(trace::EventIndex event, uint8_t device, trace::StringId name) const;
  // Likewise the last that begins before.
  uint32_t OpBefore(trace::EventIndex event, uint8_t device) const;
  size_t MemoryBytes() const;

 private:
  using Key = std::pair<trace::SliceKind, uint32_t>;
  static Key KeyOf(trace::SliceKind kind, uint32_t thread);
  // visit(row) of the last op that begins before the event, of every thread.
  template <class Visit>
  void LastOfThreads(trace::EventIndex event, uint8_t device, Visit visit) const;

  const trace::SliceTable& slices_;
  std::vector<uint32_t> holder_;  // by row: the slice of its nest that holds it, kNoRow
  std::map<Key, std::vector<uint32_t>> nests_;  // rows by begin
  bool several_processes_ = false;
  std::array<uint8_t, 256> process_of_device_{};
};

}  // namespace vramscope::query
