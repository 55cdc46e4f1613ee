// Explains why more memory is reserved than allocated, and why more is allocated than requested.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "profiler/allocator/rules.h"
#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/explain.h"
#include "profiler/explain/pool_owners.h"
#include "profiler/explain/site_groups.h"
#include "profiler/replay/replay.h"
#include "profiler/run/alloc_conf.h"
#include "profiler/run/units.h"

namespace vramscope::explain {
namespace {

using run::FormatBytes;
using trace::EventIndex;
using Piece = SegmentView::Piece;
using Use = SegmentView::Use;

// Returns the bytes of a segment that empty_cache() would release. An expandable segment releases
// its free pages. Any other segment is released only if it is completely free.
uint64_t Releasable(const SegmentView& s, const run::AllocConf& conf) {
  if (!s.expandable) return s.live_bytes == 0 ? s.bytes : 0;
  const uint64_t page = allocator::PageSize(s.pool, conf);
  uint64_t bytes = 0;
  for (const Piece& p : s.pieces) {
    if (p.use != Use::kFree) continue;
    const uint64_t begin = (p.address - s.address + page - 1) / page * page;
    const uint64_t end = (p.address - s.address + p.bytes) / page * page;
    if (end > begin) bytes += end - begin;
  }
  return bytes;
}

// Lists the pools, in the order of their first segments.
class Pools {
 public:
  explicit Pools(Fragmentation& f) : found_(f) {}
  Fragmentation::PoolUse& Of(const SegmentView& s) {
    const auto [it, fresh] =
        rows_.try_emplace(std::tuple(s.device, s.pool, s.stream, s.mempool), found_.pools.size());
    if (fresh) {
      found_.pools.push_back(
          {.device = s.device, .pool = s.pool, .stream = s.stream, .mempool = s.mempool});
    }
    return found_.pools[it->second];
  }

