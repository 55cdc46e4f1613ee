// Keeps a table of activities sorted by begin, although batches arrive late. Each batch is sorted,
// and merged with the rows that it overlaps. Internal to this folder.
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
  // The most table rows that a batch may move per row of its own. If it would move more, it is only
  // appended, and the next Settle sorts the table. Thus a file with its batches in reverse order
  // costs one sort, not one sort per batch.
  static constexpr size_t kMostMoved = 4;

  explicit ActivitySorter(ActivityTable& table) : table_(table) {}
  void Add(std::vector<Activity>& batch);  // sorts `batch`
  void Settle();
  // The number of rows at the table's beginning that were not changed since the last Mark.
  uint32_t unchanged() const { return unchanged_; }
  void Mark() { unchanged_ = table_.size(); }

 private:
  ActivityTable& table_;
  bool settled_ = true;
  uint32_t unchanged_ = 0;
  std::vector<Activity> late_;  // rows being merged; a member to reuse its memory
};

}  // namespace vramscope::trace
