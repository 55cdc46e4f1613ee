#include "profiler/recording/segment_blocks.h"

#include <algorithm>
#include <utility>

namespace vramscope::recording {
namespace {

// Adds the used blocks in [begin, end) and the free ranges between them. `at`: the row in `used` of
// the first of these blocks.
void Fill(SegmentState& s, uint64_t begin, uint64_t end, std::span<const PlacedBlock> used,
          size_t& at) {
  const auto free_until = [&](uint64_t address) {
    if (address > begin) s.blocks.push_back({.address = begin, .bytes = address - begin});
  };
  for (; at < used.size() && used[at].device == s.device && used[at].block.address < end; ++at) {
    const BlockState& b = used[at].block;
    if (b.address < begin || b.bytes > end - b.address) continue;  // the file is damaged
    free_until(b.address);
    s.blocks.push_back(b);
    begin = b.address + b.bytes;
  }
  free_until(end);
}

}  // namespace

void LayOut(std::vector<SegmentState>& segments, std::span<const PlacedBlock> used,
            std::span<const MappedRange> mapped) {
  size_t at = 0, range = 0;
  for (SegmentState& s : segments) {
    const std::pair place(s.device, s.address);
    while (at < used.size() && std::pair(used[at].device, used[at].block.address) < place) ++at;
    const uint64_t end = s.address + s.bytes;
    if (!s.expandable) {
      Fill(s, s.address, end, used, at);
      continue;
    }
    // In `mapped`, adjacent ranges are joined, even if two segments contain them.
    while (range < mapped.size() && std::pair(mapped[range].device, mapped[range].end) <= place)
      ++range;
    while (range < mapped.size() && mapped[range].device == s.device && mapped[range].begin < end) {
      Fill(s, std::max(s.address, mapped[range].begin), std::min(end, mapped[range].end), used, at);
      if (mapped[range].end > end) break;
      ++range;
    }
  }
}

}  // namespace vramscope::recording
