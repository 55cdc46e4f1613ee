// Gets memory from the driver for requests for which no cached block can be used, and releases it.
#include <utility>

#include "profiler/allocator/allocator_state.h"

namespace vramscope::allocator {

void CachingAllocator::Impl::CountReserved(uint64_t bytes) {
  stats.reserved += bytes;
  stats.peak_reserved = std::max(stats.peak_reserved, stats.reserved);
}

// Adds a segment that is a single block. The block is not in a container yet.
SegmentNode* CachingAllocator::Impl::AddSegment(const Segment& segment, StreamPools& pools) {
  SegmentNode* s = segment_nodes.Take();
  *s = SegmentNode{.segment = segment, .pools = &pools};
  s->first = block_nodes.Take();
  *s->first = BlockNode{.address = segment.address, .size = segment.bytes, .segment = s};
  segments[segment.address] = s;
  return s;
}

// alloc_block() of PyTorch. `forced` means that limits are ignored.
BlockNode* CachingAllocator::Impl::TryDriver(uint64_t size, StreamPools& pools, size_t pool,
                                             bool forced) {
  Segment segment{.bytes = SegmentSize(size, settings.conf),
                  .pool = static_cast<trace::Pool>(pool),
                  .stream = pools.stream,
                  .mempool = pools.owner->id};
  if (!forced && allowed != kNoLimit && stats.reserved + segment.bytes > allowed) return nullptr;
  if (settings.conf.expandable_segments) return AllocateExpandable(pools, pool, size, forced);
  if (settings.driver != nullptr) {
    const std::optional<uint64_t> address = settings.driver->Allocate(segment);
    if (!address.has_value()) return nullptr;
    segment.address = *address;
  } else {
    if (!forced && !Fits(segment.bytes)) return nullptr;
    segment.address = next_address;
    next_address += RoundUp(segment.bytes, kSegmentAlignment);
  }
  BlockNode* b = AddSegment(segment, pools)->first;
  CountReserved(segment.bytes);
  ++stats.segment_allocs;
  if (observer != nullptr) observer->OnSegmentAlloc(segment);
  return b;
}

BlockNode* CachingAllocator::Impl::FromDriver(uint64_t bytes, uint64_t size, StreamPools& pools,
                                              size_t pool) {
  if (ages) CollectGarbage();
  BlockNode* b = TryDriver(size, pools, pool, false);
  if (b == nullptr && ReleaseAvailable(pools, pool, size)) {
    b = TryDriver(size, pools, pool, false);
  }
  // Nothing may be released while allocations use a private pool, as they do during a capture.
  if (b == nullptr && pools.owner->id == 0) {
    ++stats.retries;
    ReleaseCached();
    b = TryDriver(size, pools, pool, false);
  }
  if (b != nullptr) {
    over_limit = false;
    return b;
  }
  if (!settings.grant_over_limit || !over_limit) {
    ++stats.out_of_memory;
    if (observer != nullptr) observer->OnOutOfMemory(bytes, DeviceFree());
  }
  if (!settings.grant_over_limit) return nullptr;
  over_limit = true;
  return TryDriver(size, pools, pool, true);
}

// synchronize_and_free_events() of PyTorch.
void CachingAllocator::Impl::CompletePending() {
  if (pending_count == 0) {
    pending.clear();
    return;
  }
  const std::vector<Pending> order = std::exchange(pending, {});
  pending_count = 0;
  for (const Pending& p : order) {
    BlockNode* b = FindPending(p);
    if (b == nullptr) continue;
    in_use.Remove(p.address);
    const Block block{.address = b->address,
                      .bytes_requested = b->requested,
                      .bytes_rounded = b->size,
                      .pool = b->segment->segment.pool,
                      .stream = b->segment->segment.stream};
    Complete(b);
    if (observer != nullptr) observer->OnFreeCompleted(block);
  }
}

// release_block() of PyTorch. `whole` must be free and fill its segment.
void CachingAllocator::Impl::ReleaseSegment(BlockNode* whole) {
  SegmentNode* s = whole->segment;
  const Segment gone = s->segment;
  TreeOf(*s).Erase(whole);
  segments.erase(gone.address);
  block_nodes.Give(whole);
  segment_nodes.Give(s);
  stats.reserved -= gone.bytes;
  ++stats.segment_frees;
  if (observer != nullptr) observer->OnSegmentFree(gone);
}

// release_blocks() of PyTorch, in the order of the pool's set (stream, size, address).
void CachingAllocator::Impl::ReleaseBlocks(MemPool& owner, size_t pool) {
  std::vector<BlockNode*> whole, pages;
  for (const StreamPools* pools : owner.TakeFreed(pool)) {
    ++stats.pools_searched;
    pools->free[pool].ForEach([&](BlockNode* b) {
      if (b->segment->segment.expandable) {
        pages.push_back(b);
      } else if (b->prev == nullptr && b->next == nullptr) {
        whole.push_back(b);
      }
    });
  }
  for (BlockNode* b : whole) ReleaseSegment(b);
  for (BlockNode* b : pages) {
    Unmap(b);
    if (b->use == BlockUse::kUnmapped && b->prev == nullptr && b->next == nullptr) {
      ReleaseExpandable(b);
    }
  }
}

// release_cached_blocks() of PyTorch.
void CachingAllocator::Impl::ReleaseCached() {
  constexpr auto kSmall = static_cast<size_t>(trace::Pool::kSmall);
  constexpr auto kLarge = static_cast<size_t>(trace::Pool::kLarge);
  CompletePending();
  for (const auto& [id, owner] : mempools) {
    if (id == 0) {
      ReleaseBlocks(*owner, kLarge);
      ReleaseBlocks(*owner, kSmall);
    } else if (owner->released) {
      ReleaseBlocks(*owner, kSmall);
      ReleaseBlocks(*owner, kLarge);
    }
  }
}

// release_available_cached_blocks() of PyTorch: releases just enough oversize blocks for one more
// attempt.
bool CachingAllocator::Impl::ReleaseAvailable(StreamPools& pools, size_t pool, uint64_t size) {
  const uint64_t limit = settings.conf.max_split_size;
  if (limit == run::AllocConf::kNoMaxSplit) return false;
  FreeTree& tree = pools.free[pool];
  const uint64_t wanted = std::max(size, limit);
  // An oversize block fills its segment, unless the state was recorded with other settings.
  const auto whole = [](const BlockNode* b) {
    return !b->segment->segment.expandable && b->prev == nullptr && b->next == nullptr;
  };
  BlockNode* b = tree.LowerBound(wanted, 0);
  if (b != nullptr && whole(b)) {
    ReleaseSegment(b);
    return true;
  }
  // No single block is large enough, so blocks are released in descending order of size.
  b = b != nullptr ? tree.Previous(b) : tree.Last();
  uint64_t released = 0;
  while (b != nullptr && released < wanted && b->size >= limit) {
    BlockNode* below = tree.Previous(b);
    if (whole(b)) {
      released += b->size;
      ReleaseSegment(b);
    }
    b = below;
  }
  return released >= wanted;
}

// garbage_collect_cached_blocks() of PyTorch: releases blocks of the large pool that were unused
// for longer than average, until reserved memory is below the threshold.
void CachingAllocator::Impl::CollectGarbage() {
  const auto threshold = static_cast<uint64_t>(settings.conf.garbage_collection_threshold *
                                               static_cast<double>(allowed));
  if (stats.reserved <= threshold) return;
  const uint64_t target = stats.reserved - threshold;
  constexpr auto kLarge = static_cast<size_t>(trace::Pool::kLarge);
  MemPool& owner = *mempools.at(0);
  const auto age = [&owner](const BlockNode* b) {
    return static_cast<double>(owner.searches[kLarge] - b->since);
  };
  std::vector<BlockNode*> candidates;
  double total_age = 0;
  uint64_t count = 0;
  for (StreamPools* pools : owner.TakeFreed(MemPool::kForCollection)) {
    ++stats.pools_searched;
    pools->free[kLarge].ForEach([&](BlockNode* b) {
      if (b->prev != nullptr || b->next != nullptr) return;
      owner.List(*pools, MemPool::kForCollection);
      total_age += age(b);
      ++count;
      if (!b->segment->segment.expandable) candidates.push_back(b);
    });
  }
  uint64_t reclaimed = 0;
  for (bool freed = true; freed && reclaimed < target && count > 0;) {
    const double average = total_age / static_cast<double>(count);
    freed = false;
    std::vector<BlockNode*> younger;
    for (BlockNode* b : candidates) {
      if (age(b) < average) {
        younger.push_back(b);
        continue;
      }
      freed = true;
      reclaimed += b->size;
      total_age -= age(b);
      --count;
      ReleaseSegment(b);
    }
    candidates.swap(younger);
  }
}

}  // namespace vramscope::allocator
