// Computes the sizes of the caching allocator's blocks. The allocator's trace contains only
// requested sizes. A block has at least the requested size, rounded. If it was cut from a free
// block and the remainder is too small for a block of its own, it includes the remainder. So this
// class tracks free blocks by the allocator's rules (profiler/allocator/rules.h).
//
//   BlockSizes blocks(conf);
//   blocks.OnSegment(address, bytes, pool);
//   BlockSizes::Block block = blocks.OnAlloc(address, bytes_requested);  // bytes and pool
//   blocks.OnFree(address);
//
// Does not use LibTorch. Not locked: the allocator reports a device's events under its own lock.
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

  // A new segment, or a newly mapped range of an expandable segment, which is all free. It is
  // merged with adjacent ranges only if `expandable` is true.
  void OnSegment(uint64_t address, uint64_t bytes, trace::Pool pool, bool expandable = false);
  // A freed segment, or an unmapped range. Its free pieces are removed.
  void OnSegmentGone(uint64_t address, uint64_t bytes);
  // A block outside of the known segments gets the rounded size.
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
