
#include <algorithm>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/inference/lifetimes.h"

namespace vramscope::inference {

using recording::History;

Recomputed FindRecomputed(const History& history, const Lives& lives, const Timeline& timeline) {
  constexpr uint32_t kWindow = 6, kDistinct = 3;
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  Recomputed found;
  const auto row_at = [&](EntryIndex entry) {
    const auto begin = lives.born.begin() + history.older;
    return history.older +
           static_cast<uint32_t>(std::lower_bound(begin, lives.born.end(), entry) - begin);
  };
  const auto& bytes = history.allocations.requested;
  // Returns a hash of the sizes in the window at `a`, or 0 if too few different sizes occur.
  const auto window = [&](uint32_t a) {
    uint64_t hash = 0;
    uint32_t distinct = 0;
    for (uint32_t i = a; i < a + kWindow; ++i) {
      hash = hash * kFactor + bytes[i] + 1;
      distinct += std::find(bytes.begin() + a, bytes.begin() + i, bytes[i]) == bytes.begin() + i;
    }
    return distinct < kDistinct ? 0 : hash;
  };
  const std::vector<PassRange> passes = Passes(timeline);
  base::HashMap<uint64_t, std::vector<uint32_t>> forward;
  for (size_t p = 0; p + 1 < passes.size(); ++p) {
    if (passes[p].pass != Pass::kForward || passes[p + 1].pass != Pass::kBackward) continue;
    const uint32_t f0 = row_at(passes[p].begin), f1 = row_at(passes[p].end);
    const uint32_t b0 = row_at(passes[p + 1].begin), b1 = row_at(passes[p + 1].end);
    base::HashSet<uint64_t> known, again;
    for (uint32_t a = f0; a + kWindow <= f1; ++a) {
      if (const uint64_t h = window(a)) known.insert(h);
    }
    std::vector<bool> covered(b1 - b0);
    for (uint32_t a = b0; a + kWindow <= b1; ++a) {
      const uint64_t h = window(a);
      if (h == 0 || !known.contains(h)) continue;
      again.insert(h);
      std::fill_n(covered.begin() + (a - b0), kWindow, true);
    }
    // If backward repeats less than half of forward's windows, that is a coincidence.
    if (again.size() * 2 < known.size() || known.empty()) continue;
    for (uint32_t i = 0; i < covered.size();) {
      uint32_t j = i;
      while (j < covered.size() && covered[j]) ++j;
      if (j > i) {
        const EntryIndex end = b0 + j < lives.born.size() ? lives.born[b0 + j] : passes[p + 1].end;
        found.emplace_back(lives.born[b0 + i], std::min(end, passes[p + 1].end));
      }
      i = j + 1;
    }
  }
  return found;
}

}  // namespace vramscope::inference
