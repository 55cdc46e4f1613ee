// Makes a part of a recording from the whole history, so that part and whole agree on every block.
#include <absl/container/btree_map.h>

#include <algorithm>
#include <map>
#include <utility>

#include "profiler/recording/recording.h"
#include "profiler/recording/segment_blocks.h"
#include "profiler/trace/range_set.h"

namespace vramscope::recording {
namespace {

class Cutter {
 public:
  Cutter(const Recording& whole, const History& h,
         const std::function<trace::StackId(EntryIndex)>& stack_of)
      : entries_(whole.entries), history_(h), allocations_(h.allocations), stack_of_(stack_of) {}

  std::vector<OlderAlloc> Older(EntryIndex begin) const {
    std::vector<OlderAlloc> older;
    for (uint32_t row = 0; row < allocations_.size(); ++row)
      if (LivesBefore(row, begin))
        older.push_back({.address = allocations_.address[row],
                         .requested = allocations_.requested[row],
                         .bytes = allocations_.bytes[row],
                         .stream = allocations_.stream[row],
                         .device = allocations_.device[row],
                         .bytes_known = allocations_.bytes_known[row],
                         .pending = PendingBefore(row, begin),
                         .stack = StackOf(row)});
    std::ranges::sort(older, {},
                      [](const OlderAlloc& o) { return std::pair(o.device, o.address); });
    return older;
  }

  std::vector<SegmentState> Segments(EntryIndex end) {
    for (const SegmentState& s : history_.start_segments) {
      segments_[{s.device, s.address}] = s;
      segments_[{s.device, s.address}].blocks = {};
      for (const BlockState& b : s.blocks)
        if (s.expandable) mapped_[s.device].Add(b.address, b.address + b.bytes);
    }
    size_t left_out = 0;
    for (EntryIndex i = 0; i < end; ++i) {
      if (left_out < history_.left_out.size() && history_.left_out[left_out] == i)
        ++left_out;
      else
        Step(i);
    }
    std::vector<PlacedBlock> live;
    for (uint32_t row = 0; row < allocations_.size(); ++row)
      if (LivesBefore(row, end))
        live.push_back(
            {allocations_.device[row],
             {.address = allocations_.address[row],
              .bytes = allocations_.bytes[row],
              .requested = allocations_.requested[row],
              .use = PendingBefore(row, end) ? BlockUse::kPendingFree : BlockUse::kAllocated,
              .stack = StackOf(row)}});
    std::ranges::sort(live, {},
                      [](const PlacedBlock& b) { return std::pair(b.device, b.block.address); });
    std::vector<MappedRange> mapped;
    for (const auto& [device, ranges] : mapped_)
      for (const auto& [begin, last] : ranges) mapped.push_back({device, begin, last});
    std::vector<SegmentState> out;
    for (auto& [place, segment] : segments_) out.push_back(std::move(segment));
    LayOut(out, live, mapped);
    return out;
  }

 private:
  bool LivesBefore(uint32_t row, EntryIndex entry) const {
    const EntryIndex made = allocations_.alloc[row], freed = allocations_.free_completed[row];
    return (made == kNoEntry || made < entry) && (freed == kNoEntry || freed >= entry);
  }
  bool PendingBefore(uint32_t row, EntryIndex entry) const {
    const EntryIndex requested = allocations_.free_requested[row];
    if (requested != kNoEntry) return requested < entry;
    return row < history_.older && history_.older_pending[row];
  }
  trace::StackId StackOf(uint32_t row) const {
    return allocations_.alloc[row] == kNoEntry ? allocations_.stack[row]
                                               : stack_of_(allocations_.alloc[row]);
  }

  void Step(EntryIndex i) {
    const uint64_t address = entries_.address[i], bytes = entries_.bytes[i];
    const uint8_t device = entries_.DeviceOf(i);
    switch (entries_.action[i]) {
      case Action::kSegmentAlloc:
        while (made_ < history_.new_segments.size() && history_.new_segments[made_].entry < i)
          ++made_;
        if (made_ == history_.new_segments.size() || history_.new_segments[made_].entry != i) break;
        segments_[{device, address}] = {.address = address,
                                        .bytes = bytes,
                                        .stream = entries_.stream[i],
                                        .device = device,
                                        .pool = history_.new_segments[made_].pool,
                                        .mempool = history_.new_segments[made_].mempool,
                                        .stack = stack_of_(i),
                                        .blocks = {}};
        break;
      case Action::kSegmentFree: {
        const auto at = segments_.find({device, address});
        if (at != segments_.end() && !at->second.expandable) segments_.erase(at);
        break;
      }
      case Action::kSegmentMap:
        mapped_[device].Add(address, address + bytes);
        break;
      case Action::kSegmentUnmap:
        mapped_[device].Remove(address, address + bytes);
        break;
      default:
        break;
    }
  }

  const EntryTable& entries_;
  const History& history_;
  const History::Allocations& allocations_;
  const std::function<trace::StackId(EntryIndex)>& stack_of_;
  // Keyed by (device, address).
  absl::btree_map<std::pair<uint8_t, uint64_t>, SegmentState> segments_;
  std::map<uint8_t, trace::RangeSet> mapped_;  // keyed by device
  size_t made_ = 0;
};

}  // namespace

Part PartOf(const Recording& whole, const History& history, EntryIndex begin, EntryIndex end,
            const std::function<trace::StackId(EntryIndex)>& stack_of) {
  Cutter cutter(whole, history, stack_of);
  return {cutter.Older(begin), cutter.Segments(end)};
}

}  // namespace vramscope::recording
