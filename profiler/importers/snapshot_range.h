// A range of the entries, cut out while they are read, so that what lies outside it takes little
// memory: entries before the range become the blocks that live when it begins, of those after it
// stays what rolling back the segments needs. Internal.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <vector>

#include "profiler/importers/snapshot.h"
#include "profiler/recording/recording.h"

namespace vramscope::importers {

// The blocks of one device, from its entries in their order.
class LiveBlocks {
 public:
  void Replay(const recording::EntryTable& entries, recording::EntryIndex i);
  // By address.
  std::vector<recording::OlderAlloc> Of(uint8_t device) const;

 private:
  absl::flat_hash_map<uint64_t, recording::OlderAlloc> blocks_;
};

// For a recording of one device: entries of several are in order only at the end of the file.
class SnapshotRange {
 public:
  explicit SnapshotRange(const SnapshotOptions& options)
      : first_entry_(options.first_entry),
        last_entry_(options.last_entry),
        from_ns_(options.from_ns),
        to_ns_(options.to_ns) {}
  static bool IsAsked(const SnapshotOptions& options);

  // The table's last row, to which nothing is added any more; taken out unless it is of the range.
  // A `category` of each row, or empty.
  void Settle(recording::EntryTable& entries, std::vector<uint8_t>& category);

  uint32_t total() const { return total_; }
  uint32_t before() const { return before_; }
  bool from_zero() const { return from_zero_; }  // the first entry's time is 0
  uint64_t moved() const { return moved_; }      // older than the one before them
  const LiveBlocks& start() const { return start_; }
  recording::EntryTable TakeAfter() { return std::move(after_); }  // no times, no stacks

 private:
  uint64_t first_entry_, last_entry_;
  int64_t from_ns_, to_ns_;
  uint32_t total_ = 0, before_ = 0;
  bool from_zero_ = true;
  uint64_t moved_ = 0;
  int64_t last_ns_ = 0;
  LiveBlocks start_;
  recording::EntryTable after_;
};

// Row `i` of `from`, without its time and its stack.
void AppendBare(recording::EntryTable& to, const recording::EntryTable& from, uint32_t i);

}  // namespace vramscope::importers
