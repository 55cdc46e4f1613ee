// Models what PyTorch's CUDA caching allocator decides: rounding, pools, best fit, split, merge,
// segment sizes, expandable segments, garbage collection, retry, out of memory. Supports all
// settings of PYTORCH_CUDA_ALLOC_CONF that change them. Source: c10/cuda/CUDACachingAllocator.cpp
// of PyTorch 2.11 (README.md lists what is modelled and what is not).
//
//   CachingAllocator a({.device_memory_bytes = 24ull << 30}, &observer);
//   ASSIGN_OR_RETURN(Block b, a.Malloc(1000, /*stream=*/0));   // b.bytes_rounded == 1024
//   a.Free(b.address);
//
// Not thread-safe: the caller must hold a lock (as in the real allocator). After warm-up it
// allocates no memory itself.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "profiler/run/alloc_conf.h"
#include "profiler/trace/types.h"

namespace vramscope::allocator {

class Driver;

struct Settings {
  uint64_t device_memory_bytes = 0;            // limit for segments; 0: none
  uint64_t first_address = uint64_t{1} << 40;  // rounded up to 2 MiB
  // If true, a request that does not fit even after cached memory was released is granted beyond
  // the limit, so that a plan shows how much memory is missing. For each crossing of the limit, the
  // observer is called once, and one "out of memory" is counted. If false, Malloc returns
  // kResourceExhausted where the real allocator throws.
  bool grant_over_limit = false;
  run::AllocConf conf = {};
  // The whole device's memory, to which conf.memory_fraction and the address range of an expandable
  // segment refer. If this is 0, it is device_memory_bytes or, if that is 0 as well, 256 GiB.
  uint64_t device_total_bytes = 0;
  Driver* driver = nullptr;  // null: grants up to device_memory_bytes, with ascending addresses
};

struct Block {
  uint64_t address = 0;
  uint64_t bytes_requested = 0;
  uint64_t bytes_rounded = 0;  // block size: the rounded request and any rest not split off
  trace::Pool pool = trace::Pool::kSmall;
  uint32_t stream = 0;
};

struct Segment {
  uint64_t address = 0;
  uint64_t bytes = 0;  // for an expandable segment: the size of its address range
  trace::Pool pool = trace::Pool::kSmall;
  uint32_t stream = 0;
  uint32_t mempool = 0;  // 0: the default pool
  bool expandable = false;
};

// Receives each driver operation during the call that causes it, such as Malloc.
class SegmentObserver {
 public:
  virtual ~SegmentObserver() = default;
  // A cudaMalloc. For an expandable segment, it only reserves addresses; OnSegmentMap adds memory.
  virtual void OnSegmentAlloc(const Segment& segment) = 0;
  virtual void OnSegmentFree(const Segment& segment) = 0;
  virtual void OnSegmentMap(const Segment&, uint64_t /*address*/, uint64_t /*bytes*/) {}
  virtual void OnSegmentUnmap(const Segment&, uint64_t /*address*/, uint64_t /*bytes*/) {}
  // An allocation did not fit, even after cached memory was released.
  virtual void OnOutOfMemory(uint64_t bytes_requested, uint64_t device_free_bytes) = 0;
  // The allocator has waited for a pending free in order to release its memory.
  virtual void OnFreeCompleted(const Block&) {}
};

// A source of memory, which replaces the limit and the ascending addresses of Settings.
class Driver {
 public:
  virtual ~Driver() = default;
  // Does a cudaMalloc, or reserves the addresses of an expandable segment. segment.address is 0.
  // Returns an address outside of all existing segments, or nullopt if the device is full.
  virtual std::optional<uint64_t> Allocate(const Segment& segment) = 0;
  // Maps memory to pages of an expandable segment. Returns false if the device is full.
  virtual bool Map(const Segment& segment, uint64_t address, uint64_t bytes) = 0;
};

struct Stats {
  uint64_t requested = 0, allocated = 0, reserved = 0;  // current bytes, including pending frees
  uint64_t peak_requested = 0, peak_allocated = 0, peak_reserved = 0;
  uint64_t segment_allocs = 0, segment_frees = 0;  // cudaMalloc, cudaFree
  uint64_t segment_maps = 0, segment_unmaps = 0;   // pages of expandable segments
  uint64_t retries = 0, out_of_memory = 0;
  // How many StreamPools releases have searched, as a measure of their cost.
  uint64_t pools_searched = 0;
};

class CachingAllocator {
 public:
  CachingAllocator(const Settings& settings, SegmentObserver* observer);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  // Returns kResourceExhausted and the requested, free and reserved bytes if the block does not
  // fit. Returns kInvalidArgument if `bytes` is above kMaxRequest or 0 (PyTorch does not allocate
  // tensors of zero bytes). `mempool` is a private pool (CUDA graphs, torch.cuda.MemPool). The
  // first allocation in it creates it, and its memory is used for nothing else.
  absl::StatusOr<Block> Malloc(uint64_t bytes, uint32_t stream, uint32_t mempool = 0);

