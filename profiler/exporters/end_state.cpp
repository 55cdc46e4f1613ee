#include "profiler/exporters/end_state.h"

#include <algorithm>
#include <tuple>

#include "profiler/trace/memory_cursor.h"

namespace vramscope::exporters {
namespace {

using trace::EndOf;

}  // namespace

std::vector<EndSegment> EndState(const trace::Trace& trace) {
  const trace::SegmentTable& segments = trace.segments;
  const trace::AllocationTable& allocations = trace.allocations;
  std::vector<EndSegment> result;
  const auto add = [&](uint32_t row, uint64_t begin, uint64_t end) {
    if (begin < end) result.push_back({begin, end - begin, row, segments.device[row], {}});
  };
  const trace::MemoryCursor at_end = trace::MemoryCursor::Behind(trace, trace.events.size());
  for (const trace::SegmentId id : at_end.Segments()) {
    const uint32_t row = id.value;
    const uint64_t from = segments.address[row], to = EndOf(from, segments.bytes[row]);
    if (segments.expandable[row] == 0) {
      add(row, from, to);
      continue;
    }
    for (const auto& [begin, end] : at_end.memory(segments.device[row]).mapped().Within(from, to))
      add(row, begin, end);
  }
  const auto by_place = [](const EndSegment& a, const EndSegment& b) {
    return std::tie(a.device, a.address) < std::tie(b.device, b.address);
  };
  std::sort(result.begin(), result.end(), by_place);

  std::vector<uint32_t> alive;
  for (const trace::AllocationId id : at_end.Live())
    if (allocations.bytes_rounded[id.value] > 0) alive.push_back(id.value);
  std::sort(alive.begin(), alive.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(allocations.device[a], allocations.address[a]) <
           std::pair(allocations.device[b], allocations.address[b]);
  });

  const size_t held = result.size();
  size_t at = 0;  // segment that may contain the next block
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
    if (begin < cursor) continue;  // damaged trace: blocks overlap
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
