// The numbers and rules of the caching allocator that do not depend on its state: rounding of
// requests, the pool of a request, whether the rest of a free block is split off, sizes of segments
// and pages. Only this file defines them, for the model's decisions, for importers that
// interpret recordings, and for explanations that quote them. Source:
// c10/core/AllocatorConfig.h and c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.11 (round_size,
// should_split, get_allocation_size).
//
// Pure functions; any thread. Sizes must be below 2^63 (callers check this).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "profiler/run/alloc_conf.h"
#include "profiler/trace/types.h"

namespace vramscope::allocator {

inline constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr uint64_t kMinBlockSize = 512;
inline constexpr uint64_t kSmallSize = 1 * kMiB;    // largest block that the small pool serves
inline constexpr uint64_t kSmallBuffer = 2 * kMiB;  // segment and page of the small pool
inline constexpr uint64_t kMinLargeAlloc = 10 * kMiB;
inline constexpr uint64_t kRoundLarge = 2 * kMiB;
inline constexpr uint64_t kSegmentAlignment = 2 * kMiB;  // granularity of the driver
// Assumed memory of a device if its memory is not stated; no device has more.
inline constexpr uint64_t kUnknownDevice = uint64_t{256} << 30;

constexpr uint64_t RoundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// The rounded size of a request, with roundup_power2_divisions.
inline uint64_t RoundSize(uint64_t bytes, const run::AllocConf& conf) {
  if (bytes < kMinBlockSize) return kMinBlockSize;
  const int log = 63 - std::countl_zero(bytes);
  const uint64_t divisions = conf.roundup_power2_divisions[static_cast<size_t>(
      std::clamp(log - 20, 0, run::AllocConf::kRoundupIntervals - 1))];
  if (divisions <= 1 || bytes <= kMinBlockSize * divisions) return RoundUp(bytes, kMinBlockSize);
  // bytes > 512 * divisions, so a step is at least 512.
  return RoundUp(bytes, (uint64_t{1} << log) / divisions);
}
constexpr uint64_t RoundSize(uint64_t bytes) {
  return bytes < kMinBlockSize ? kMinBlockSize : RoundUp(bytes, kMinBlockSize);
}

// The pool for a rounded size.
constexpr trace::Pool PoolOf(uint64_t rounded) {
  return rounded <= kSmallSize ? trace::Pool::kSmall : trace::Pool::kLarge;
}
inline uint64_t SegmentSize(uint64_t rounded, const run::AllocConf& conf) {
  if (rounded <= kSmallSize) return kSmallBuffer;
  if (rounded < kMinLargeAlloc) return conf.large_segment_size;
  return RoundUp(rounded, kRoundLarge);
}
// The pool of a segment that is not expandable: every segment of the large pool is larger than
// those of the small pool.
constexpr trace::Pool PoolOfSegment(uint64_t bytes) {
  return bytes <= kSmallBuffer ? trace::Pool::kSmall : trace::Pool::kLarge;
}
// The unit in which memory is mapped to expandable segments.
inline uint64_t PageSize(trace::Pool pool, const run::AllocConf& conf) {
  return pool == trace::Pool::kSmall ? kSmallBuffer : conf.large_segment_size;
}
// The size of the address range that an expandable segment reserves: 1 1/8 of the device's memory,
// in whole pages (ExpandableSegment's constructor).
inline uint64_t ReservedAddresses(uint64_t device_total, trace::Pool pool,
                                  const run::AllocConf& conf) {
  return RoundUp(device_total + device_total / 8, PageSize(pool, conf));
}

// Whether the `rest` after a block of `rounded` bytes is split off and returned to the cache.
inline bool Splits(uint64_t rounded, uint64_t rest, trace::Pool pool, const run::AllocConf& conf) {
  if (pool == trace::Pool::kSmall || conf.expandable_segments) return rest >= kMinBlockSize;
  return rounded < conf.max_split_size && rest > kSmallSize;
}
// The largest unsplit tail of a block, in a segment that is not expandable.
inline uint64_t MostTail(uint64_t rounded, const run::AllocConf& conf) {
  return rounded < conf.max_split_size ? kSmallSize : conf.max_non_split_rounding;
}

}  // namespace vramscope::allocator
