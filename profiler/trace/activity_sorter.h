// Keeps a table of activities by begin while batches arrive, each a little late: what comes is
// sorted by itself and merged with the rows that it overlaps. Internal to this folder.
//
//   ActivitySorter sorter(table);
//   sorter.Add(batch);          // the rows before sorter.unchanged() stay as they are
//   sorter.Settle();            // the table is in order
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/trace/activities.h"

namespace vramscope::trace {

class ActivitySorter {
 public:
  // Rows that a batch may move for each of its own. What is later than that is put in order at the
  // next Settle, so that a file which has its batches backwards costs one sort, not one a batch.
  static constexpr size_t kMostMoved = 4;

  explicit ActivitySorter(ActivityTable& table) : table_(table) {}
  void Add(std::vector<Activity>& batch);  // which it sorts
  void Settle();
  // The first rows of the table that no call since the last Mark has touched.
  uint32_t unchanged() const { return unchanged_; }
  void Mark() { unchanged_ = table_.size(); }

 private:
  ActivityTable& table_;
  bool settled_ = true;
  uint32_t unchanged_ = 0;
  std::vector<Activity> late_;  // reused: the rows that are merged
};

}  // namespace vramscope::trace
