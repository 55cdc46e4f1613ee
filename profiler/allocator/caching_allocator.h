// A model of the decisions of PyTorch's CUDA caching allocator: rounding, pools, best fit, split,
// merge, segment sizes, expandable segments, garbage collection, retry, out of memory, under all
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
  // If true, requests that do not fit even after the cache was released are granted beyond the
  // limit, so that a plan shows how much memory is missing. Each crossing of the limit, not each
  // request, is reported to the observer and counted as out of memory. If false, Malloc returns
  // kResourceExhausted where the real allocator throws.
  bool grant_over_limit = false;
  run::AllocConf conf = {};
  // Memory of the whole device, the base of conf.memory_fraction and of the address range of an
  // expandable segment; 0: device_memory_bytes, or 256 GiB if that is 0 too.
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

// Receives every driver operation, during the call (such as Malloc) that causes the operation.
class SegmentObserver {
 public:
  virtual ~SegmentObserver() = default;
  // cudaMalloc. For an expandable segment, this reserves addresses, and OnSegmentMap adds memory.
  virtual void OnSegmentAlloc(const Segment& segment) = 0;
  virtual void OnSegmentFree(const Segment& segment) = 0;
  virtual void OnSegmentMap(const Segment&, uint64_t /*address*/, uint64_t /*bytes*/) {}
  virtual void OnSegmentUnmap(const Segment&, uint64_t /*address*/, uint64_t /*bytes*/) {}
  // An allocation that did not fit even after the cache was released.
  virtual void OnOutOfMemory(uint64_t bytes_requested, uint64_t device_free_bytes) = 0;
  // The allocator waited for a pending free, to release its memory.
  virtual void OnFreeCompleted(const Block&) {}
};

// A source of memory; replaces the limit and the ascending addresses in Settings.
class Driver {
 public:
  virtual ~Driver() = default;
  // cudaMalloc, or reserving the address range of an expandable segment. Returns the address
  // (segment.address is 0), which must not overlap existing segments; nullopt: the device is full.
  virtual std::optional<uint64_t> Allocate(const Segment& segment) = 0;
  // Maps memory to pages of an expandable segment; false: the device is full.
  virtual bool Map(const Segment& segment, uint64_t address, uint64_t bytes) = 0;
};

struct Stats {
  uint64_t requested = 0, allocated = 0, reserved = 0;  // current bytes; include pending frees
  uint64_t peak_requested = 0, peak_allocated = 0, peak_reserved = 0;
  uint64_t segment_allocs = 0, segment_frees = 0;  // cudaMalloc, cudaFree
  uint64_t segment_maps = 0, segment_unmaps = 0;   // pages of expandable segments
  uint64_t retries = 0, out_of_memory = 0;
  uint64_t pools_searched = 0;  // number of streams' pools that releases searched: their cost
};

class CachingAllocator {
 public:
  CachingAllocator(const Settings& settings, SegmentObserver* observer);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  // kResourceExhausted: does not fit (the message has the requested, free and reserved bytes).
  // kInvalidArgument: bytes is above kMaxRequest or 0 (the real allocator is never called with 0,
  // because tensors of zero bytes have a null pointer). `mempool`: a private pool (CUDA graphs,
  // torch.cuda.MemPool), created by its first allocation; its memory is used for nothing else.
  absl::StatusOr<Block> Malloc(uint64_t bytes, uint32_t stream, uint32_t mempool = 0);

  // Like Malloc, but never grants memory beyond the limit.
  absl::StatusOr<Block> TryMalloc(uint64_t bytes, uint32_t stream, uint32_t mempool = 0);

  // The address must be that of a live block (else kInvalidArgument). A block that another stream
  // used (RecordStream) stays pending until CompleteFree or until the cache is released.
  absl::Status Free(uint64_t address);
  // Free in two calls. Between them, the block is pending: it is neither reused nor merged.
  absl::Status RequestFree(uint64_t address);
  absl::Status CompleteFree(uint64_t address);
  // Records that `stream` uses the live block in addition to the block's own stream.
  absl::Status RecordStream(uint64_t address, uint32_t stream);

  // Completes pending frees and returns wholly free segments and pages to the driver, the large
  // pool's first (torch.cuda.empty_cache()).
  void EmptyCache();
  // Releases the free memory of one private pool only.
  void EmptyPool(uint32_t mempool);
  // The private pool is no longer in use, so the next release returns its free memory.
  void ReleasePool(uint32_t mempool);

  const Stats& stats() const;

  // Every segment with its blocks, by address; for the segment map and for tests.
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
  // Starts from a given state instead of an empty one; allowed once, before any other call.
  // Segments and their blocks must be sorted by address, blocks must fill their segment, and
  // segments must not overlap; else kInvalidArgument.
  absl::Status Restore(std::span<const SnapshotSegment> segments);

  // The free block that Malloc would use without calling the driver; nullopt if it would call the
  // driver.
  std::optional<Block> BestFit(uint64_t bytes, uint32_t stream, uint32_t mempool = 0) const;
  // The free block directly after the block in use at `address`; nullopt if there is none.
  std::optional<Block> FreeBehind(uint64_t address) const;
  // Sets the size of the block in use at `address`. The free block after it shrinks or grows by the
  // difference; it must not vanish. For start states whose sizes are not known exactly.
  absl::Status Resize(uint64_t address, uint64_t bytes);

  static constexpr uint64_t kMaxRequest = uint64_t{1} << 46;  // 64 TiB: beyond any device

  // The same as the functions of rules.h, for callers that include only this header.
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
