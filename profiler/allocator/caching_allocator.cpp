#include "profiler/allocator/caching_allocator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiler/allocator/allocator_state.h"
#include "profiler/base/i18n.h"

namespace vramscope::allocator {
namespace {

constexpr uint64_t kMaxAddress = uint64_t{1} << 62;

}  // namespace

CachingAllocator::Impl::Impl(const Settings& s, SegmentObserver* o)
    : settings(s), observer(o), next_address(RoundUp(s.first_address, kSegmentAlignment)) {
  const run::AllocConf& conf = settings.conf;
  if (conf.memory_fraction > 0 && conf.memory_fraction < 1) {
    allowed = static_cast<uint64_t>(conf.memory_fraction * static_cast<double>(DeviceTotal()));
  }
  ages = allowed != kNoLimit && conf.garbage_collection_threshold > 0;
  plain = conf.max_split_size == run::AllocConf::kNoMaxSplit && !conf.expandable_segments;
  for (uint32_t divisions : conf.roundup_power2_divisions) rounds_up |= divisions > 1;
  mempools[0] = std::make_unique<MemPool>();
}

uint64_t CachingAllocator::Impl::DeviceTotal() const {
  if (settings.device_total_bytes != 0) return settings.device_total_bytes;
  return settings.device_memory_bytes != 0 ? settings.device_memory_bytes : kUnknownDevice;
}

StreamPools& CachingAllocator::Impl::PoolsOf(uint32_t mempool, uint32_t stream) {
  if (last_pools != nullptr && last_pools->stream == stream && last_pools->owner->id == mempool) {
    return *last_pools;
  }
  std::unique_ptr<MemPool>& owner = mempools[mempool];
  if (owner == nullptr) {
    owner = std::make_unique<MemPool>();
    owner->id = mempool;
  }
  auto& streams = owner->streams;
  auto it = std::lower_bound(
      streams.begin(), streams.end(), stream,
      [](const std::unique_ptr<StreamPools>& p, uint32_t value) { return p->stream < value; });
  if (it == streams.end() || (*it)->stream != stream) {
    it = streams.insert(it, std::make_unique<StreamPools>());
    (*it)->stream = stream;
    (*it)->owner = owner.get();
  }
  last_pools = it->get();
  return *last_pools;
}

// get_free_block() of PyTorch: finds the best fit, and decides whether to reject it.
BlockNode* CachingAllocator::Impl::FindFree(const StreamPools& pools, size_t pool,
                                            uint64_t size) const {
  const FreeTree& tree = pools.free[pool];
  const auto expandable = [](const BlockNode* b) { return b->segment->segment.expandable; };
  BlockNode* b = tree.LowerBound(size, 0);
  if (b == nullptr) return nullptr;
  if (expandable(b)) {
    if (settings.conf.expandable_segments) {
      // Goes on to the next block while it has less room. The room of a block that can grow is the
      // size that it can reach. Thus the growing end of a segment is used last.
      const auto room = [](const BlockNode* n) {
        const BlockNode* after = n->next;
        const bool grows = after != nullptr && after->use == BlockUse::kUnmapped;
        return n->size + (grows ? after->size : 0);
      };
      for (BlockNode* next = tree.Next(b); next != nullptr && expandable(b) && room(next) < room(b);
           next = tree.Next(next)) {
        b = next;
      }
    } else {
      while (b != nullptr && expandable(b)) b = tree.Next(b);
      if (b == nullptr) return nullptr;
    }
  }
  const run::AllocConf& conf = settings.conf;
  // A block of at least max_split_size is used only for a request of at least that size, and only
  // if it is not much larger.
  if (size < conf.max_split_size) {
    if (b->size >= conf.max_split_size) return nullptr;
  } else if (b->size - size >= conf.max_non_split_rounding) {
    return nullptr;
  }
  return b;
}

BlockNode* CachingAllocator::Impl::AddAfter(BlockNode* b, uint64_t address, uint64_t size) {
  BlockNode* n = block_nodes.Take();
  *n = BlockNode{
      .address = address, .size = size, .prev = b, .next = b->next, .segment = b->segment};
  if (b->next != nullptr) b->next->prev = n;
  b->next = n;
  return n;
}

BlockNode* CachingAllocator::Impl::AddBefore(BlockNode* b, uint64_t address, uint64_t size) {
  BlockNode* n = block_nodes.Take();
  *n = BlockNode{
      .address = address, .size = size, .prev = b->prev, .next = b, .segment = b->segment};
  (b->prev != nullptr ? b->prev->next : b->segment->first) = n;
  b->prev = n;
  return n;
}

void CachingAllocator::Impl::Absorb(BlockNode* b, BlockNode* neighbour) {
  if (neighbour == b->prev) {
    b->address = neighbour->address;
    b->prev = neighbour->prev;
    (b->prev != nullptr ? b->prev->next : b->segment->first) = b;
  } else {
    b->next = neighbour->next;
    if (b->next != nullptr) b->next->prev = b;
  }
  b->size += neighbour->size;
  block_nodes.Give(neighbour);
}

void CachingAllocator::Impl::PutBack(BlockNode* b) {
  FreeTree& tree = TreeOf(*b->segment);
  for (BlockNode* neighbour : {b->prev, b->next}) {
    if (neighbour == nullptr || neighbour->use != BlockUse::kFree) continue;
    tree.Erase(neighbour);
    Absorb(b, neighbour);
  }
  InsertFree(b);
}

// free_block() of PyTorch. Call after removing the block from the table.
void CachingAllocator::Impl::Complete(BlockNode* b) {
  stats.requested -= b->requested;
  stats.allocated -= b->size;
  b->requested = 0;
  PutBack(b);
}

void CachingAllocator::Impl::AddPending(BlockNode* b) {
  if (pending.size() > 2 * pending_count + 64) {
    std::erase_if(pending, [this](const Pending& p) { return FindPending(p) == nullptr; });
  }
  b->use = BlockUse::kPending;
  b->since = ++next_ticket;
  pending.push_back({b->address, b->since});
  ++pending_count;
}

CachingAllocator::CachingAllocator(const Settings& settings, SegmentObserver* observer)
    : impl_(std::make_unique<Impl>(settings, observer)) {}
CachingAllocator::~CachingAllocator() = default;

absl::StatusOr<Block> CachingAllocator::Malloc(uint64_t bytes, uint32_t stream, uint32_t mempool) {
  Impl& m = *impl_;
  if (bytes == 0 || bytes > kMaxRequest || m.next_address > kMaxAddress) {
    return absl::InvalidArgumentError(
        i18n::Format("caching allocator: cannot allocate {} bytes on stream {}. Sizes from 1 to {} "
                     "bytes are allowed, and the address space is used up to {:#x}",
                     bytes, stream, kMaxRequest, m.next_address));
  }
  const run::AllocConf& conf = m.settings.conf;
  const uint64_t size = m.rounds_up ? RoundSize(bytes, conf) : RoundSize(bytes);
  const auto pool = static_cast<size_t>(PoolOf(size));
  StreamPools& pools = m.PoolsOf(mempool, stream);
  BlockNode* b = m.TakeFree(pools, pool, size);
  if (b == nullptr) {
    b = m.FromDriver(bytes, size, pools, pool);
    if (b == nullptr) {
      return absl::ResourceExhaustedError(
          i18n::Format("out of memory: a request of {} bytes on stream {} needs a segment of {} "
                       "bytes. The device has {} of {} bytes free. The allocator has reserved {} "
                       "bytes, of which {} are allocated",
                       bytes, stream, SegmentSize(size, conf), m.DeviceFree(),
                       m.settings.device_memory_bytes, m.stats.reserved, m.stats.allocated));
    }
  }
  const uint64_t remaining = b->size - size;
  if (Splits(size, remaining, static_cast<trace::Pool>(pool), conf)) {
    b->size = size;
    m.InsertFree(m.AddAfter(b, b->address + size, remaining));
  }
  b->use = BlockUse::kLive;
  b->requested = bytes;
  m.in_use.Insert(b);

  Stats& s = m.stats;
  s.requested += bytes;
  s.allocated += b->size;
  s.peak_requested = std::max(s.peak_requested, s.requested);
  s.peak_allocated = std::max(s.peak_allocated, s.allocated);
  return Block{.address = b->address,
               .bytes_requested = bytes,
               .bytes_rounded = b->size,
               .pool = static_cast<trace::Pool>(pool),
               .stream = stream};
}

absl::StatusOr<Block> CachingAllocator::TryMalloc(uint64_t bytes, uint32_t stream,
                                                  uint32_t mempool) {
  const bool grants = std::exchange(impl_->settings.grant_over_limit, false);
  absl::StatusOr<Block> got = Malloc(bytes, stream, mempool);
  impl_->settings.grant_over_limit = grants;
  return got;
}

absl::Status CachingAllocator::Free(uint64_t address) {
  Impl& m = *impl_;
  if (!m.stream_uses.empty() && m.stream_uses.count(m.in_use.Find(address)) != 0) {
    return RequestFree(address);
  }
  BlockNode* b = m.in_use.Remove(address);
  if (b == nullptr || b->use != BlockUse::kLive) {
    if (b != nullptr) m.in_use.Insert(b);
    return absl::InvalidArgumentError(i18n::Format(
        "caching allocator: cannot free {:#x}, which is not the address of a live block", address));
  }
  m.Complete(b);
  return absl::OkStatus();
}

absl::Status CachingAllocator::RequestFree(uint64_t address) {
  Impl& m = *impl_;
  BlockNode* b = m.in_use.Find(address);
  if (b == nullptr || b->use != BlockUse::kLive) {
    return absl::InvalidArgumentError(i18n::Format(
        "caching allocator: cannot free {:#x}, which is not the address of a live block", address));
  }
  m.stream_uses.erase(b);
  m.AddPending(b);
  return absl::OkStatus();
}

absl::Status CachingAllocator::CompleteFree(uint64_t address) {
  Impl& m = *impl_;
  BlockNode* b = m.in_use.Find(address);
  if (b == nullptr || b->use != BlockUse::kPending) {
    return absl::InvalidArgumentError(i18n::Format(
        "caching allocator: free of {:#x} completed, but was not requested before", address));
  }
  m.in_use.Remove(address);
  --m.pending_count;
  if (m.pending.back().ticket == b->since) m.pending.pop_back();
  m.Complete(b);
  return absl::OkStatus();
}

absl::Status CachingAllocator::RecordStream(uint64_t address, uint32_t stream) {
  Impl& m = *impl_;
  const BlockNode* b = m.in_use.Find(address);
  if (b == nullptr || b->use != BlockUse::kLive) {
    return absl::InvalidArgumentError(i18n::Format(
        "caching allocator: {:#x}, used on stream {}, is not the address of a live block", address,
        stream));
  }
  if (stream == b->segment->segment.stream) return absl::OkStatus();
  std::vector<uint32_t>& uses = m.stream_uses[b];
  if (std::find(uses.begin(), uses.end(), stream) == uses.end()) uses.push_back(stream);
  return absl::OkStatus();
}

void CachingAllocator::EmptyCache() { impl_->ReleaseCached(); }

void CachingAllocator::EmptyPool(uint32_t mempool) {
  const auto it = impl_->mempools.find(mempool);
  if (mempool == 0 || it == impl_->mempools.end()) return;
  impl_->ReleaseBlocks(*it->second, static_cast<size_t>(trace::Pool::kSmall));
  impl_->ReleaseBlocks(*it->second, static_cast<size_t>(trace::Pool::kLarge));
}

void CachingAllocator::ReleasePool(uint32_t mempool) {
  const auto it = impl_->mempools.find(mempool);
  if (mempool != 0 && it != impl_->mempools.end()) it->second->released = true;
}

const Stats& CachingAllocator::stats() const { return impl_->stats; }

uint64_t CachingAllocator::RoundSize(uint64_t bytes) { return allocator::RoundSize(bytes); }

uint64_t CachingAllocator::RoundSize(uint64_t bytes, const run::AllocConf& conf) {
  return allocator::RoundSize(bytes, conf);
}

uint64_t CachingAllocator::SegmentSize(uint64_t rounded) { return SegmentSize(rounded, {}); }

uint64_t CachingAllocator::SegmentSize(uint64_t rounded, const run::AllocConf& conf) {
  return allocator::SegmentSize(rounded, conf);
}

}  // namespace vramscope::allocator
