#include "profiler/exporters/end_state.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace vramscope::exporters {
namespace {

using trace::EventKind;
using trace::kNoEvent;

uint64_t EndOf(uint64_t address, uint64_t bytes) {
  return bytes > UINT64_MAX - address ? UINT64_MAX : address + bytes;
}

// Mapped stretches of one expandable segment: begin -> end, apart from each other.
class Mapped {
 public:
  void Map(uint64_t begin, uint64_t end) {
    auto it = ranges_.upper_bound(begin);
    if (it != ranges_.begin() && std::prev(it)->second >= begin) --it;
    while (it != ranges_.end() && it->first <= end) {
      begin = std::min(begin, it->first);
      end = std::max(end, it->second);
      it = ranges_.erase(it);
    }
    if (begin < end) ranges_.emplace(begin, end);
  }
  void Unmap(uint64_t begin, uint64_t end) {
    auto it = ranges_.upper_bound(begin);
    if (it != ranges_.begin() && std::prev(it)->second > begin) --it;
    while (it != ranges_.end() && it->first < end) {
      const auto [first, last] = *it;
      it = ranges_.erase(it);
      if (first < begin) ranges_.emplace(first, begin);
      if (end < last) ranges_.emplace(end, last);
    }
  }
  const std::map<uint64_t, uint64_t>& ranges() const { return ranges_; }

 private:
  std::map<uint64_t, uint64_t> ranges_;
};

std::map<uint32_t, Mapped> MappedAtEnd(const trace::Trace& trace) {
  std::map<uint32_t, Mapped> mapped;  // segment row ->
  const trace::ActivityTable& activities = trace.activities;
  for (uint32_t i = 0; i < activities.size(); ++i) {
    const trace::EventIndex event = activities.event[i];
    const EventKind kind = trace.events.kind[event];
    if (kind != EventKind::kSegmentMap && kind != EventKind::kSegmentUnmap) continue;
    const auto row = static_cast<uint32_t>(trace.events.id[event]);
    if (trace.segments.free_event[row] != kNoEvent) continue;
    const uint64_t begin = activities.address[i];
    const uint64_t end = EndOf(begin, trace.events.bytes[event]);
    if (kind == EventKind::kSegmentMap) {
      mapped[row].Map(begin, end);
    } else {
      mapped[row].Unmap(begin, end);
    }
  }
  return mapped;
}

}  // namespace

std::vector<EndSegment> EndState(const trace::Trace& trace) {
  const trace::SegmentTable& segments = trace.segments;
  const trace::AllocationTable& allocations = trace.allocations;
  std::vector<EndSegment> result;
  const auto add = [&](uint32_t row, uint64_t begin, uint64_t end) {
    if (begin < end) result.push_back({begin, end - begin, row, segments.device[row], {}});
  };
  const std::map<uint32_t, Mapped> mapped = MappedAtEnd(trace);
  for (uint32_t row = 0; row < segments.size(); ++row) {
    if (segments.free_event[row] != kNoEvent) continue;
    if (segments.expandable[row] == 0) {
      add(row, segments.address[row], EndOf(segments.address[row], segments.bytes[row]));
    } else if (const auto it = mapped.find(row); it != mapped.end()) {
      for (const auto& [begin, end] : it->second.ranges()) add(row, begin, end);
    }
  }
  const auto by_place = [](const EndSegment& a, const EndSegment& b) {
    return std::tie(a.device, a.address) < std::tie(b.device, b.address);
  };
  std::sort(result.begin(), result.end(), by_place);

  std::vector<uint32_t> alive;
  for (uint32_t a = 0; a < allocations.size(); ++a) {
    if (allocations.free_event[a] == kNoEvent && allocations.bytes_rounded[a] > 0)
      alive.push_back(a);
  }
  std::sort(alive.begin(), alive.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(allocations.device[a], allocations.address[a]) <
           std::tie(allocations.device[b], allocations.address[b]);
  });

  const size_t held = result.size();
  size_t at = 0;  // segment that the next block may lie in
  for (const uint32_t a : alive) {
    const uint8_t device = allocations.device[a];
    const uint64_t begin = allocations.address[a];
    const uint64_t end = EndOf(begin, allocations.bytes_rounded[a]);
    while (at < held &&
           (result[at].device < device ||
            (result[at].device == device && EndOf(result[at].address, result[at].bytes) <= begin)))
      ++at;
    if (at == held || result[at].device != device || begin < result[at].address ||
        end - result[at].address > result[at].bytes) {
      result.push_back({begin, end - begin, UINT32_MAX, device, {{begin, end - begin, a}}});
      continue;
    }
    EndSegment& segment = result[at];
    const uint64_t cursor = segment.blocks.empty()
                                ? segment.address
                                : segment.blocks.back().address + segment.blocks.back().bytes;
    if (begin < cursor) continue;  // of a damaged trace: two blocks in one place
    if (begin > cursor) segment.blocks.push_back({cursor, begin - cursor, EndBlock::kFree});
    segment.blocks.push_back({begin, end - begin, a});
  }
  for (size_t i = 0; i < held; ++i) {
    EndSegment& segment = result[i];
    const uint64_t used =
        segment.blocks.empty()
            ? 0
            : segment.blocks.back().address + segment.blocks.back().bytes - segment.address;
    if (used < segment.bytes)
      segment.blocks.push_back({segment.address + used, segment.bytes - used, EndBlock::kFree});
  }
  std::stable_sort(result.begin(), result.end(), by_place);
  return result;
}

}  // namespace vramscope::exporters
