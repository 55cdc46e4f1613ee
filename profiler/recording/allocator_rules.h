// The two decisions of the caching allocator that a recording does not state: what a request is
// rounded to, and whether the rest of a free block is split off (reference: c10/cuda/
// CUDACachingAllocator.cpp of PyTorch 2.11, round_size and should_split). Internal to this folder.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "profiler/run/alloc_conf.h"
#include "profiler/trace/types.h"

namespace vramscope::recording {

inline constexpr uint64_t kMinBlock = 512;
inline constexpr uint64_t kSmallSize = uint64_t{1} << 20;  // largest block of the small pool
inline constexpr uint64_t kSmallSegment = uint64_t{2} << 20;

class AllocatorRules {
 public:
  // `rounded`: sizes are rounded already.
  AllocatorRules(const run::AllocConf& conf, bool rounded) : conf_(conf), rounded_(rounded) {
    for (const uint32_t divisions : conf.roundup_power2_divisions) plain_ &= divisions <= 1;
  }

  // Of a request. Below 2^63 (the caller's check).
  uint64_t Rounded(uint64_t bytes) const {
    if (rounded_) return bytes;
    if (bytes <= kMinBlock) return kMinBlock;
    if (!plain_) {
      const int power = 63 - std::countl_zero(bytes);
      const uint64_t divisions = conf_.roundup_power2_divisions[static_cast<size_t>(
          std::clamp(power - 20, 0, run::AllocConf::kRoundupIntervals - 1))];
      if (divisions > 1 && bytes > kMinBlock * divisions) {
        const uint64_t step = std::bit_floor(bytes) >> (63 - std::countl_zero(divisions));
        return (bytes + step - 1) / step * step;
      }
    }
    return (bytes + kMinBlock - 1) / kMinBlock * kMinBlock;
  }

  // Whether `rest` behind a block of `rounded` bytes goes back to the cache.
  bool Splits(uint64_t rounded, uint64_t rest, trace::Pool pool) const {
    if (pool == trace::Pool::kSmall) return rest >= kMinBlock;
    return rounded < conf_.max_split_size && rest > kSmallSize;
  }

  // The most that can stay behind a block unsplit.
  uint64_t MostTail(uint64_t rounded) const {
    return rounded < conf_.max_split_size ? kSmallSize : conf_.max_non_split_rounding;
  }

 private:
  run::AllocConf conf_;
  bool rounded_;
  bool plain_ = true;
};

}  // namespace vramscope::recording
