#include "profiler/recording/rollback.h"

#include <absl/container/btree_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "profiler/allocator/rules.h"
#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/trace/range_set.h"

namespace vramscope::recording {
namespace {

// The state of one device at the entry that the roll-back has reached.
struct Device {
  struct Block {
    EntryIndex requested = kNoEntry, completed = kNoEntry;
    uint32_t end_block = kNoRow;
  };
  base::HashMap<uint64_t, Block> blocks;         // keyed by address
  absl::btree_map<uint64_t, uint32_t> segments;  // keyed by address: row of Start::segments
  trace::RangeSet mapped;
};

class RollingBack {
 public:
  RollingBack(const Recording& recording, Oddities& oddities)
      : recording_(recording), entries_(recording.entries), odd_(oddities) {}

  Start Run() {
    TakeEnd();
    size_t allocs = 0;
    for (const Action action : entries_.action) allocs += action == Action::kAlloc;
    start_.recorded.reserve(allocs);
    for (EntryIndex i = entries_.size(); i-- > 0;)
      if (!Undo(i)) start_.left_out.push_back(i);
    std::reverse(start_.left_out.begin(), start_.left_out.end());
    std::reverse(start_.recorded.begin(), start_.recorded.end());
    TakeStart();
    return std::move(start_);
  }

 private:
  Device& On(uint8_t device) {
    if (devices_[device] == nullptr) devices_[device] = std::make_unique<Device>();
    return *devices_[device];
  }

  static bool Damaged(uint64_t address, uint64_t bytes) {
    // The limit leaves space for rounding. It must allow high addresses, because some files contain
    // addresses as signed numbers.
    return bytes > kMostBytes || address > UINT64_MAX - (2 * bytes + (uint64_t{1} << 30));
  }

  bool Odd(Oddity oddity) {
    odd_.Count(oddity);
    return false;
  }

