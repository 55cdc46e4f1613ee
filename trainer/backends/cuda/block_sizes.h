// How large the caching allocator's blocks are. Its trace says what was asked for; a block is at
// least that, rounded, and also takes the rest of the free block it came from where that is too
// small to be split off. So the free blocks are followed, by the allocator's own rules
// (profiler/allocator/rules.h).
//
//   BlockSizes blocks(conf);
//   blocks.OnSegment(address, bytes, pool);
//   BlockSizes::Block block = blocks.OnAlloc(address, bytes_requested);   // block.bytes,
//   block.pool blocks.OnFree(address);
//
// Free of LibTorch. Not locked: the allocator tells of a device under its own lock.
#pragma once

#include <cstdint>
#include <map>

#include "profiler/run/alloc_conf.h"
#include "profiler/trace/types.h"

namespace vramscope::trainer::cuda {

class BlockSizes {
 public:
  explicit BlockSizes(const run::AllocConf& conf) : conf_(conf) {}

  struct Block {
    uint64_t bytes = 0;
    trace::Pool pool = trace::Pool::kSmall;
  };

  // A segment, or a range of an expandable one that was mapped: free from now on. Ranges that meet
  // are one only where `expandable` says that they are of one segment.
  void OnSegment(uint64_t address, uint64_t bytes, trace::Pool pool, bool expandable = false);
  // Gone, or unmapped: what is free of it.
  void OnSegmentGone(uint64_t address, uint64_t bytes);
  // What is not in a segment that was told of has the rounded size.
  Block OnAlloc(uint64_t address, uint64_t bytes_requested);
  void OnFree(uint64_t address);

 private:
  struct Piece {
    uint64_t bytes = 0;
    trace::Pool pool = trace::Pool::kSmall;
    bool used = false;
    bool begins_segment = false;  // does not join what lies before it
  };
  using Pieces = std::map<uint64_t, Piece>;
  void Join(Pieces::iterator piece);

  const run::AllocConf conf_;
  Pieces pieces_;  // used and free, by address
};

}  // namespace vramscope::trainer::cuda
