// Returns the state of the model, and starts the model from a given state.
#include <fmt/format.h>

#include <utility>

#include "profiler/allocator/allocator_state.h"
#include "profiler/base/i18n.h"

namespace vramscope::allocator {

std::vector<CachingAllocator::SnapshotSegment> CachingAllocator::Snapshot() const {
  std::vector<SnapshotSegment> out;
  out.reserve(impl_->segments.size());
  for (const auto& [address, s] : impl_->segments) {
    SnapshotSegment state{.segment = s->segment, .blocks = {}};
    for (const BlockNode* b = s->first; b != nullptr; b = b->next) {
      state.blocks.push_back({.block = {.address = b->address,
                                        .bytes_requested = b->requested,
                                        .bytes_rounded = b->size,
                                        .pool = s->segment.pool,
                                        .stream = s->segment.stream},
                              .live = b->use == BlockUse::kLive || b->use == BlockUse::kPending,
                              .pending = b->use == BlockUse::kPending,
                              .mapped = b->use != BlockUse::kUnmapped});
    }
    out.push_back(std::move(state));
  }
  return out;
}

absl::Status CachingAllocator::Restore(std::span<const SnapshotSegment> states) {
  Impl& m = *impl_;
  if (!m.segments.empty() || m.stats.segment_allocs != 0) {
    return absl::FailedPreconditionError(
        i18n::Text("caching allocator: cannot restore a state, because it already has segments"));
  }
  const auto bad = [](uint64_t address, std::string_view what) {
    return absl::InvalidArgumentError(
        i18n::Format("caching allocator: segment at {:#x}: {}", address, what));
  };
  // Checks the whole input before anything is built.
  std::map<uint64_t, uint64_t> ends;
  for (const SnapshotSegment& state : states) {
    const Segment& s = state.segment;
    if (s.bytes == 0 || s.bytes > kMaxRequest || s.address + s.bytes < s.address) {
      return bad(s.address, i18n::Format("its size of {} bytes is not allowed", s.bytes));
    }
    if (!ends.emplace(s.address, s.address + s.bytes).second)
      return bad(s.address, i18n::Text("it exists twice"));
    const uint64_t page = PageSize(s.pool, m.settings.conf);
    uint64_t at = s.address;
    for (const SnapshotBlock& b : state.blocks) {
      const uint64_t left = s.address + s.bytes - at;
      if (b.block.address != at || b.block.bytes_rounded == 0 || b.block.bytes_rounded > left) {
        return bad(s.address, i18n::Format("a block of {1} bytes is at {0:#x} instead of {2:#x}",
                                           b.block.address, b.block.bytes_rounded, at));
      }
      if (!b.mapped && (!s.expandable || b.live || (at - s.address) % page != 0 ||
                        b.block.bytes_rounded % page != 0)) {
        return bad(s.address, i18n::Format("the unmapped block at {:#x} is invalid", at));
      }
      at += b.block.bytes_rounded;
    }
    if (at != s.address + s.bytes)
      return bad(s.address, i18n::Text("its blocks do not fill the segment"));
  }
  uint64_t end = 0;
  for (const auto& [address, segment_end] : ends) {
    if (address < end) return bad(address, i18n::Text("it overlaps the previous segment"));
    end = segment_end;
  }
  m.next_address = std::max(m.next_address, RoundUp(end, kSegmentAlignment));

  for (const SnapshotSegment& state : states) {
    if (state.segment.expandable) m.plain = false;
    SegmentNode* s =
        m.AddSegment(state.segment, m.PoolsOf(state.segment.mempool, state.segment.stream));
    s->page = PageSize(state.segment.pool, m.settings.conf);
    BlockNode* last = nullptr;
    for (const SnapshotBlock& b : state.blocks) {
      BlockNode* n = s->first;
      if (last == nullptr) {
        n->size = b.block.bytes_rounded;
      } else {
        n = m.AddAfter(last, b.block.address, b.block.bytes_rounded);
      }
      last = n;
      n->use = !b.mapped   ? BlockUse::kUnmapped
               : b.pending ? BlockUse::kPending
               : b.live    ? BlockUse::kLive
                           : BlockUse::kFree;
      if (b.mapped) m.CountReserved(n->size);
      switch (n->use) {
        case BlockUse::kFree:
          m.InsertFree(n);
          break;
        case BlockUse::kUnmapped:
          m.UnmappedOf(*s)[n->address] = n;
          break;
        default:
          n->requested = b.block.bytes_requested;
          m.in_use.Insert(n);
          m.stats.requested += n->requested;
          m.stats.allocated += n->size;
          if (b.pending) m.AddPending(n);
      }
    }
  }
  m.stats.peak_requested = m.stats.requested;
  m.stats.peak_allocated = m.stats.allocated;
  return absl::OkStatus();
}

std::optional<Block> CachingAllocator::BestFit(uint64_t bytes, uint32_t stream,
                                               uint32_t mempool) const {
  const Impl& m = *impl_;
  const uint64_t size = RoundSize(bytes, m.settings.conf);
  const auto pool = static_cast<size_t>(PoolOf(size));
  const auto owner = m.mempools.find(mempool);
  if (owner == m.mempools.end()) return std::nullopt;
  for (const auto& pools : owner->second->streams) {
    if (pools->stream != stream) continue;
    const BlockNode* b = m.FindFree(*pools, pool, size);
    if (b == nullptr) return std::nullopt;
    return Block{.address = b->address,
                 .bytes_rounded = b->size,
                 .pool = static_cast<trace::Pool>(pool),
                 .stream = stream};
  }
  return std::nullopt;
}

std::optional<Block> CachingAllocator::FreeBehind(uint64_t address) const {
  const BlockNode* b = impl_->in_use.Find(address);
  if (b == nullptr || b->next == nullptr || b->next->use != BlockUse::kFree) return std::nullopt;
  return Block{.address = b->next->address,
               .bytes_rounded = b->next->size,
               .pool = b->segment->segment.pool,
               .stream = b->segment->segment.stream};
}

absl::Status CachingAllocator::Resize(uint64_t address, uint64_t bytes) {
  Impl& m = *impl_;
  BlockNode* b = m.in_use.Find(address);
  BlockNode* behind = b != nullptr ? b->next : nullptr;
  if (behind == nullptr || behind->use != BlockUse::kFree || bytes < b->requested || bytes == 0 ||
      bytes >= b->size + behind->size) {
    return absl::InvalidArgumentError(i18n::Format(
        "caching allocator: the block at {:#x} cannot be resized to {} bytes", address, bytes));
  }
  FreeTree& tree = Impl::TreeOf(*b->segment);
  tree.Erase(behind);
  m.stats.allocated += bytes - b->size;
  m.stats.peak_allocated = std::max(m.stats.peak_allocated, m.stats.allocated);
  behind->size += b->size - bytes;
  behind->address = address + bytes;
  b->size = bytes;
  tree.Insert(behind);
  m.List(*b->segment->pools, Impl::PoolIndex(*b->segment));
  return absl::OkStatus();
}

}  // namespace vramscope::allocator
