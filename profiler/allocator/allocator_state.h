// The state of the caching-allocator model and the steps that change it. Malloc and Free are in
// caching_allocator.cpp, calls of the driver and releases in release.cpp, expandable segments in
// expandable.cpp, snapshots in snapshot_and_restore.cpp. Internal to this folder.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "profiler/allocator/blocks.h"
#include "profiler/allocator/rules.h"

namespace vramscope::allocator {

struct MemPool;

// Blocks of one stream within one memory pool. Best fit never uses another stream's block, so a
// tree for each stream gives the same result as the real allocator's single set, which is ordered
// by (stream, size, address).
struct StreamPools {
  uint32_t stream = 0;
  MemPool* owner = nullptr;
  FreeTree free[2];                            // indexed by Pool
  std::map<uint64_t, BlockNode*> unmapped[2];  // keyed by address
  bool listed[3] = {false, false, false};  // whether the stream is in each list of MemPool::freed
};

// The default pool or a private pool.
struct MemPool {
  uint32_t id = 0;
  bool released = false;
  uint64_t searches[2] = {0, 0};  // number of searches in each pool; block ages count them
  std::vector<std::unique_ptr<StreamPools>> streams;  // sorted by stream
  // For each pool, the streams in which a block was freed after the list was last processed. A
  // stream whose blocks could not be released is listed again when another of its blocks is
  // freed. Garbage collection of the large pool has a third list, because it releases only some
  // blocks.
  std::vector<StreamPools*> freed[3];
  static constexpr size_t kForCollection = 2;

  void List(StreamPools& pools, size_t which) {
    if (pools.listed[which]) return;
    pools.listed[which] = true;
    freed[which].push_back(&pools);
  }
  // Returns the listed streams in order and empties the list.
  std::vector<StreamPools*> TakeFreed(size_t which) {
    std::vector<StreamPools*> list;
    list.swap(freed[which]);
    for (StreamPools* pools : list) pools->listed[which] = false;
    std::sort(list.begin(), list.end(),
              [](const StreamPools* a, const StreamPools* b) { return a->stream < b->stream; });
    return list;
  }
};

struct SegmentNode {
  Segment segment;
  BlockNode* first = nullptr;
  StreamPools* pools = nullptr;
  uint64_t page = 0;  // page size of an expandable segment
};

struct CachingAllocator::Impl {
  static constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

  Settings settings;
  SegmentObserver* observer;
  Stats stats;
  uint64_t next_address;
  uint64_t allowed = kNoLimit;  // set by the memory fraction
  bool rounds_up = false;       // roundup_power2_divisions is set
  bool plain = true;            // no setting restricts best fit
  bool ages = false;            // garbage collection is on
  bool over_limit = false;      // an allocation exceeded the limit, and no later one has fitted
  std::map<uint32_t, std::unique_ptr<MemPool>> mempools;  // keyed by id
  StreamPools* last_pools = nullptr;
  NodePool<BlockNode> block_nodes;
  NodePool<SegmentNode> segment_nodes;
  LiveTable in_use;
  std::map<uint64_t, SegmentNode*> segments;  // keyed by address
  // The pending blocks in the order of their free requests. An entry is outdated if the block at
  // its address is no longer pending or has another ticket.
  struct Pending {
    uint64_t address = 0, ticket = 0;
  };
  std::vector<Pending> pending;
  uint64_t next_ticket = 0;
  size_t pending_count = 0;
  std::unordered_map<const BlockNode*, std::vector<uint32_t>> stream_uses;

  Impl(const Settings& s, SegmentObserver* o);

  // --- lookups
  StreamPools& PoolsOf(uint32_t mempool, uint32_t stream);
  static size_t PoolIndex(const SegmentNode& s) { return static_cast<size_t>(s.segment.pool); }
  static FreeTree& TreeOf(const SegmentNode& s) { return s.pools->free[PoolIndex(s)]; }
  static std::map<uint64_t, BlockNode*>& UnmappedOf(const SegmentNode& s) {
    return s.pools->unmapped[PoolIndex(s)];
  }
  uint64_t DeviceFree() const {
    return stats.reserved >= settings.device_memory_bytes
               ? 0
               : settings.device_memory_bytes - stats.reserved;
  }
  bool Fits(uint64_t bytes) const {
    return settings.device_memory_bytes == 0 || bytes <= DeviceFree();
  }
  uint64_t DeviceTotal() const;

  // --- blocks
  BlockNode* FindPending(const Pending& p) const {
    BlockNode* b = in_use.Find(p.address);
    return b != nullptr && b->use == BlockUse::kPending && b->since == p.ticket ? b : nullptr;
  }
  void AddPending(BlockNode* b);
  BlockNode* FindFree(const StreamPools& pools, size_t pool, uint64_t size) const;
  BlockNode* TakeFree(StreamPools& pools, size_t pool, uint64_t size) {
    if (ages) ++pools.owner->searches[pool];
    FreeTree& tree = pools.free[pool];
    if (plain) return tree.TakeBestFit(size);
    BlockNode* b = FindFree(pools, pool, size);
    if (b != nullptr) tree.Erase(b);
    return b;
  }
  void InsertFree(BlockNode* b) {
    const SegmentNode& s = *b->segment;
    b->use = BlockUse::kFree;
    b->since = s.pools->owner->searches[PoolIndex(s)];
    TreeOf(s).Insert(b);
    List(*s.pools, PoolIndex(s));
  }
  void List(StreamPools& pools, size_t pool) {
    pools.owner->List(pools, pool);
    if (ages && pool == static_cast<size_t>(trace::Pool::kLarge)) {
      pools.owner->List(pools, MemPool::kForCollection);
    }
  }
  // Return a new node directly before or after `b` in its segment.
  BlockNode* AddBefore(BlockNode* b, uint64_t address, uint64_t size);
  BlockNode* AddAfter(BlockNode* b, uint64_t address, uint64_t size);
  // Merges `neighbour`, which must not be in a container, into `b`.
  void Absorb(BlockNode* b, BlockNode* neighbour);
  // Merges `b`, which must not be in a container, with its free neighbours, and adds the result to
  // the free blocks.
  void PutBack(BlockNode* b);
  void Complete(BlockNode* b);

  // --- the driver
  SegmentNode* AddSegment(const Segment& segment, StreamPools& pools);
  BlockNode* TryDriver(uint64_t size, StreamPools& pools, size_t pool, bool forced);
  // Returns a block from the driver. Call if no cached block fits. Returns null if the device is
  // out of memory, after reporting that to the observer.
  BlockNode* FromDriver(uint64_t bytes, uint64_t size, StreamPools& pools, size_t pool);
  void CountReserved(uint64_t bytes);

  // --- releasing memory
  void CompletePending();
  void ReleaseSegment(BlockNode* whole);
  void ReleaseBlocks(MemPool& owner, size_t pool);
  void ReleaseCached();
  bool ReleaseAvailable(StreamPools& pools, size_t pool, uint64_t size);
  void CollectGarbage();

  // --- expandable segments
  BlockNode* FindExpandable(StreamPools& pools, size_t pool, uint64_t size);
  BlockNode* AllocateExpandable(StreamPools& pools, size_t pool, uint64_t size, bool forced);
  // Maps pages, and returns the free block that contains them, or null if the device is full.
  BlockNode* Map(BlockNode* b, uint64_t bytes, bool forced);
  // Releases the whole pages within the free block `b`, if there are any. `b` becomes the range
  // that is unmapped.
  void Unmap(BlockNode* b);
  void ReleaseExpandable(BlockNode* whole);
};

}  // namespace vramscope::allocator
