// For ActivityIndex: finds the activities of an API call, and the slices that are open at a given
// time. Internal to this folder.
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

// Activities by correlation.
class Correlations {
 public:
  explicit Correlations(const trace::ActivityTable& activities);
  // Returns the runtime calls, the driver calls, then other activities. Each group is sorted by
  // begin.
  std::span<const uint32_t> Of(uint64_t correlation) const;
  size_t MemoryBytes() const {
    return rows_.capacity() * sizeof(uint32_t) + samples_.capacity() * sizeof(uint64_t);
  }

 private:
  // A search first reads samples_, which has every kSample-th correlation, then a part of rows_.
  static constexpr size_t kSample = 32;

  const trace::ActivityTable& activities_;
  std::vector<uint32_t> rows_;     // activities with a correlation, sorted by correlation
  std::vector<uint64_t> samples_;  // correlations of rows 0, kSample, 2 kSample, ...
};

// The nesting of the slices of one kind on one thread. (For steps, micro-batches and phases: in one
// process.)
class SliceNesting {
 public:
  explicit SliceNesting(const trace::Trace& trace);

  // Returns the innermost slice that is open on the thread at the time. A slice of zero length is
  // open when it begins.
  uint32_t At(trace::SliceKind kind, uint32_t thread, int64_t time_ns) const;
  // Returns the innermost op that is open at the event, on any thread of the device's process. If
  // several threads have an open op, prefers one called `name`.
  uint32_t OpAround(trace::EventIndex event, uint8_t device, trace::StringId name) const;
  // Returns the last op that begins before the event, on any thread of the device's process.
  uint32_t OpBefore(trace::EventIndex event, uint8_t device) const;
  size_t MemoryBytes() const;

 private:
  using Key = std::pair<trace::SliceKind, uint32_t>;
  static Key KeyOf(trace::SliceKind kind, uint32_t thread);
  // Calls visit(row) for the last op of every thread that begins before the event.
  template <class Visit>
  void LastOfThreads(trace::EventIndex event, uint8_t device, Visit visit) const;

  const trace::SliceTable& slices_;
  std::vector<uint32_t> holder_;  // row -> enclosing slice of its kind and thread, or kNoRow
  std::map<Key, std::vector<uint32_t>> nests_;  // rows sorted by begin
  bool several_processes_ = false;
  std::array<uint8_t, 256> process_of_device_{};
};

}  // namespace vramscope::query
