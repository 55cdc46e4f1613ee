// A model of the decisions of PyTorch's CUDA caching allocator: rounding, pools, best fit, split,
// merge, segment sizes, expandable segments, garbage collection, retry, out of memory, under all
// settings of PYTORCH_CUDA_ALLOC_CONF that change them. Source of the procedure: c10/cuda/
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
  // A request that does not fit even after the cache was released is granted beyond the limit: for
  // a plan that shows by how much it does not fit. Reported to the observer and counted as out of
  // memory once each time the limit is passed. Off: Malloc returns kResourceExhausted, as the real
  // allocator throws.
  bool grant_over_limit = false;
  run::AllocConf conf = {};
  // Memory of the whole device, which conf.memory_fraction and the address range of an expandable
  // segment are parts of; 0: device_memory_bytes, and where that is 0 too, 256 GiB.
  uint64_t device_total_bytes = 0;
  Driver* driver = nullptr;  // null: grants up to device_memory_bytes, addresses ascend
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
  uint64_t bytes = 0;  // of an expandable one: its range of addresses
  trace::Pool pool = trace::Pool::kSmall;
  uint32_t stream = 0;
  uint32_t mempool = 0;  // 0: the default pool
  bool expandable = false;
};

// Told of what happens at the driver, before the Malloc that caused it returns.
class SegmentObserver {
 public:
  virtual ~SegmentObserver() = default;
  // cudaMalloc; of an expandable segment: addresses are reserved, memory comes with OnSegmentMap.
  virtual void OnSegmentAlloc(const Segment& segment) = 0;
  virtual void OnSegmentFree(const Segment& segment) = 0;
  virtual void OnSegmentMap(const Segment&, uint64_t /*address*/, uint64_t /*bytes*/) {}
  virtual void OnSegmentUnmap(const Segment&, uint64_t /*address*/, uint64_t /*bytes*/) {}
  // A request that did not fit even after the cache was released.
  virtual void OnOutOfMemory(uint64_t bytes_requested, uint64_t device_free_bytes) = 0;
  // A pending free that the allocator waited for, to release its memory.
  virtual void OnFreeCompleted(const Block&) {}
};

// Where memory comes from, in place of the limit and the ascending addresses of Settings.
class Driver {
 public:
  virtual ~Driver() = default;
  // cudaMalloc, or the address range of an expandable segment: where it lies (wanted.address is 0;
  // the answer must not overlap what is there); nullopt: the device is full.
  virtual std::optional<uint64_t> Allocate(const Segment& wanted) = 0;
  // Memory for pages of an expandable segment; false: the device is full.
  virtual bool Map(const Segment& segment, uint64_t address, uint64_t bytes) = 0;
};

struct Stats {
  uint64_t requested = 0, allocated = 0, reserved = 0;  // now, bytes; pending frees included
  uint64_t peak_requested = 0, peak_allocated = 0, peak_reserved = 0;
  uint64_t segment_allocs = 0, segment_frees = 0;  // cudaMalloc, cudaFree
  uint64_t segment_maps = 0, segment_unmaps = 0;   // of expandable segments
  uint64_t retries = 0, out_of_memory = 0;
  uint64_t pools_searched = 0;  // of streams, for memory to give back: what releasing costs
};

class CachingAllocator {
 public:
  CachingAllocator(const Settings& settings, SegmentObserver* observer);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  // kResourceExhausted: does not fit (message: asked, free, reserved). kInvalidArgument: bytes is 0
  // (the real allocator is never asked for that: zero-byte tensors hold a null pointer) or above
  // kMaxRequest. `mempool`: a private pool (CUDA graphs, torch.cuda.MemPool), made by its first
  // request; its memory serves no other.
  absl::StatusOr<Block> Malloc(uint64_t bytes, uint32_t stream, uint32_t mempool = 0);

  // As Malloc, but never granted beyond the limit.
  absl::StatusOr<Block> TryMalloc(uint64_t bytes, uint32_t stream, uint32_t mempool = 0);

  // The address must be of a live block (checked: kInvalidArgument). A block that another stream
  // used (RecordStream) stays pending until CompleteFree or until the cache is released.
  absl::Status Free(uint64_t address);
  // The two halves of a free. A pending block is neither reused nor merged.
  absl::Status RequestFree(uint64_t address);
  absl::Status CompleteFree(uint64_t address);
  // The live block is used on `stream` besides its own.
  absl::Status RecordStream(uint64_t address, uint32_t stream);

  // Completes pending frees and gives wholly free segments and pages back to the driver, large ones
  // first (torch.cuda.empty_cache()).
  void EmptyCache();
  // What is free of one private pool alone goes back.
  void EmptyPool(uint32_t mempool);
  // Nothing uses the private pool any more: what is free of it goes back with the next release.
  void ReleasePool(uint32_t mempool);

  const Stats& stats() const;

  // Every segment with its blocks, by address; for the segment map and for tests.
  struct SnapshotBlock {
    Block block;
    bool live = false;  // a pending block is live
    bool pending = false;
    bool mapped = true;  // false: addresses of an expandable segment without memory
  };
  struct SnapshotSegment {
    Segment segment;
    std::vector<SnapshotBlock> blocks;
  };
  std::vector<SnapshotSegment> Snapshot() const;
  // Starts from a given state instead of from nothing; allowed once, before anything else. Blocks
  // tile their segment, by address. kInvalidArgument: they do not, or segments overlap.
  absl::Status Restore(std::span<const SnapshotSegment> segments);

  // The free block that Malloc would take without asking the driver; nullopt: it would ask.
  std::optional<Block> BestFit(uint64_t bytes, uint32_t stream, uint32_t mempool = 0) const;
  // The free block right behind the block in use at `address`; nullopt: there is none.
  std::optional<Block> FreeBehind(uint64_t address) const;
  // The block in use at `address` is `bytes` long, what changes goes to or comes from the free
  // block behind it, which stays: for start states that are not known to the byte.
  absl::Status Resize(uint64_t address, uint64_t bytes);

  static constexpr uint64_t kMaxRequest = uint64_t{1} << 46;  // 64 TiB: beyond any device

  // rules.h, for who has this header.
  static uint64_t RoundSize(uint64_t bytes);      // to 512, at least 512
  static uint64_t SegmentSize(uint64_t rounded);  // 2 MiB | 20 MiB | up to 2 MiB
  // Under settings.
  static uint64_t RoundSize(uint64_t bytes, const run::AllocConf& conf);
  static uint64_t SegmentSize(uint64_t rounded, const run::AllocConf& conf);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::allocator