  // Like Malloc, but never grants memory beyond the limit.
  absl::StatusOr<Block> TryMalloc(uint64_t bytes, uint32_t stream, uint32_t mempool = 0);

  // Returns kInvalidArgument if no live block is at the address. A block that another stream has
  // used (RecordStream) stays pending until CompleteFree, or until cached memory is released.
  absl::Status Free(uint64_t address);
  // Free a block in two calls. Between them the block is pending: it is neither reused nor merged.
  absl::Status RequestFree(uint64_t address);
  absl::Status CompleteFree(uint64_t address);
  // Records that `stream` uses the live block in addition to the block's own stream.
  absl::Status RecordStream(uint64_t address, uint32_t stream);

  // Like torch.cuda.empty_cache(): completes pending frees, and returns completely free segments
  // and pages to the driver, first those of the large pool.
  void EmptyCache();
  // Releases the free memory of one private pool only.
  void EmptyPool(uint32_t mempool);
  // Call when a private pool is no longer in use. The next release returns its free memory.
  void ReleasePool(uint32_t mempool);

  const Stats& stats() const;

  // Each segment and its blocks, sorted by address. Used by the segment map and by tests.
  struct SnapshotBlock {
    Block block;
    bool live = false;  // true also for a pending block
    bool pending = false;
    bool mapped = true;  // false: addresses of an expandable segment without memory
  };
  struct SnapshotSegment {
    Segment segment;
    std::vector<SnapshotBlock> blocks;
  };
  std::vector<SnapshotSegment> Snapshot() const;
  // Starts from the given state instead of an empty one. Call it only once, before all other calls.
  // Returns kInvalidArgument unless segments and their blocks are sorted by address, blocks fill
  // their segment, and segments do not overlap.
  absl::Status Restore(std::span<const SnapshotSegment> segments);

  // Returns the free block that Malloc would use, or nullopt if Malloc would call the
  // driver.
  std::optional<Block> BestFit(uint64_t bytes, uint32_t stream, uint32_t mempool = 0) const;
  // Returns the free block directly after the block in use at `address`, or nullopt.
  std::optional<Block> FreeBehind(uint64_t address) const;
  // Sets the size of the block in use at `address`. The free block after it shrinks or grows by the
  // difference, but must not vanish. Used for start states in which some sizes are not exact.
  absl::Status Resize(uint64_t address, uint64_t bytes);

  static constexpr uint64_t kMaxRequest = uint64_t{1} << 46;  // 64 TiB: beyond any device

  // The functions of rules.h, for callers that include only this header.
  static uint64_t RoundSize(uint64_t bytes);      // rounds to 512, at least 512
  static uint64_t SegmentSize(uint64_t rounded);  // 2 MiB, 20 MiB, or a multiple of 2 MiB
  // The same functions with settings other than the default.
  static uint64_t RoundSize(uint64_t bytes, const run::AllocConf& conf);
  static uint64_t SegmentSize(uint64_t rounded, const run::AllocConf& conf);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::allocator