  // Reads the segments and blocks of the file; skips invalid segments and blocks.
  void TakeEnd() {
    std::vector<uint32_t> rows(recording_.segments.size());
    for (uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
    const auto key = [this](uint32_t i) {
      return std::tuple(recording_.segments[i].device, recording_.segments[i].address, i);
    };
    std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    const SegmentState* last = nullptr;
    for (const uint32_t row : rows) {
      const SegmentState& s = recording_.segments[row];
      if (s.bytes == 0 || Damaged(s.address, s.bytes) ||
          (last != nullptr && last->device == s.device &&
           s.address < last->address + last->bytes)) {
        Odd(Oddity::kDamagedSegment);
        continue;
      }
      last = &s;
      Device& device = On(s.device);
      if (s.expandable) {
        // The blocks of an expandable segment, also the free ones, are its mapped memory. In a file
        // they are adjacent. In a part of a recording, there may be gaps between them.
        for (const BlockState& b : s.blocks)
          if (b.address >= s.address && b.bytes <= s.bytes &&
              b.address - s.address <= s.bytes - b.bytes)
            device.mapped.Add(b.address, b.address + b.bytes);
      } else {
        device.segments.emplace(s.address, static_cast<uint32_t>(start_.segments.size()));
        start_.segments.push_back({.segment = WithoutBlocks(s)});
      }
      TakeBlocks(s, device);
    }
  }

  static SegmentState WithoutBlocks(const SegmentState& s) {
    return {.address = s.address,
            .bytes = s.bytes,
            .stream = s.stream,
            .device = s.device,
            .pool = s.pool,
            .expandable = s.expandable,
            .mempool = s.mempool,
            .stack = s.stack,
            .blocks = {}};
  }

  void TakeBlocks(const SegmentState& s, Device& device) {
    uint64_t end = s.address;
    for (const BlockState& b : s.blocks) {
      if (b.use == BlockUse::kInactive) continue;
      if (b.bytes == 0 || b.address < end || b.bytes > s.bytes ||
          b.address - s.address > s.bytes - b.bytes) {
        Odd(Oddity::kDamagedBlock);
        continue;
      }
      end = b.address + b.bytes;
      device.blocks[b.address] = {.end_block = static_cast<uint32_t>(start_.end_blocks.size())};
      start_.end_blocks.push_back({.address = b.address,
                                   .bytes = b.bytes,
                                   .requested = b.requested,
                                   .stream = s.stream,
                                   .stack = b.stack,
                                   .device = s.device,
                                   .pending = b.use == BlockUse::kPendingFree,
                                   .bytes_known = b.bytes_known});
    }
  }

  bool Undo(EntryIndex i) {
    const Action action = entries_.action[i];
    if (action > Action::kSegmentUnmap) return true;
    const uint64_t address = entries_.address[i], bytes = entries_.bytes[i];
    if (Damaged(address, bytes)) return Odd(Oddity::kDamagedEntry);
    Device& device = On(entries_.DeviceOf(i));
    switch (action) {
      case Action::kAlloc:
        return UndoAlloc(i, device);
      case Action::kFreeCompleted: {
        const auto [at, fresh] = device.blocks.try_emplace(address);
        if (!fresh) return Odd(Oddity::kFreeWithoutAlloc);
        at->second.completed = i;
        return true;
      }
      case Action::kFreeRequested:
        return UndoRequest(i, device);
      case Action::kSegmentAlloc:
        return UndoSegmentAlloc(i, device);
      case Action::kSegmentFree:
        return UndoSegmentFree(i, device);
      case Action::kSegmentMap:
        if (device.mapped.ContainsAll(address, address + bytes))
          device.mapped.Remove(address, address + bytes);
        else if (bytes == 0 || recording_.has_segments)
          return Odd(Oddity::kMapUnseen);
        return true;
      case Action::kSegmentUnmap:
        if (bytes == 0 || device.mapped.CoveredIn(address, address + bytes) > 0)
          return Odd(Oddity::kUnmapTwice);
        device.mapped.Add(address, address + bytes);
        return true;
      default:
        return true;
    }
  }

  bool UndoAlloc(EntryIndex i, Device& device) {
    BlockLife life{.alloc = i};
    if (const auto at = device.blocks.find(entries_.address[i]); at != device.blocks.end()) {
      life.requested = at->second.requested;
      life.completed = at->second.completed;
      life.end_block = at->second.end_block;
      device.blocks.erase(at);
    } else if (recording_.has_segments) {
      Odd(Oddity::kNeverFreed);
    }
    start_.recorded.push_back(life);
    return true;
  }

  bool UndoRequest(EntryIndex i, Device& device) {
    const auto [at, fresh] = device.blocks.try_emplace(entries_.address[i]);
    Device::Block& block = at->second;
    // In a truncated file the block stays pending: its free may have completed after the last
    // entry.
    if (fresh && recording_.lost.empty()) {  // completed, but the completion is not in the file
      odd_.Count(Oddity::kRequestWithoutFree);
      block.completed = i;
    } else if (block.requested != kNoEntry ||
               (block.end_block != kNoRow && !start_.end_blocks[block.end_block].pending)) {
      return Odd(Oddity::kFreeWithoutAlloc);
    }
    block.requested = i;
    return true;
  }

  bool UndoSegmentAlloc(EntryIndex i, Device& device) {
    const auto at = device.segments.find(entries_.address[i]);
    if (at == device.segments.end()) {
      if (recording_.has_segments || entries_.bytes[i] == 0)
        return Odd(Oddity::kSegmentAllocUnseen);
      start_.segments.push_back({.segment = SegmentOf(i), .alloc = i});
      return true;
    }
    SegmentLife& life = start_.segments[at->second];
    if (life.segment.bytes != entries_.bytes[i]) return Odd(Oddity::kSegmentAllocUnseen);
    life.alloc = i;
    device.segments.erase(at);
    return true;
  }

  bool UndoSegmentFree(EntryIndex i, Device& device) {
    const uint64_t begin = entries_.address[i], end = begin + entries_.bytes[i];
    const auto next = device.segments.lower_bound(begin);
    const auto bytes_of = [&](uint32_t row) { return start_.segments[row].segment.bytes; };
    if (begin == end || (next != device.segments.end() && next->first < end))
      return Odd(Oddity::kSegmentFreeTwice);
    if (next != device.segments.begin()) {
      const auto before = std::prev(next);
      if (begin - before->first < bytes_of(before->second)) return Odd(Oddity::kSegmentFreeTwice);
    }
    device.segments.emplace_hint(next, begin, static_cast<uint32_t>(start_.segments.size()));
    start_.segments.push_back({.segment = SegmentOf(i), .free = i});
    return true;
  }

  SegmentState SegmentOf(EntryIndex i) const {
    return {.address = entries_.address[i],
            .bytes = entries_.bytes[i],
            .stream = entries_.stream[i],
            .device = entries_.DeviceOf(i),
            .pool = allocator::PoolOfSegment(entries_.bytes[i]),
            .blocks = {}};
  }

  void TakeStart() {
    // Older blocks without any later entry were never freed. They are in no known
    // segment.
    for (const OlderAlloc& o : recording_.older)
      if (!Damaged(o.address, std::max(o.requested, o.bytes)))
        On(o.device).blocks.try_emplace(o.address);
    for (size_t d = 0; d < devices_.size(); ++d) {
      if (devices_[d] == nullptr) continue;
      const auto number = static_cast<uint8_t>(d);
      for (const auto& [address, b] : devices_[d]->blocks)
        start_.older.push_back(
            {.address = address,
             .device = number,
             .life = {
                 .requested = b.requested, .completed = b.completed, .end_block = b.end_block}});
      for (const auto& [begin, end] : devices_[d]->mapped.ranges())
        start_.mapped.push_back({number, begin, end});
      devices_[d].reset();
    }
    std::sort(start_.older.begin(), start_.older.end(), [](const auto& a, const auto& b) {
      return std::tie(a.device, a.address) < std::tie(b.device, b.address);
    });
    std::sort(start_.segments.begin(), start_.segments.end(), [](const auto& a, const auto& b) {
      const auto key = [](const SegmentLife& s) {
        return std::tuple(s.alloc != kNoEntry, s.segment.device, s.segment.address, s.alloc);
      };
      return key(a) < key(b);
    });
  }

  const Recording& recording_;
  const EntryTable& entries_;
  Oddities& odd_;
  Start start_;
  std::array<std::unique_ptr<Device>, 256> devices_;
};

}  // namespace

std::vector<std::string> Oddities::Texts() const {
  static constexpr std::array<std::string_view, kOddities> kTexts = {
      TEXT_MARK("entries left out because their address or size is impossible: {}"),
      TEXT_MARK("segments left out with their blocks, because they are empty or overlap another "
                "segment: {}"),
      TEXT_MARK("blocks left out because they overlap or lie outside their segment: {}"),
      TEXT_MARK("frees ignored because nothing was allocated at their addresses: {}"),
      TEXT_MARK("frees whose request is in the file, but whose completion is not (assumed to "
                "complete at the time of the request): {}"),
      TEXT_MARK("segment_alloc entries left out because no such segment exists right after the "
                "entry: {}"),
      TEXT_MARK("segment_free entries left out because the memory still exists right after the "
                "entry: {}"),
      TEXT_MARK("segment_map entries left out because the memory is not mapped right after the "
                "entry: {}"),
      TEXT_MARK("segment_unmap entries left out because the memory is still mapped right after the "
                "entry: {}"),
      TEXT_MARK("allocations that have no free entry, but are missing from the file's final "
                "state. Either they were freed after the last entry, or an entry is missing. The "
                "time of the free is unknown, so they are shown until another allocation reuses "
                "their memory, or otherwise until the end: {}"),
      TEXT_MARK("allocations without a free entry; treated as freed just before another allocation "
                "reused their memory: {}"),
      TEXT_MARK("allocations that overlap a block that is not yet freed (entries are missing): {}"),
      TEXT_MARK("allocations outside the segments in the file: {}"),
      TEXT_MARK("blocks that seem larger than the allocator settings in the file allow (each of "
                "them is assumed to extend to the next block): {}"),
      TEXT_MARK("blocks whose size in the file's final state differs from the size in their alloc "
                "entry; the size in the entry is used: {}"),
  };
  i18n::Know(kTexts);
  std::vector<std::string> texts;
  for (size_t i = 0; i < kOddities; ++i)
    if (counts_[i] > 0) texts.push_back(fmt::format(fmt::runtime(kTexts[i]), counts_[i]));
  return texts;
}

Start RollBack(const Recording& recording, Oddities& oddities) {
  return RollingBack(recording, oddities).Run();
}

}  // namespace vramscope::recording
