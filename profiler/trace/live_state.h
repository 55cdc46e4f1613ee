// The live memory and open slices at the current event of a stream. Used for keyframes, and to
// restate memory and slices where a part of a file begins. Its size depends on the live memory, not
// on the length of the stream. Internal to this folder.
//
//   LiveState live;
//   live.Strings(0, strings);
//   for (const Event& e : events) RETURN_IF_ERROR(live.Advance(Normalized(e)));
//   live.Memory(); live.open();
//
// One thread.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/trace/memory_cursor.h"
#include "profiler/trace/types.h"

namespace vramscope::trace {

class LiveState {
 public:
  // Must be called with all strings of the file, because some are names of process markers.
  void Strings(uint32_t first_id, std::span<const std::string> values);
  // kDataLoss: the event contradicts earlier events and was ignored.
  absl::Status Advance(const Event& event);
  // Sets the ids of the next Alloc and SegmentAlloc, to skip ids of freed blocks and segments.
  absl::Status SkipTo(uint64_t next_block, uint64_t next_segment);

  // Returns events that restate the live memory: processes, segments with their mapped pages, and
  // blocks with their present category. Ids are the file's; times are those of the original events.
  std::vector<Event> Memory() const;
  std::vector<Event> open() const;  // the begin events of open slices, in order
  size_t size() const { return blocks_.size() + segments_.size() + open_.size() + markers_.size(); }

  uint64_t next_block() const { return next_block_; }
  uint64_t next_segment() const { return next_segment_; }
  // The allocated and reserved bytes of all devices together.
  uint64_t allocated() const { return allocated_; }
  uint64_t reserved() const { return reserved_; }

 private:
  struct Block {
    Event event;  // the block's Alloc, with its current category
    bool free_requested = false;
  };

  absl::Status OfBlock(const Event& event);
  absl::Status OfSegment(const Event& event);
  absl::Status End(const Event& event, EventKind begin);

  uint64_t next_block_ = 0, next_segment_ = 0;
  base::HashMap<uint64_t, Block> blocks_;  // keyed by the id in the file
  std::map<uint64_t, Event> segments_;
  std::map<uint8_t, DeviceMemory> devices_;
  // The begin events of open slices, in order. For each OpenKey, open_by_key_ has the keys of its
  // events in open_, innermost last. Thus an end event needs no search.
  std::map<uint64_t, Event> open_;
  base::HashMap<uint64_t, std::vector<uint64_t>> open_by_key_;
  uint64_t opened_ = 0;
  std::vector<Event> markers_;          // the markers of processes
  std::set<uint32_t> process_markers_;  // string ids of these markers' names
  uint64_t allocated_ = 0, reserved_ = 0;
};

}  // namespace vramscope::trace
