#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/recording/recording.h"

namespace vramscope::recording {
namespace {

using trace::Category;

class RecordedCategories {
 public:
  RecordedCategories(const Recording& r, const History& h, Labels& labels)
      : entries_(r.entries),
        allocations_(h.allocations),
        history_(h),
        labels_(labels),
        complete_(r.labels_are_complete),
        has_recorded_category_(allocations_.size(), false) {
    for (const SegmentState& s : r.segments)
      for (const BlockState& b : s.blocks)
        if (b.recorded_category != Category::kUnknown)
          at_end_[{s.device, b.address}] = b.recorded_category;
  }

  void Take() {
    if (entries_.recorded_category.empty() && at_end_.empty() && !complete_) return;
    for (uint32_t row = 0; row < allocations_.size(); ++row) Say(row, OfBlock(row));
    std::vector<Labels::Retag> changes = Changes();
    std::erase_if(labels_.retags,
                  [&](const Labels::Retag& r) { return has_recorded_category_[r.allocation]; });
    if (changes.empty()) return;
    const auto middle = labels_.retags.insert(labels_.retags.end(), changes.begin(), changes.end());
    std::inplace_merge(labels_.retags.begin(), middle, labels_.retags.end(),
                       [](const auto& x, const auto& y) { return x.at < y.at; });
  }

 private:
  Category OfEntry(EntryIndex i) const {
    return i == kNoEntry || entries_.recorded_category.empty() ? Category::kUnknown
                                                               : entries_.recorded_category[i];
  }

  // The file has the category in the entry of the allocation. If there is no such entry, the
  // category is in the block (if the block exists at the end) or, for older blocks, in the entry of
  // the free.
  Category OfBlock(uint32_t row) const {
    Category category = OfEntry(allocations_.alloc[row]);
    if (category == Category::kUnknown && allocations_.alloc[row] == kNoEntry) {
      category = OfEntry(allocations_.free_requested[row]);
      if (category == Category::kUnknown) category = OfEntry(allocations_.free_completed[row]);
    }
    if (category == Category::kUnknown && allocations_.free_completed[row] == kNoEntry) {
      const auto block = at_end_.find({allocations_.device[row], allocations_.address[row]});
      if (block != at_end_.end()) category = block->second;
    }
    return category;
  }

  void Say(uint32_t row, Category category) {
    if (category == Category::kUnknown && !complete_) return;
    has_recorded_category_[row] = true;
    labels_.category[row] = category;
    labels_.rule[row] = 0;
  }

  std::vector<Labels::Retag> Changes() {
    std::vector<Labels::Retag> changes;
    if (std::find(entries_.action.begin(), entries_.action.end(), Action::kCategory) ==
        entries_.action.end())
      return changes;
    base::HashMap<std::pair<uint8_t, uint64_t>, uint32_t> live;
    for (uint32_t row = 0; row < history_.older; ++row)
      live[{allocations_.device[row], allocations_.address[row]}] = row;
    // For each device: whether an entry other than kCategory has occurred.
    std::array<bool, 256> began = {};
    for (EntryIndex i = 0; i < entries_.size(); ++i) {
      const std::pair<uint8_t, uint64_t> place(entries_.DeviceOf(i), entries_.address[i]);
      const uint32_t row = history_.allocation_of_entry[i];
      if (row < allocations_.size() && entries_.action[i] == Action::kAlloc) live[place] = row;
      if (row < allocations_.size() && entries_.action[i] == Action::kFreeCompleted)
        live.erase(place);
      if (entries_.action[i] != Action::kCategory) {
        began[entries_.DeviceOf(i)] = true;
        continue;
      }
      const Category category = OfEntry(i);
      if (category == Category::kUnknown && !complete_) continue;
      const auto block = live.find(place);
      if (block == live.end()) continue;
      const EntryIndex made = allocations_.alloc[block->second];
      if (made == kNoEntry ? !began[entries_.DeviceOf(i)] : i > 0 && made == i - 1) {
        Say(block->second, category);
      } else {
        has_recorded_category_[block->second] = true;
        changes.push_back({i, block->second, category, 0});
      }
    }
    return changes;
  }

  const EntryTable& entries_;
  const History::Allocations& allocations_;
  const History& history_;
  Labels& labels_;
  const bool complete_;                      // blocks without a stated category are unknown
  std::vector<bool> has_recorded_category_;  // indexed by allocation
  base::HashMap<std::pair<uint8_t, uint64_t>, Category> at_end_;
};

}  // namespace

void ApplyRecordedLabels(const Recording& recording, const History& history, Labels& labels) {
  RecordedCategories(recording, history, labels).Take();
}

}  // namespace vramscope::recording
