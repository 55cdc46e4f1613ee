// The allocations of a recording, as rows. Also finds how many blocks of each size are never freed,
// and where gradients are freed together, because a step ends there. Used by lifetimes.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/inference/categories.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

// Immutable after construction. The arguments of the constructor must outlive it.
class Rows {
 public:
  struct Dropped {  // gradients that are freed together
    EntryIndex begin = 0, end = 0;
    uint32_t places = 0;
  };

  Rows(const recording::Recording& recording, const recording::History& history,
       const Lives& lives);

  uint32_t size() const { return rows_; }
  EntryIndex entries() const { return entry_count_; }  // number of entries in the recording
  // The places where gradients are freed together, sorted by entry. Each of them ends a step.
  const std::vector<Dropped>& dropped() const { return dropped_; }
  // The number of the row's place: a run of allocations without a free in between.
  uint32_t PlaceOf(uint32_t row) const { return place_[row]; }

  EntryIndex Born(uint32_t row) const {
    return row < rows_ ? lives_.born[history_.older + row] : entry_count_;
  }
  EntryIndex Dead(uint32_t row) const { return lives_.dead[history_.older + row]; }
  uint64_t Bytes(uint32_t row) const {
    return history_.allocations.requested[history_.older + row];
  }
  bool ParameterSized(uint32_t row) const {
    return Bytes(row) > kScalar && Bytes(row) != kBlasWorkspace &&
           StayBefore(Bytes(row), Born(row)) > 0;
  }
  // Returns the number of blocks of a size that are allocated before an entry and never freed.
  uint32_t StayBefore(uint64_t bytes, EntryIndex entry) const {
    const auto it = stay_.find(bytes);
    if (it == stay_.end()) return 0;
    const std::vector<int64_t>& born = it->second;
    return static_cast<uint32_t>(std::lower_bound(born.begin(), born.end(), int64_t{entry}) -
                                 born.begin());
  }
  uint32_t RowAt(EntryIndex entry) const {  // the first row allocated at or after the entry
    const auto begin = lives_.born.begin() + history_.older;
    return static_cast<uint32_t>(std::lower_bound(begin, lives_.born.end(), entry) - begin);
  }

 private:
  // Fills place_ and dropped_.
  void FindDropped(const recording::Recording& recording);
  std::optional<EntryIndex> FirstGradient(const std::vector<uint32_t>& members,
                                          uint32_t places) const;

  const recording::History& history_;
  const Lives& lives_;
  const EntryIndex entry_count_;
  const uint32_t rows_;
  // Keyed by size: the entries that allocate blocks which are never freed, ascending.
  base::HashMap<uint64_t, std::vector<int64_t>> stay_;
  std::vector<uint32_t> place_;  // indexed by row
  std::vector<Dropped> dropped_;
};

}  // namespace vramscope::inference
