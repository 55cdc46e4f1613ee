// A range of the entries, cut out while they are read, so that what lies outside it takes little
// memory: of those outside stays what the history of the whole needs. Internal.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/importers/snapshot.h"
#include "profiler/recording/recording.h"

namespace vramscope::importers {

// For a recording of one device: entries of several are in order only at the end of the file.
class SnapshotRange {
 public:
  explicit SnapshotRange(const SnapshotOptions& options)
      : first_entry_(options.first_entry),
        last_entry_(options.last_entry),
        from_ns_(options.from_ns),
        to_ns_(options.to_ns) {}
  static bool IsAsked(const SnapshotOptions& options);
  static bool IsOfTimes(const SnapshotOptions& options);
  // Whether such an entry tells what the allocator did; a `snapshot` that an out-of-memory observer
  // leaves in a file without a history does not.
  static bool IsHistory(recording::Action action);

  // The table's last row, to which nothing is added any more; taken out (false) unless it is of the
  // range. A `category` of each row, or empty.
  bool Settle(recording::EntryTable& entries, std::vector<uint8_t>& category);

  uint32_t total() const { return all_.size(); }
  uint32_t before() const { return static_cast<uint32_t>(stack_before_.size()); }
  bool history() const { return history_; }      // an entry tells what the allocator did
  bool from_zero() const { return from_zero_; }  // the first entry's time is 0
  uint64_t moved() const { return moved_; }      // older than the one before them
  int64_t last_ns() const { return last_ns_; }   // the last entry's time
  // All entries, without times and stacks.
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
