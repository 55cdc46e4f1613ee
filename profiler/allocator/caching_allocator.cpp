#include "profiler/allocator/caching_allocator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiler/allocator/block_index.h"

namespace vramscope::allocator {
namespace {

// Constants of c10/core/AllocatorConfig.h.
constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;
constexpr uint64_t kMinBlockSize = 512;
constexpr uint64_t kSmallSize = 1 * kMiB;     // largest request of the small pool
constexpr uint64_t kSmallBuffer = 2 * kMiB;   // segment of the small pool
constexpr uint64_t kLargeBuffer = 20 * kMiB;  // segment for large requests below kMinLargeAlloc
constexpr uint64_t kMinLargeAlloc = 10 * kMiB;
constexpr uint64_t kRoundLarge = 2 * kMiB;
constexpr uint64_t kSegmentAlignment = 2 * kMiB;  // granularity of the driver

constexpr uint64_t kMaxAddress = uint64_t{1} << 62;

uint64_t RoundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

struct CachingAllocator::Impl {
  // Free blocks of one stream. Best fit never crosses streams, so one tree a stream gives the same
  // answer as the real allocator's one set ordered by (stream, size, address).
  struct StreamPools {
    uint32_t stream = 0;
    FreeTree free[2];  // by Pool
    FreeTree& of(trace::Pool pool) { return free[static_cast<size_t>(pool)]; }
  };

  Settings settings;
  SegmentObserver* observer;
  Stats stats;
  uint64_t next_address;
  std::vector<std::unique_ptr<StreamPools>> streams;  // by stream
  StreamPools* last_stream = nullptr;
  NodePool<BlockNode> block_nodes;
  NodePool<SegmentNode> segment_nodes;
  LiveTable live;
  // Segments in order of address: they are handed out in ascending order and only appended.
  SegmentNode* first_segment = nullptr;
  SegmentNode* last_segment = nullptr;

  Impl(const Settings& s, SegmentObserver* o)
      : settings(s), observer(o), next_address(RoundUp(s.first_address, kSegmentAlignment)) {}

  StreamPools& PoolsOf(uint32_t stream) {
    if (last_stream != nullptr && last_stream->stream == stream) return *last_stream;
    auto it = std::lower_bound(
        streams.begin(), streams.end(), stream,
        [](const std::unique_ptr<StreamPools>& p, uint32_t s) { return p->stream < s; });
    if (it == streams.end() || (*it)->stream != stream) {
      it = streams.insert(it, std::make_unique<StreamPools>());
      (*it)->stream = stream;
    }
    last_stream = it->get();
    return *last_stream;
  }

  uint64_t DeviceFree() const {
    return stats.reserved >= settings.device_memory_bytes
               ? 0
               : settings.device_memory_bytes - stats.reserved;
  }
  bool Fits(uint64_t segment_bytes) const {
    return settings.device_memory_bytes == 0 || segment_bytes <= DeviceFree();
  }

  // A new segment, wholly one block that is in no tree.
  BlockNode* AddSegment(uint64_t bytes, trace::Pool pool, uint32_t stream) {
    SegmentNode* s = segment_nodes.Take();
    *s = SegmentNode{
        .segment = {.address = next_address, .bytes = bytes, .pool = pool, .stream = stream},
        .prev = last_segment};
    (last_segment != nullptr ? last_segment->next : first_segment) = s;
    last_segment = s;
    next_address += RoundUp(bytes, kSegmentAlignment);
    BlockNode* b = block_nodes.Take();
    *b = BlockNode{.address = s->segment.address, .size = bytes, .segment = s};
    s->first = b;
    stats.reserved += bytes;
    stats.peak_reserved = std::max(stats.peak_reserved, stats.reserved);
    ++stats.segment_allocs;
    if (observer != nullptr) observer->OnSegmentAlloc(s->segment);
    return b;
  }

  void RemoveSegment(SegmentNode* s) {
    const Segment gone = s->segment;
    (s->prev != nullptr ? s->prev->next : first_segment) = s->next;
    (s->next != nullptr ? s->next->prev : last_segment) = s->prev;
    block_nodes.Give(s->first);
    segment_nodes.Give(s);
    stats.reserved -= gone.bytes;
    ++stats.segment_frees;
    if (observer != nullptr) observer->OnSegmentFree(gone);
  }

  // release_cached_blocks(): every segment that is one free block, the large pool's first, in the
  // order of the pool's set (stream, size, address).
  void ReleaseCached() {
    std::vector<BlockNode*> whole;
    for (trace::Pool pool : {trace::Pool::kLarge, trace::Pool::kSmall}) {
      for (auto& pools : streams) {
        FreeTree& tree = pools->of(pool);
        whole.clear();
        tree.ForEach([&](BlockNode* b) {
          if (b->prev == nullptr && b->next == nullptr) whole.push_back(b);
        });
        for (BlockNode* b : whole) {
          tree.Erase(b);
          RemoveSegment(b->segment);
        }
      }
    }
  }

