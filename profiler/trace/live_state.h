// What is in memory and open at a moment of a stream of events, kept as it goes by: what a part of
// a file restates in front of it, and what a keyframe holds. Costs what is alive, not what was.
// Internal to this folder.
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
  // All of the file, from the first: some name markers that begin a process.
  void Strings(uint32_t first_id, std::span<const std::string> values);
  // kDataLoss: the event does not fit what came before, and was left out.
  absl::Status Advance(const Event& event);
  // What the next Alloc and SegmentAlloc are numbered, when what came between has gone again.
  absl::Status SkipTo(uint64_t next_block, uint64_t next_segment);

  // Events that restate it: processes, segments with their mapped pages, blocks with their present
  // category. Numbers are those of the file, times those of long ago.
  std::vector<Event> Memory() const;
  std::vector<Event> open() const;  // begin events, in their order
  size_t size() const { return blocks_.size() + segments_.size() + open_.size() + markers_.size(); }

  uint64_t next_block() const { return next_block_; }
  uint64_t next_segment() const { return next_segment_; }
  // Bytes of all devices together.
  uint64_t allocated() const { return allocated_; }
  uint64_t reserved() const { return reserved_; }

 private:
  struct Block {
    Event event;  // with its present category
    bool free_requested = false;
  };

  absl::Status OfBlock(const Event& event);
  absl::Status OfSegment(const Event& event);
  absl::Status End(const Event& event, EventKind begin);

  uint64_t next_block_ = 0, next_segment_ = 0;
  base::HashMap<uint64_t, Block> blocks_;  // by number in the file
  std::map<uint64_t, Event> segments_;
  std::map<uint8_t, DeviceMemory> devices_;
  // Begin events by when they came, and those of one kind and thread or process (OpenKey) with the
  // innermost last: an end takes no search through what is open.
  std::map<uint64_t, Event> open_;
  base::HashMap<uint64_t, std::vector<uint64_t>> open_by_key_;
  uint64_t opened_ = 0;
  std::vector<Event> markers_;          // of processes
  std::set<uint32_t> process_markers_;  // ids of their names
  uint64_t allocated_ = 0, reserved_ = 0;
};

}  // namespace vramscope::trace
