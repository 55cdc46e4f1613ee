#include "profiler/inference/rows.h"

#include <array>
#include <map>
#include <utility>

namespace vramscope::inference {
namespace {

using recording::Action;
using recording::History;
using recording::Recording;

// Gradients that are freed together must have been allocated in at least this many places of
// backward (see PlaceOf).
constexpr uint32_t kFewestPlaces = 3;
constexpr uint32_t kMostOfPlace = 8;
// The minimum that applies instead of kFewestPlaces if the gradients have less than half as many
// different sizes as the parameters, or if FirstGradient() does not recognize them as gradients.
constexpr uint32_t kManyPlaces = 16;
// The maximum number of never-freed blocks that belong to one gradient: its parameter and up to
// three states.
constexpr uint32_t kMostOfEach = 4;
constexpr int64_t kOlder = -1;  // older than the recording

}  // namespace

Rows::Rows(const Recording& recording, const History& history, const Lives& lives)
    : history_(history),
      lives_(lives),
      entry_count_(recording.entries.size()),
      rows_(history.allocations.size() - history.older) {
  for (uint32_t a = 0; a < history.allocations.size(); ++a) {
    if (lives.dead[a] < entry_count_) continue;
    stay_[history.allocations.requested[a]].push_back(a < history.older ? kOlder : lives.born[a]);
  }
  FindDropped(recording);
}

// Finds runs of frees without an allocation in between. The freed blocks must have the sizes of
// parameters, and must have been allocated in separate places, unlike an optimizer's temporaries.
void Rows::FindDropped(const Recording& recording) {
  place_.resize(rows_);
  std::vector<uint32_t> members, places;
  std::map<std::vector<uint64_t>, std::vector<Dropped>> unsure;  // key: sizes of the blocks
  uint32_t run = 0;
  bool freeing = false;
  const auto close = [&](EntryIndex end) {
    uint64_t bytes = 0, sized = 0;
    places.clear();
    // An optimizer allocates each of its lists of temporaries consecutively.
    base::HashMap<uint32_t, uint32_t> of_place;
    for (const uint32_t row : members) ++of_place[place_[row]];
    std::erase_if(members, [&](uint32_t row) { return of_place[place_[row]] > kMostOfPlace; });
    for (const uint32_t row : members) {
      bytes += Bytes(row);
      if (!ParameterSized(row)) continue;
      sized += Bytes(row);
      places.push_back(place_[row]);
    }
    std::sort(places.begin(), places.end());
    const auto distinct =
        static_cast<uint32_t>(std::unique(places.begin(), places.end()) - places.begin());
    if (distinct >= kFewestPlaces && sized * 10 >= bytes * 9) {
      if (const auto first = FirstGradient(members, distinct)) {
        dropped_.push_back({*first, end, distinct});
      } else if (distinct >= kManyPlaces) {
        std::vector<uint64_t> sizes;
        for (const uint32_t row : members) sizes.push_back(Bytes(row));
        std::sort(sizes.begin(), sizes.end());
        unsure[std::move(sizes)].push_back({Dead(members.front()), end, distinct});
      }
    }
    members.clear();
  };
  const EntryIndex stop = std::min(entry_count_, lives_.teardown);
  for (EntryIndex i = 0; i < stop; ++i) {
    const uint32_t a = history_.allocation_of_entry[i];
    if (a >= history_.allocations.size()) continue;
    if (recording.entries.action[i] == Action::kAlloc) {
      if (freeing) {
        close(i);
        ++run;
      }
      freeing = false;
      if (a >= history_.older) place_[a - history_.older] = run;
    } else if (lives_.dead[a] == i) {
      freeing = true;
      if (a >= history_.older) members.push_back(a - history_.older);
    }
  }
  if (freeing) close(stop);
  // If frozen blocks (in a 4-bit base with adapters) have the same sizes as gradients, the number
  // of blocks that are never freed is no multiple of the number of gradients. In that case, runs
  // are accepted if several of them free the same sizes.
  if (dropped_.empty()) {
    for (const auto& [sizes, drops] : unsure)
      if (drops.size() > 1) dropped_.insert(dropped_.end(), drops.begin(), drops.end());
    std::ranges::sort(dropped_, {}, &Dropped::begin);
  }
  uint32_t most = 0;
  for (const Dropped& d : dropped_) most = std::max(most, d.places);
  std::erase_if(dropped_, [&](const Dropped& d) { return d.places * 2 < most; });
}

// Returns the entry at which the first gradient in `members` is freed, or nullopt if `members` are
// not gradients. There is one gradient per trained parameter, so for all sizes, the number of
// blocks that are never freed is the same multiple of the number of gradients. If the optimizer
// allocates nothing, `members` begins with the last frees of backward: parts of a gradient that was
// summed up.
std::optional<EntryIndex> Rows::FirstGradient(const std::vector<uint32_t>& members,
                                              uint32_t places) const {
  base::HashMap<uint64_t, uint32_t> of_size;
  EntryIndex first = entry_count_;
  for (const uint32_t row : members) {
    if (!ParameterSized(row)) continue;
    ++of_size[Bytes(row)];
    first = std::min(first, Born(row));
  }
  if (places < kManyPlaces) {
    size_t sizes = 0;
    for (const auto& [bytes, born] : stay_) sizes += bytes > kScalar && born.front() < first;
    if (of_size.size() * 2 < sizes) return std::nullopt;
  }
  std::array<uint32_t, kMostOfEach + 1> votes{};
  for (const auto& [bytes, count] : of_size) {
    const uint32_t stay = StayBefore(bytes, first);
    if (stay > 0 && stay % count == 0 && stay / count <= kMostOfEach) ++votes[stay / count];
  }
  const auto most = std::max_element(votes.begin(), votes.end());
  if (*most == 0 || *most * 2 < of_size.size()) return std::nullopt;
  const auto each = static_cast<uint32_t>(most - votes.begin());
  for (const uint32_t row : members) {
    const auto it = of_size.find(Bytes(row));
    if (it != of_size.end() && it->second-- <= StayBefore(Bytes(row), first) / each) {
      return Dead(row);
    }
  }
  return std::nullopt;
}

}  // namespace vramscope::inference
