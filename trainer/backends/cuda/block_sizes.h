// Computes the sizes of the caching allocator's blocks, because the allocator's trace contains only
// requested sizes. A block has at least the requested size, rounded up. It is cut from a free
// block, and includes the rest of that block if the rest is too small to be a block. So this class
// tracks free blocks by the allocator's rules (profiler/allocator/rules.h).
//
//   BlockSizes blocks(conf);
//   blocks.OnSegment(address, bytes, pool);
//   BlockSizes::Block block = blocks.OnAlloc(address, bytes_requested);  // bytes and pool
//   blocks.OnFree(address);
//
// Does not use LibTorch. Has no lock, because the allocator holds its own lock while it reports the
// events of a device.
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

  // Adds a new segment or a newly mapped range of an expandable segment; all of it is free. It is
  // merged with adjacent ranges only if `expandable`.
  void OnSegment(uint64_t address, uint64_t bytes, trace::Pool pool, bool expandable = false);
  // Call this for a freed segment or an unmapped range. Removes the free pieces in it.
  void OnSegmentGone(uint64_t address, uint64_t bytes);
  // If the block is in no known segment, its size is the rounded size.
  Block OnAlloc(uint64_t address, uint64_t bytes_requested);
  void OnFree(uint64_t address);

 private:
  struct Piece {
    uint64_t bytes = 0;
    trace::Pool pool = trace::Pool::kSmall;
    bool used = false;
    bool begins_segment = false;  // never merged with the piece before it
  };
  using Pieces = std::map<uint64_t, Piece>;
  void Join(Pieces::iterator piece);

  const run::AllocConf conf_;
  Pieces pieces_;  // used and free pieces, by address
};

}  // namespace vramscope::trainer::cuda
