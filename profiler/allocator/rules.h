// Defines the numbers and rules of the caching allocator that do not depend on its state: the
// rounding of requests, the pool of a request, whether the rest of a free block is split off, and
// the sizes of segments and pages. The model, the importers and the explanations all use these
// definitions. Source:
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
// The memory that is assumed if a device's memory is unknown. No device has more.
inline constexpr uint64_t kUnknownDevice = uint64_t{256} << 30;

constexpr uint64_t RoundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Returns the rounded size of a request. Supports roundup_power2_divisions.
inline uint64_t RoundSize(uint64_t bytes, const run::AllocConf& conf) {
  if (bytes < kMinBlockSize) return kMinBlockSize;
  const int log = 63 - std::countl_zero(bytes);
  const uint64_t divisions = conf.roundup_power2_divisions[static_cast<size_t>(
      std::clamp(log - 20, 0, run::AllocConf::kRoundupIntervals - 1))];
  if (divisions <= 1 || bytes <= kMinBlockSize * divisions) return RoundUp(bytes, kMinBlockSize);
  // The unit is at least 512, because here bytes > 512 * divisions.
  return RoundUp(bytes, (uint64_t{1} << log) / divisions);
}
constexpr uint64_t RoundSize(uint64_t bytes) {
  return bytes < kMinBlockSize ? kMinBlockSize : RoundUp(bytes, kMinBlockSize);
}

// Returns the pool for a rounded size.
constexpr trace::Pool PoolOf(uint64_t rounded) {
  return rounded <= kSmallSize ? trace::Pool::kSmall : trace::Pool::kLarge;
}
inline uint64_t SegmentSize(uint64_t rounded, const run::AllocConf& conf) {
  if (rounded <= kSmallSize) return kSmallBuffer;
  if (rounded < kMinLargeAlloc) return conf.large_segment_size;
  return RoundUp(rounded, kRoundLarge);
}
// Returns the pool of a segment that is not expandable. Every segment of the large pool is larger
// than those of the small pool.
constexpr trace::Pool PoolOfSegment(uint64_t bytes) {
  return bytes <= kSmallBuffer ? trace::Pool::kSmall : trace::Pool::kLarge;
}
// Returns the unit in which memory is mapped to expandable segments.
inline uint64_t PageSize(trace::Pool pool, const run::AllocConf& conf) {
  return pool == trace::Pool::kSmall ? kSmallBuffer : conf.large_segment_size;
}
// Returns the size of the address range that an expandable segment reserves: 1.125 times the
// device's memory in whole pages, as in ExpandableSegment's constructor.
inline uint64_t ReservedAddresses(uint64_t device_total, trace::Pool pool,
                                  const run::AllocConf& conf) {
  return RoundUp(device_total + device_total / 8, PageSize(pool, conf));
}

// Returns whether the `rest` after a block of `rounded` bytes is split off and remains free.
inline bool Splits(uint64_t rounded, uint64_t rest, trace::Pool pool, const run::AllocConf& conf) {
  if (pool == trace::Pool::kSmall || conf.expandable_segments) return rest >= kMinBlockSize;
  return rounded < conf.max_split_size && rest > kSmallSize;
}
// Returns the largest rest that is not split off but stays in a block, in a segment that is not
// expandable.
inline uint64_t MostTail(uint64_t rounded, const run::AllocConf& conf) {
  return rounded < conf.max_split_size ? kSmallSize : conf.max_non_split_rounding;
}

}  // namespace vramscope::allocator