  // The block for a request that no cached block serves, or null after telling the observer.
  BlockNode* BlockFromDriver(uint64_t bytes, uint64_t rounded, trace::Pool pool, uint32_t stream) {
    const uint64_t segment_bytes = SegmentSize(rounded);
    if (!Fits(segment_bytes)) {
      ++stats.retries;
      ReleaseCached();
      if (!Fits(segment_bytes)) {
        ++stats.out_of_memory;
        if (observer != nullptr) observer->OnOutOfMemory(bytes, DeviceFree());
        if (!settings.grant_over_limit) return nullptr;
      }
    }
    return AddSegment(segment_bytes, pool, stream);
  }
};

CachingAllocator::CachingAllocator(const Settings& settings, SegmentObserver* observer)
    : impl_(std::make_unique<Impl>(settings, observer)) {}
CachingAllocator::~CachingAllocator() = default;

absl::StatusOr<Block> CachingAllocator::Malloc(uint64_t bytes, uint32_t stream) {
  Impl& m = *impl_;
  if (bytes == 0 || bytes > kMaxRequest || m.next_address > kMaxAddress) {
    return absl::InvalidArgumentError(fmt::format(
        "caching allocator: a request of {} bytes on stream {} (allowed: 1 to {} bytes; address "
        "space used up to {:#x})",
        bytes, stream, kMaxRequest, m.next_address));
  }
  const uint64_t rounded = RoundSize(bytes);
  const trace::Pool pool = rounded <= kSmallSize ? trace::Pool::kSmall : trace::Pool::kLarge;
  FreeTree& tree = m.PoolsOf(stream).of(pool);
  BlockNode* b = tree.TakeBestFit(rounded);
  if (b == nullptr) {
    b = m.BlockFromDriver(bytes, rounded, pool, stream);
    if (b == nullptr) {
      return absl::ResourceExhaustedError(fmt::format(
          "out of memory: {} bytes asked on stream {} (a segment of {} bytes); {} of {} bytes are "
          "free on the device, {} bytes are reserved of which {} allocated",
          bytes, stream, SegmentSize(rounded), m.DeviceFree(), m.settings.device_memory_bytes,
          m.stats.reserved, m.stats.allocated));
    }
  }
  const uint64_t remaining = b->size - rounded;
  const bool split =
      pool == trace::Pool::kSmall ? remaining >= kMinBlockSize : remaining > kSmallSize;
  if (split) {
    BlockNode* rest = m.block_nodes.Take();
    *rest = BlockNode{.address = b->address + rounded,
                      .size = remaining,
                      .prev = b,
                      .next = b->next,
                      .segment = b->segment};
    if (b->next != nullptr) b->next->prev = rest;
    b->next = rest;
    b->size = rounded;
    tree.Insert(rest);
  }
  b->live = true;
  b->requested = bytes;
  m.live.Insert(b);

  Stats& s = m.stats;
  s.requested += bytes;
  s.allocated += b->size;
  s.peak_requested = std::max(s.peak_requested, s.requested);
  s.peak_allocated = std::max(s.peak_allocated, s.allocated);
  return Block{.address = b->address,
               .bytes_requested = bytes,
               .bytes_rounded = b->size,
               .pool = pool,
               .stream = stream};
}

absl::Status CachingAllocator::Free(uint64_t address) {
  Impl& m = *impl_;
  BlockNode* b = m.live.Remove(address);
  if (b == nullptr) {
    return absl::InvalidArgumentError(
        fmt::format("caching allocator: free of {:#x}, which is no live block", address));
  }
  m.stats.requested -= b->requested;
  m.stats.allocated -= b->size;
  b->live = false;
  b->requested = 0;
  const Segment& segment = b->segment->segment;
  FreeTree& tree = m.PoolsOf(segment.stream).of(segment.pool);
  if (BlockNode* p = b->prev; p != nullptr && !p->live) {
    tree.Erase(p);
    p->size += b->size;
    p->next = b->next;
    if (b->next != nullptr) b->next->prev = p;
    m.block_nodes.Give(b);
    b = p;
  }
  if (BlockNode* n = b->next; n != nullptr && !n->live) {
    tree.Erase(n);
    b->size += n->size;
    b->next = n->next;
    if (n->next != nullptr) n->next->prev = b;
    m.block_nodes.Give(n);
  }
  tree.Insert(b);
  return absl::OkStatus();
}

void CachingAllocator::EmptyCache() { impl_->ReleaseCached(); }

const Stats& CachingAllocator::stats() const { return impl_->stats; }

std::vector<CachingAllocator::SegmentState> CachingAllocator::Snapshot() const {
  std::vector<SegmentState> out;
  for (const SegmentNode* s = impl_->first_segment; s != nullptr; s = s->next) {
    SegmentState state{.segment = s->segment, .blocks = {}};
    for (const BlockNode* b = s->first; b != nullptr; b = b->next) {
      state.blocks.push_back({.block = {.address = b->address,
                                        .bytes_requested = b->requested,
                                        .bytes_rounded = b->size,
                                        .pool = s->segment.pool,
                                        .stream = s->segment.stream},
                              .live = b->live});
    }
    out.push_back(std::move(state));
  }
  return out;
}

uint64_t CachingAllocator::RoundSize(uint64_t bytes) {
  return bytes < kMinBlockSize ? kMinBlockSize : RoundUp(bytes, kMinBlockSize);
}

uint64_t CachingAllocator::SegmentSize(uint64_t rounded) {
  if (rounded <= kSmallSize) return kSmallBuffer;
  if (rounded < kMinLargeAlloc) return kLargeBuffer;
  return RoundUp(rounded, kRoundLarge);
}

}  // namespace vramscope::allocator
