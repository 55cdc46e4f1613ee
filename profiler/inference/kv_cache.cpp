#include "profiler/inference/kv_cache.h"

#include <utility>

#include "profiler/base/hash_map.h"

namespace vramscope::inference {
namespace {

// At least this many blocks must grow alike: a cache has a block for each layer of the model. Lists
// of tokens grow in every pass, too, but a program has only a few of them.
constexpr uint32_t kFewestAlike = 4;
constexpr uint32_t kFewestPasses = 4;  // number of passes in which a block must grow

}  // namespace

std::vector<Grows> FindGrowing(const recording::History& history, const Lives& lives,
                               EntryIndex entries) {
  const auto& bytes = history.allocations.requested;
  const uint32_t count = history.allocations.size();
  constexpr uint32_t kNone = UINT32_MAX;
  // For each block: the block that it replaces, and the number of replacements up to it.
  std::vector<uint32_t> replaced(count, kNone), length(count, 0);
  std::vector<bool> last(count, true);
  for (uint32_t a = history.older; a < count; ++a) {
    const EntryIndex until = a + 1 < count ? lives.born[a + 1] : entries;
    // Before the next allocation, a growing cache frees two blocks: the block that it replaces, and
    // the smaller block of the new token.
    uint32_t& old = replaced[a];
    for (EntryIndex i = lives.born[a] + 1; i < until; ++i) {
      const uint32_t gone = history.allocation_of_entry[i];
      if (gone >= a || lives.dead[gone] != i || bytes[gone] >= bytes[a]) continue;
      if (old == kNone || bytes[gone] > bytes[old]) old = gone;
    }
    if (old == kNone) continue;
    const bool steady =
        length[old] == 0 || bytes[a] - bytes[old] == bytes[old] - bytes[replaced[old]];
    length[a] = steady ? length[old] + 1 : 1;
    last[old] = false;
  }
  // Chains are alike if they begin with the same size and grow by the same amount. The recording
  // may end within a pass, so lengths can differ.
  base::HashMap<std::pair<uint64_t, uint64_t>, std::vector<uint32_t>> alike;
  for (uint32_t a = 0; a < count; ++a) {
    if (!last[a] || length[a] < kFewestPasses) continue;
    uint32_t begin = a;
    for (uint32_t left = length[a]; left > 0; --left) begin = replaced[begin];
    alike[{bytes[begin], bytes[a] - bytes[replaced[a]]}].push_back(a);
  }
  std::vector<Grows> grows;
  for (const auto& [kind, ends] : alike) {
    if (ends.size() < kFewestAlike) continue;
    if (grows.empty()) grows.assign(count, Grows::kNo);
    for (uint32_t at : ends) {
      for (uint32_t left = length[at]; left > 0; --left, at = replaced[at]) {
        grows[at] = Grows::kYes;
      }
      grows[at] = Grows::kFrom;
    }
  }
  return grows;
}

}  // namespace vramscope::inference
