#include "profiler/inference/pass_finder.h"

#include <algorithm>

#include "profiler/base/hash_map.h"

namespace vramscope::inference {
namespace {

// kPeakHeight is the minimum height of a peak, relative to the highest one. A rise is no peak if at
// least kHumpParameterSized of its bytes are in blocks with the sizes of parameters, unless these
// blocks were allocated in many places.
constexpr double kPeakHeight = 0.3, kHumpParameterSized = 0.7;
// At the beginning of a pass, this many allocations must match the next pass. If the pass has
// fewer, all must match.
constexpr uint32_t kOfPass = 400;

}  // namespace

bool PassFinder::Similar(uint32_t first, uint32_t second) const {
  if (rows_.Bytes(first) != rows_.Bytes(second)) return false;
  uint32_t skipped = 0, a = first, b = second;
  for (; b < second + kSignature && a < rows_.size(); ++a) {
    if (rows_.Bytes(a) == rows_.Bytes(b)) {
      ++b;
    } else if (++skipped > 2) {
      return false;
    }
  }
  return b == second + kSignature;
}

std::vector<uint32_t> PassFinder::Heights(uint32_t first, uint32_t last, EntryIndex from,
                                          EntryIndex until, bool with_older) const {
  std::vector<int32_t> change(last - first + 1, 0);
  const auto let_go = [&](EntryIndex dead) {
    const uint32_t row = rows_.RowAt(dead);
    if (row < last) --change[row > first ? row - first : 0];
  };
  for (uint32_t row = first; row < last; ++row) {
    if (rows_.Dead(row) >= until) continue;
    ++change[row - first + 1];
    let_go(rows_.Dead(row));
  }
  if (with_older) {
    for (uint32_t a = 0; a < history_.older; ++a) {
      if (lives_.dead[a] <= from || lives_.dead[a] >= until) continue;
      if (rows_.StayBefore(history_.allocations.requested[a], 0) > 0) continue;
      ++change[0];
      let_go(lives_.dead[a]);
    }
  }
  std::vector<uint32_t> heights(last - first);
  int32_t height = 0;
  for (uint32_t i = 0; i < heights.size(); ++i) {
    height += change[i];
    heights[i] = static_cast<uint32_t>(std::max(height, 0));
  }
  return heights;
}

std::vector<LivePeak> PassFinder::FindPeaks(uint32_t first, uint32_t last, EntryIndex until,
                                            const std::vector<uint32_t>& heights) const {
  std::vector<LivePeak> peaks;
  uint32_t highest = 0, held_before = 0;
  for (uint32_t row = first; row < last;) {
    LivePeak peak{row, row + 1, heights[row - first]};
    bool held = false;
    for (; peak.end < last && heights[peak.end - first] > 0 && !held; ++peak.end) {
      peak.height = std::max(peak.height, heights[peak.end - first]);
      held = BeginsAgain(peak, peak.end + 1, last, first, heights);
    }
    row = peak.end;
    if (held) held_before = heights[row - first];
    if (held || (row == last && held_before > 0)) {
      EndWhereItFirstFell(peak, held_before, first, heights);
    }
    uint64_t bytes = 0, sized = 0;
    for (uint32_t of = peak.begin; of < peak.end; ++of) {
      if (rows_.Dead(of) >= until) continue;
      bytes += rows_.Bytes(of);
      sized += rows_.ParameterSized(of) ? rows_.Bytes(of) : 0;
    }
    if (static_cast<double>(sized) >= kHumpParameterSized * static_cast<double>(bytes) &&
        !MadeHereAndThere(peak, until, first, heights)) {
      continue;
    }
    highest = std::max(highest, peak.height);
    peaks.push_back(peak);
  }
  std::erase_if(peaks, [&](const LivePeak& h) { return h.height < kPeakHeight * highest; });
  return peaks;
}

bool PassFinder::MadeHereAndThere(const LivePeak& peak, EntryIndex until, uint32_t first,
                                  const std::vector<uint32_t>& heights) const {
  uint32_t top = peak.begin;
  while (top < peak.end && heights[top - first] < peak.height) ++top;
  uint32_t there = 0, places = 0, last_place = UINT32_MAX;
  for (uint32_t row = peak.begin; row < top; ++row) {
    if (rows_.Dead(row) < rows_.Born(top) || rows_.Dead(row) >= until) continue;
    ++there;
    places += rows_.PlaceOf(row) != last_place;
    last_place = rows_.PlaceOf(row);
  }
  return there >= kSavedBlocks && places * 3 >= there;
}

bool PassFinder::BeginsAgain(const LivePeak& peak, uint32_t row, uint32_t last, uint32_t first,
                             const std::vector<uint32_t>& heights) const {
  return row + kSignature <= last && row >= peak.begin + kSignature &&
         peak.height >= kTrainingHeight && heights[row - first] <= kHeldBlocks &&
         Similar(peak.begin, row) && GoesOnAlike(peak.begin, row, last);
}

bool PassFinder::GoesOnAlike(uint32_t first, uint32_t second, uint32_t last) const {
  const uint32_t count = std::min({second - first, last - second, kOfPass});
  uint32_t a = first, skipped = 0;
  for (uint32_t b = second; b < second + count; ++b, ++a) {
    if (rows_.Bytes(a) == rows_.Bytes(b)) continue;
    // One of the two passes has allocations that the other pass lacks.
    uint32_t skip = 1;
    while (skip <= kMostSkipped && b + skip + 1 < last && rows_.Bytes(a + skip) != rows_.Bytes(b) &&
           rows_.Bytes(a) != rows_.Bytes(b + skip))
      ++skip;
    if (skip > kMostSkipped || (skipped += skip) > kMostSkipped + count / 32) return false;
    (rows_.Bytes(a + skip) == rows_.Bytes(b) ? a : b) += skip;
  }
  return true;
}

bool PassFinder::RunsAgain(const LivePeak& pass, const LivePeak& part) const {
  const uint32_t rows = part.end - part.begin;
  if (rows * 4 > pass.end - pass.begin || rows < 2 * kSignature) return false;
  base::HashSet<uint64_t> windows;
  for (uint32_t row = pass.begin; row + kSignature <= pass.end; ++row)
    windows.insert(WindowAt(row));
  uint32_t again = 0;
  for (uint32_t row = part.begin; row < part.begin + kSignature; ++row)
    again += windows.contains(WindowAt(row));
  return again * 2 >= kSignature;
}

uint64_t PassFinder::WindowAt(uint32_t row) const {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < kSignature / 2 && row + i < rows_.size(); ++i)
    hash = (hash + rows_.Bytes(row + i)) * 0x9E3779B97F4A7C15;
  return hash;
}

void PassFinder::EndWhereItFirstFell(LivePeak& peak, uint32_t held, uint32_t first,
                                     const std::vector<uint32_t>& heights) const {
  uint32_t row = peak.begin;
  while (heights[row - first] < kPeakHeight * peak.height) ++row;
  while (row < peak.end && heights[row - first] > held) ++row;
  peak.end = row;
}

bool PassFinder::SavesForBackward(const LivePeak& peak, uint32_t middle) const {
  std::vector<uint32_t> saved;
  for (uint32_t row = peak.begin; row < middle; ++row) {
    if (rows_.Dead(row) >= rows_.Born(middle) && rows_.Dead(row) < rows_.entries())
      saved.push_back(row);
  }
  // In this case, the recording began in backward.
  if (peak.begin == 0 && history_.older > 0 && saved.empty()) return true;
  if (saved.size() < kSavedBlocks) return false;
  return (saved[saved.size() / 2] - peak.begin) * 10 < (middle - peak.begin) * 9;
}

}  // namespace vramscope::inference
