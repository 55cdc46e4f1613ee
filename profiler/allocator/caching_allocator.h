// A model of the decisions of PyTorch's CUDA caching allocator: rounding, pools, best fit, split,
// merge, segment sizes, retry, out of memory. Source of the procedure: c10/cuda/
// CUDACachingAllocator.cpp of PyTorch 2.11 (see README.md for what is modelled and what is not).
//
//   CachingAllocator a({.device_memory_bytes = 24ull << 30}, &observer);
//   ASSIGN_OR_RETURN(Block b, a.Malloc(1000, /*stream=*/0));   // b.bytes_rounded == 1024
//   a.Free(b.address);
//
// Not thread-safe: the caller holds its own lock (as the real one does). No allocation of its own
// on the hot path after warm-up beyond node reuse.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "profiler/trace/types.h"

namespace vramscope::allocator {

struct Settings {
  uint64_t device_memory_bytes = 0;            // limit for segments; 0: none
  uint64_t first_address = uint64_t{1} << 40;  // rounded up to 2 MiB
  // A request that does not fit even after the cache was released is reported to the observer and
  // counted as out of memory, and then granted beyond the limit: for a plan that shows by how much
  // it does not fit. Off: Malloc returns kResourceExhausted, as the real allocator throws.
  bool grant_over_limit = false;
};

struct Block {
  uint64_t address = 0;
  uint64_t bytes_requested = 0;
  uint64_t bytes_rounded = 0;  // of the block: rounded request plus an unsplit tail
  trace::Pool pool = trace::Pool::kSmall;
  uint32_t stream = 0;
};

struct Segment {
  uint64_t address = 0;
  uint64_t bytes = 0;
  trace::Pool pool = trace::Pool::kSmall;
  uint32_t stream = 0;
};

// Told of what happens at the driver, before the Malloc that caused it returns.
class SegmentObserver {
 public:
  virtual ~SegmentObserver() = default;
  virtual void OnSegmentAlloc(const Segment& segment) = 0;
  virtual void OnSegmentFree(const Segment& segment) = 0;
  // A request that did not fit even after the cache was released.
  virtual void OnOutOfMemory(uint64_t bytes_requested, uint64_t device_free_bytes) = 0;
};

struct Stats {
  uint64_t requested = 0, allocated = 0, reserved = 0;  // now, bytes
  uint64_t peak_requested = 0, peak_allocated = 0, peak_reserved = 0;
  uint64_t segment_allocs = 0, segment_frees = 0, retries = 0, out_of_memory = 0;
};

class CachingAllocator {
 public:
  CachingAllocator(const Settings& settings, SegmentObserver* observer);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  // kResourceExhausted: does not fit (message: asked, free, reserved). kInvalidArgument: bytes is 0
  // (the real allocator is never asked for that: zero-byte tensors hold a null pointer) or above
  // kMaxRequest.
  absl::StatusOr<Block> Malloc(uint64_t bytes, uint32_t stream);
  // The address must be of a live block (checked: kInvalidArgument).
  absl::Status Free(uint64_t address);
  // Gives wholly free segments back to the driver, large ones first (torch.cuda.empty_cache()).
  void EmptyCache();
  const Stats& stats() const;
  // Every segment with its blocks, by address; for the segment map and for tests.
  struct BlockState {
    Block block;
    bool live = false;
  };
  struct SegmentState {
    Segment segment;
    std::vector<BlockState> blocks;
  };
  std::vector<SegmentState> Snapshot() const;

  static constexpr uint64_t kMaxRequest = uint64_t{1} << 46;  // 64 TiB: beyond any device

  static uint64_t RoundSize(uint64_t bytes);      // to 512, at least 512
  static uint64_t SegmentSize(uint64_t rounded);  // 2 MiB | 20 MiB | up to 2 MiB

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::allocator