 private:
  Fragmentation& found_;
  base::HashMap<std::tuple<uint8_t, trace::Pool, uint32_t, uint32_t>, size_t> rows_;
};

// Names private pools by their use.
void NameOwners(const trace::Trace& trace, Fragmentation& f) {
  for (PoolOwner& owner : PoolOwnersOf(trace)) {
    bool there = false;
    for (Fragmentation::PoolUse& p : f.pools) {
      if (p.mempool != owner.mempool) continue;
      p.owner = owner.name;
      there = true;
    }
    if (there) f.owners.push_back(std::move(owner));
  }
}

std::string Headline(const trace::Trace& trace, const Fragmentation& f) {
  if (trace::IsOfHostMemory(trace) && f.reserved == 0)
    return i18n::Format("{} of host memory are allocated; no host memory is reserved.",
                        FormatBytes(f.allocated));
  if (!f.reserved_known())
    return i18n::Format("{} are allocated; the reserved bytes are not known.",
                        FormatBytes(f.allocated));
  if (f.record == trace::SegmentRecord::kTotalOnly && f.reserved > 0)
    return i18n::Format(
        "{} of the {} reserved are not in use ({:.1f} %). The trace records how much memory is "
        "reserved but not where, so holes and free segments cannot be told apart.",
        FormatBytes(f.unplaced), FormatBytes(f.reserved),
        100.0 * static_cast<double>(f.unplaced) / static_cast<double>(f.reserved));
  if (f.reserved == 0) return i18n::Text("Nothing is reserved at this time.");
  const uint64_t unused = f.reserved > f.allocated ? f.reserved - f.allocated : 0;
  std::string text = i18n::Format(
      "{} of the {} reserved are not in use ({:.1f} %): {} in holes between live blocks, {} "
      "cached.",
      FormatBytes(unused), FormatBytes(f.reserved),
      100.0 * static_cast<double>(unused) / static_cast<double>(f.reserved), FormatBytes(f.holes),
      FormatBytes(f.cached));
  if (f.largest_hole > 0) {
    text += i18n::Format(" The largest free range is {}.", FormatBytes(f.largest_hole));
  }
  return text;
}

}  // namespace

Fragmentation FragmentationAt(const trace::Trace& trace, EventIndex event) {
  Fragmentation f;
  f.record = trace::SegmentRecordOf(trace);
  f.sizes_are_of_blocks = trace::SizesAreOfBlocks(trace);
  if (trace.events.size() == 0) {
    f.headline = Headline(trace, f);
    return f;
  }
  event = std::min(event, trace.events.size() - 1);
  const run::AllocConf conf =
      run::ParseAllocConf(replay::RecordedConf(trace)).value_or(run::AllocConf{});
  const analysis::LiveSet live = analysis::LiveAt(trace, event);
  f.context = live.context;
  f.requested = live.requested;
  f.allocated = live.allocated;

  const trace::AllocationTable& a = trace.allocations;
  std::vector<trace::Category> category(a.size());
  for (const analysis::LiveAllocation& l : live.allocations) {
    const uint32_t id = l.id.value;
    category[id] = l.category;
    const uint64_t bytes = std::min(a.bytes[id], a.bytes_rounded[id]);
    const uint64_t rounded =
        std::clamp(allocator::RoundSize(bytes, conf), bytes, a.bytes_rounded[id]);
    f.rounding += rounded - bytes;
    f.tails += a.bytes_rounded[id] - rounded;
    if (a.free_requested_event[id] <= event) f.pending += a.bytes_rounded[id];
  }

  const std::vector<SegmentView> segments = SegmentsAt(trace, event);
  uint64_t inside = 0;
  // Segments with free bytes that empty_cache() cannot release, and the number of these bytes.
  std::vector<std::pair<uint64_t, const SegmentView*>> with_holes;
  SiteGroups pinned_by(trace);
  Pools pools(f);
  for (const SegmentView& s : segments) {
    const uint64_t releasable = Releasable(s, conf);
    const uint64_t holes = s.free_bytes() - std::min(releasable, s.free_bytes());
    f.reserved += s.bytes;
    f.cached += releasable;
    f.holes += holes;
    f.largest_hole = std::max(f.largest_hole, s.largest_hole);
    inside += s.live_bytes;
    Fragmentation::PoolUse& pool = pools.Of(s);
    pool.reserved += s.bytes;
    pool.live += s.live_bytes;
    pool.cached += releasable;
    pool.holes += holes;
    pool.largest_hole = std::max(pool.largest_hole, s.largest_hole);
    ++pool.segments;
    ++f.segments;
    uint64_t blocks = 0;
    for (const Piece& p : s.pieces) blocks += p.allocation.valid() ? 1 : 0;
    pool.blocks += blocks;
    if (s.live_bytes == 0) {
      ++pool.segments_cached;
      ++f.segments_cached;
    }
    if (holes == 0 || s.live_bytes == 0) continue;
    with_holes.emplace_back(holes, &s);
    // Each block gets an equal share of the bytes that are left, so that rounding loses no byte.
    uint64_t left = holes;
    for (const Piece& p : s.pieces) {
      if (!p.allocation.valid()) continue;
      const uint64_t share = left / blocks--;
      pinned_by.Add(p.allocation, share);
      left -= share;
    }
  }
  NameOwners(trace, f);
  if (f.record == trace::SegmentRecord::kTotalOnly) {
    f.reserved = live.reserved;
    f.unplaced = f.reserved > f.allocated ? f.reserved - f.allocated : 0;
  } else {
    f.outside = f.allocated > inside ? f.allocated - inside : 0;
  }
  f.pinned_by = pinned_by.Sorted();
  std::sort(f.pools.begin(), f.pools.end(), [](const auto& x, const auto& y) {
    return std::tuple(x.holes + x.cached, x.reserved) > std::tuple(y.holes + y.cached, y.reserved);
  });

  f.pinned_count = static_cast<uint32_t>(with_holes.size());
  std::stable_sort(with_holes.begin(), with_holes.end(),
                   [](const auto& x, const auto& y) { return x.first > y.first; });
  if (with_holes.size() > Fragmentation::kPinned) with_holes.resize(Fragmentation::kPinned);
  for (const auto& [holes, s] : with_holes) {
    Fragmentation::Pinned pinned{.segment = s->segment,
                                 .bytes = s->bytes,
                                 .free = holes,
                                 .largest_hole = s->largest_hole,
                                 .pool = s->pool,
                                 .stream = s->stream};
    std::vector<Piece> blocks;
    std::copy_if(s->pieces.begin(), s->pieces.end(), std::back_inserter(blocks),
                 [](const Piece& p) { return p.allocation.valid(); });
    pinned.pin_count = static_cast<uint32_t>(blocks.size());
    std::stable_sort(blocks.begin(), blocks.end(),
                     [](const Piece& x, const Piece& y) { return x.bytes > y.bytes; });
    if (blocks.size() > Fragmentation::kPins) blocks.resize(Fragmentation::kPins);
    for (const Piece& p : blocks) {
      pinned.pins.push_back({.allocation = p.allocation,
                             .bytes = p.bytes,
                             .category = category[p.allocation.value],
                             .site = SiteOf(trace, p.allocation)});
    }
    f.pinned.push_back(std::move(pinned));
  }
  f.headline = Headline(trace, f);
  return f;
}

}  // namespace vramscope::explain
