// Cuts out a range of the entries while they are read. Of the other entries, only the data needed
// to reconstruct the file's history is kept, so they need little memory. Internal.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/importers/snapshot.h"
#include "profiler/recording/recording.h"

namespace vramscope::importers {

// Used for recordings of one device. With several devices, the order of the entries is known only
// at the end of the file.
class SnapshotRange {
 public:
  explicit SnapshotRange(const SnapshotOptions& options)
      : first_entry_(options.first_entry),
        last_entry_(options.last_entry),
        from_ns_(options.from_ns),
        to_ns_(options.to_ns) {}
  static bool IsAsked(const SnapshotOptions& options);
  static bool IsOfTimes(const SnapshotOptions& options);
  // Returns whether the action is an action of the allocator. The action `snapshot` is not:
  // out-of-memory observers add an entry with it to files that have no history.
  static bool IsHistory(recording::Action action);

  // Call it when the table's last row is complete. Returns false if the row is outside the range
  // and was removed. `category` has an element for each row, or is empty.
  bool Settle(recording::EntryTable& entries, std::vector<uint8_t>& category);

  uint32_t total() const { return all_.size(); }
  uint32_t before() const { return static_cast<uint32_t>(stack_before_.size()); }
  bool history() const { return history_; }      // an entry is an action of the allocator
  bool from_zero() const { return from_zero_; }  // the first entry's time is 0
  uint64_t moved() const { return moved_; }      // number of entries older than their predecessor
  int64_t last_ns() const { return last_ns_; }   // time of the last entry
  // All entries of the file, without times and stacks.
  const recording::EntryTable& all() const { return all_; }
  recording::EntryTable TakeAll() { return std::move(all_); }
  trace::StackId StackBefore(uint32_t entry) const { return stack_before_[entry]; }

 private:
  uint64_t first_entry_, last_entry_;
  int64_t from_ns_, to_ns_;
  bool from_zero_ = true, history_ = false;
  uint64_t moved_ = 0;
  int64_t last_ns_ = 0;
  recording::EntryTable all_;
  std::vector<trace::StackId> stack_before_;
};

}  // namespace vramscope::importers
