#include "profiler/trace/activity_sorter.h"

#include <algorithm>

#include "profiler/trace/activity_codec.h"
#include "profiler/trace/columns.h"

namespace vramscope::trace {

void ActivitySorter::Add(std::vector<Activity>& batch) {
  if (batch.empty()) return;
  SortByBegin(batch);
  const PackedColumn<int64_t>& begins = table_.begin_ns;
  const auto from = static_cast<uint32_t>(
      !settled_ ? begins.size()
                : std::upper_bound(begins.begin(), begins.end(), batch.front().begin_ns) -
                      begins.begin());
  const uint32_t moved = table_.size() - from;
  if (moved > kMostMoved * batch.size()) settled_ = false;
  if (moved == 0 || !settled_) {
    for (const Activity& activity : batch) table_.Append(activity);
    return;
  }
  late_.clear();
  for (uint32_t row = from; row < table_.size(); ++row) late_.push_back(table_.Row(row));
  ForEachColumn([from](auto& column) { column.resize(from); }, table_);
  unchanged_ = std::min(unchanged_, from);
  // Rows already in the table precede new rows with the same begin.
  size_t at = 0;
  for (const Activity& activity : batch) {
    while (at < late_.size() && late_[at].begin_ns <= activity.begin_ns) table_.Append(late_[at++]);
    table_.Append(activity);
  }
  while (at < late_.size()) table_.Append(late_[at++]);
}

void ActivitySorter::Settle() {
  if (settled_) return;
  SortActivities(table_);
  unchanged_ = 0;
  settled_ = true;
}

}  // namespace vramscope::trace
