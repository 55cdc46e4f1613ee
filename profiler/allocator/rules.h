// The numbers and rules of the caching allocator that do not depend on its state: what a request is
// rounded to, which pool serves it, whether the rest of a free block is split off, how large
// segments and pages are. The only place of all of them: the model decides by them, importers read
// recordings by them, explanations quote them. Reference: c10/core/AllocatorConfig.h and
// c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.11 (round_size, should_split,
// get_allocation_size).
//
// Pure functions; any thread. Sizes are below 2^63 (the caller's check).
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
// Taken for the memory of a device that is not stated: no device has more.
inline constexpr uint64_t kUnknownDevice = uint64_t{256} << 30;

constexpr uint64_t RoundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Of a request, under roundup_power2_divisions.
inline uint64_t RoundSize(uint64_t bytes, const run::AllocConf& conf) {
  if (bytes < kMinBlockSize) return kMinBlockSize;
  const int log = 63 - std::countl_zero(bytes);
  const uint64_t divisions = conf.roundup_power2_divisions[static_cast<size_t>(
      std::clamp(log - 20, 0, run::AllocConf::kRoundupIntervals - 1))];
  if (divisions <= 1 || bytes <= kMinBlockSize * divisions) return RoundUp(bytes, kMinBlockSize);
  // bytes > 512 * divisions: a step is at least 512.
  return RoundUp(bytes, (uint64_t{1} << log) / divisions);
}
constexpr uint64_t RoundSize(uint64_t bytes) {
  return bytes < kMinBlockSize ? kMinBlockSize : RoundUp(bytes, kMinBlockSize);
}

// Of a rounded size.
constexpr trace::Pool PoolOf(uint64_t rounded) {
  return rounded <= kSmallSize ? trace::Pool::kSmall : trace::Pool::kLarge;
}
inline uint64_t SegmentSize(uint64_t rounded, const run::AllocConf& conf) {
  if (rounded <= kSmallSize) return kSmallBuffer;
  if (rounded < kMinLargeAlloc) return conf.large_segment_size;
  return RoundUp(rounded, kRoundLarge);
}
// The pool that a plain segment is of: no segment of the large pool is as small as one of the
// other.
constexpr trace::Pool PoolOfSegment(uint64_t bytes) {
  return bytes <= kSmallBuffer ? trace::Pool::kSmall : trace::Pool::kLarge;
}
// What expandable segments are mapped by.
inline uint64_t PageSize(trace::Pool pool, const run::AllocConf& conf) {
  return pool == trace::Pool::kSmall ? kSmallBuffer : conf.large_segment_size;
}
// The addresses that an expandable segment reserves: 1 1/8 of the device's memory, whole pages
// (ExpandableSegment's constructor).
inline uint64_t ReservedAddresses(uint64_t device_total, trace::Pool pool,
                                  const run::AllocConf& conf) {
  return RoundUp(device_total + device_total / 8, PageSize(pool, conf));
}

// Whether `rest` behind a block of `rounded` bytes goes back to the cache.
inline bool Splits(uint64_t rounded, uint64_t rest, trace::Pool pool, const run::AllocConf& conf) {
  if (pool == trace::Pool::kSmall || conf.expandable_segments) return rest >= kMinBlockSize;
  return rounded < conf.max_split_size && rest > kSmallSize;
}
// The most that can stay behind a block of a plain segment unsplit.
inline uint64_t MostTail(uint64_t rounded, const run::AllocConf& conf) {
  return rounded < conf.max_split_size ? kSmallSize : conf.max_non_split_rounding;
}

}  // namespace vramscope::allocator
