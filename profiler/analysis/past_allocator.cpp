#include "profiler/analysis/past_allocator.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "profiler/base/hash_map.h"

namespace vramscope::analysis {

using trace::ActivityKind;

namespace {

// Decides whether a driver allocation is memory of the allocator's segments.
class SegmentMemory {
 public:
  explicit SegmentMemory(const trace::SegmentTable& segments) {
    for (uint32_t s = 0; s < segments.size(); ++s) {
      if (segments.expandable[s] != 0) {
        uint64_t& end = expandable_[segments.address[s]];
        end = std::max(end, segments.address[s] + segments.bytes[s]);
      } else {
        whole_.emplace(segments.address[s], segments.bytes[s]);
      }
    }
  }
  // In an expandable segment's address range, CUPTI reports every driver allocation that is
  // mapped.
  bool Holds(uint64_t address, uint64_t bytes) const {
    if (whole_.contains({address, bytes})) return true;
    const auto after = expandable_.upper_bound(address);
    if (after == expandable_.begin()) return false;
    const auto& [begin, end] = *std::prev(after);
    return address < end && bytes <= end - address;
  }

 private:
  base::HashSet<std::pair<uint64_t, uint64_t>> whole_;  // (address, bytes)
  std::map<uint64_t, uint64_t> expandable_;             // begin to end
};

}  // namespace

std::vector<uint32_t> PastAllocatorRows(const trace::Trace& trace) {
  const trace::ActivityTable& a = trace.activities;
  std::vector<uint32_t> rows;
  std::optional<SegmentMemory> segments;
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (a.kind[row] == ActivityKind::kDriverFree) {
      rows.push_back(row);
    } else if (a.kind[row] == ActivityKind::kDriverAlloc &&
               a.to[row] == trace::MemorySpace::kDevice) {
      if (!segments) segments.emplace(trace.segments);
      // Leaves out driver allocations that are segments of the caching allocator.
      if (!segments->Holds(a.address[row], a.bytes[row])) rows.push_back(row);
    }
  }
  return rows;
}

GpuUse MostUsed(const trace::Trace& trace, const MemoryCurves& curves, const Peak& peak) {
  const std::vector<uint32_t> rows = PastAllocatorRows(trace);
  if (rows.empty()) return {.reserved = peak.reserved};
  const trace::ActivityTable& a = trace.activities;
  GpuUse most, now;
  const auto look = [&] {
    if (now.sum() > most.sum()) most = now;
  };
  size_t point = 0;
  const auto to = [&](int64_t before_ns) {
    for (; point < curves.size() && curves.time_ns[point] < before_ns; ++point) {
      now.reserved = curves.reserved[point];
      look();
    }
  };
  base::HashMap<uint64_t, uint64_t> live;  // address to bytes
  for (const uint32_t row : rows) {
    to(a.begin_ns[row]);
    uint64_t& bytes = live[a.address[row]];
    now.past_allocator -= bytes;
    bytes = a.kind[row] == ActivityKind::kDriverAlloc ? a.bytes[row] : 0;
    now.past_allocator += bytes;
    look();
  }
  to(INT64_MAX);
  return most;
}

}  // namespace vramscope::analysis
