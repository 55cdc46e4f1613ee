#include "profiler/analysis/past_allocator.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <utility>

namespace vramscope::analysis {

using trace::ActivityKind;

std::vector<uint32_t> PastAllocatorRows(const trace::Trace& trace) {
  const trace::ActivityTable& a = trace.activities;
  std::vector<uint32_t> rows;
  absl::flat_hash_set<std::pair<uint64_t, uint64_t>> segments;  // address, bytes
  bool have_segments = false;
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (a.kind[row] == ActivityKind::kDriverFree) {
      rows.push_back(row);
    } else if (a.kind[row] == ActivityKind::kDriverAlloc &&
               a.to[row] == trace::MemorySpace::kDevice) {
      if (!have_segments)
        for (uint32_t s = 0; s < trace.segments.size(); ++s)
          segments.emplace(trace.segments.address[s], trace.segments.bytes[s]);
      have_segments = true;
      // Else it is the allocator's own cudaMalloc, and in its segments already.
      if (!segments.contains({a.address[row], a.bytes[row]})) rows.push_back(row);
    }
  }
  return rows;
}

CardUse MostUsed(const trace::Trace& trace, const MemoryCurves& curves, const Peak& peak) {
  const std::vector<uint32_t> rows = PastAllocatorRows(trace);
  if (rows.empty()) return {.reserved = peak.reserved};
  const trace::ActivityTable& a = trace.activities;
  CardUse most, now;
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
  absl::flat_hash_map<uint64_t, uint64_t> live;  // address: bytes
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
