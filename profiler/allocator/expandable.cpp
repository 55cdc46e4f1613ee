// Implements expandable segments. Each stream and pool has one address range, to which memory is
// mapped page by page.
#include "profiler/allocator/allocator_state.h"

namespace vramscope::allocator {

// find_expandable_block() of PyTorch: finds the lowest unmapped range that has enough room together
// with the free block directly before it. If there is none, makes a segment.
BlockNode* CachingAllocator::Impl::FindExpandable(StreamPools& pools, size_t pool, uint64_t size) {
  const auto has_room = [size](const BlockNode* b) {
    uint64_t bytes = 0;
    for (; bytes < size && b != nullptr; b = b->next) {
      if (b->use != BlockUse::kFree && b->use != BlockUse::kUnmapped) break;
      bytes += b->size;
    }
    return bytes >= size;
  };
  for (const auto& [address, unmapped] : pools.unmapped[pool]) {
    BlockNode* b = unmapped;
    if (b->prev != nullptr && b->prev->use == BlockUse::kFree) b = b->prev;
    if (has_room(b)) return b;
  }
  const uint64_t page = PageSize(static_cast<trace::Pool>(pool), settings.conf);
  // Reserves more addresses if the request is larger than the device's memory. This may happen if a
  // user tries a small limit.
  const uint64_t reserved =
      ReservedAddresses(DeviceTotal(), static_cast<trace::Pool>(pool), settings.conf);
  Segment segment{.bytes = std::max(reserved, RoundUp(size, page)),
                  .pool = static_cast<trace::Pool>(pool),
                  .stream = pools.stream,
                  .mempool = pools.owner->id,
                  .expandable = true};
  if (settings.driver != nullptr) {
    const std::optional<uint64_t> address = settings.driver->Allocate(segment);
    if (!address.has_value()) return nullptr;
    segment.address = *address;
  } else {
    segment.address = next_address;
    next_address += RoundUp(segment.bytes, kSegmentAlignment);
  }
  SegmentNode* s = AddSegment(segment, pools);
  s->page = page;
  s->first->use = BlockUse::kUnmapped;
  UnmappedOf(*s)[segment.address] = s->first;
  if (observer != nullptr) observer->OnSegmentAlloc(segment);
  return s->first;
}

// try_allocate_expandable_block() of PyTorch.
BlockNode* CachingAllocator::Impl::AllocateExpandable(StreamPools& pools, size_t pool,
                                                      uint64_t size, bool forced) {
  BlockNode* b = FindExpandable(pools, pool, size);
  if (b == nullptr) return nullptr;
  if (b->use == BlockUse::kUnmapped) {
    b = Map(b, std::min(b->size, size), forced);
    if (b == nullptr) return nullptr;
  }
  // The range after a free block must be unmapped, because free neighbours are always merged.
  while (b->size < size) {
    b = Map(b->next, std::min(b->next->size, size - b->size), forced);
    if (b == nullptr) return nullptr;
  }
  TreeOf(*b->segment).Erase(b);
  return b;
}

// map_block() of PyTorch. Unmapped ranges begin and end at page boundaries.
BlockNode* CachingAllocator::Impl::Map(BlockNode* b, uint64_t bytes, bool forced) {
  SegmentNode& s = *b->segment;
  const uint64_t address = b->address;
  const uint64_t mapped = RoundUp(bytes, s.page);
  if (settings.driver != nullptr ? !settings.driver->Map(s.segment, address, mapped)
                                 : !forced && !Fits(mapped)) {
    return nullptr;
  }
  UnmappedOf(s).erase(address);
  if (mapped < b->size) {
    BlockNode* rest = AddAfter(b, address + mapped, b->size - mapped);
    rest->use = BlockUse::kUnmapped;
    UnmappedOf(s)[rest->address] = rest;
    b->size = mapped;
  }
  PutBack(b);
  CountReserved(mapped);
  ++stats.segment_maps;
  if (observer != nullptr) observer->OnSegmentMap(s.segment, address, mapped);
  return b;
}

// unmap_block() of PyTorch.
void CachingAllocator::Impl::Unmap(BlockNode* b) {
  SegmentNode& s = *b->segment;
  const uint64_t base = s.segment.address;
  const uint64_t begin = base + RoundUp(b->address - base, s.page);
  const uint64_t end = base + (b->address + b->size - base) / s.page * s.page;
  if (begin >= end) return;
  TreeOf(s).Erase(b);
  if (begin > b->address) InsertFree(AddBefore(b, b->address, begin - b->address));
  if (const uint64_t after = b->address + b->size; end < after) {
    InsertFree(AddAfter(b, end, after - end));
  }
  b->address = begin;
  b->size = end - begin;
  b->use = BlockUse::kUnmapped;
  for (BlockNode* neighbour : {b->prev, b->next}) {
    if (neighbour == nullptr || neighbour->use != BlockUse::kUnmapped) continue;
    UnmappedOf(s).erase(neighbour->address);
    Absorb(b, neighbour);
  }
  UnmappedOf(s)[b->address] = b;
  stats.reserved -= end - begin;
  ++stats.segment_unmaps;
  if (observer != nullptr) observer->OnSegmentUnmap(s.segment, begin, end - begin);
}

void CachingAllocator::Impl::ReleaseExpandable(BlockNode* whole) {
  SegmentNode* s = whole->segment;
  const Segment gone = s->segment;
  UnmappedOf(*s).erase(whole->address);
  segments.erase(gone.address);
  block_nodes.Give(whole);
  segment_nodes.Give(s);
  if (observer != nullptr) observer->OnSegmentFree(gone);
}

}  // namespace vramscope::allocator
