// Repairs a recording whose last entries were lost, but whose segments show the state after these.
// The lost entries changed the state after the last existing entry to the state in the segments.
// The fewest entries that do so are added, and then rolled back.
#include <absl/container/btree_map.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "profiler/recording/recording.h"
#include "profiler/trace/range_set.h"

namespace vramscope::recording {
namespace {

using trace::RangeSet;

bool Fits(uint64_t address, uint64_t bytes) { return bytes > 0 && bytes <= UINT64_MAX - address; }

// The state of one device after the existing entries.
struct Device {
  struct Block {
    uint64_t requested = 0;
    uint32_t stream = 0;
    bool pending = false;
  };
  absl::btree_map<uint64_t, Block> live;
  absl::btree_map<uint64_t, uint64_t> segments;  // address to bytes
  RangeSet mapped;
  RangeSet seen;           // blocks that entries allocated or freed
  RangeSet seen_segments;  // segments and ranges that entries allocated, freed, mapped or unmapped
};

class Tail {
 public:
  explicit Tail(const Recording& r) : recording_(r) {}

  // Returns the added entries. Also returns the blocks whose free was requested by an existing
  // entry and is completed by an added entry.
  std::pair<EntryTable, std::vector<OlderAlloc>> Run() {
    for (EntryIndex i = 0; i < recording_.entries.size(); ++i) Step(i);
    std::map<uint8_t, RangeSet> mapped_at_end;
    for (const SegmentState& s : recording_.segments) {
      for (const BlockState& b : s.blocks)
        if (s.expandable && Fits(b.address, b.bytes))
          mapped_at_end[s.device].Add(b.address, b.address + b.bytes);
    }
    // All frees come before all allocations, so that nothing overlaps.
    Frees();
    Unmaps(mapped_at_end);
    SegmentFrees();
    for (const SegmentState& s : recording_.segments)
      if (!s.expandable && IsLater(s))
        Put(Action::kSegmentAlloc, s.device, s.address, s.bytes, s.stream);
    for (const SegmentState& s : recording_.segments)
      if (s.expandable) Maps(s);
    for (const SegmentState& s : recording_.segments) Allocs(s);
    return {std::move(tail_), std::move(pending_)};
  }

 private:
  void Put(Action action, uint8_t device, uint64_t address, uint64_t bytes, uint32_t stream) {
    tail_.action.push_back(action);
    tail_.device.push_back(device);
    tail_.address.push_back(address);
    tail_.bytes.push_back(bytes);
    tail_.stream.push_back(stream);
  }

  void Step(EntryIndex i) {
    const EntryTable& e = recording_.entries;
    const uint64_t address = e.address[i], bytes = e.bytes[i], end = address + bytes;
    if (e.action[i] > Action::kSegmentUnmap || !Fits(address, bytes)) return;
    Device& d = devices_[e.DeviceOf(i)];
    switch (e.action[i]) {
      case Action::kAlloc:
        d.live[address] = {bytes, e.stream[i]};
        See(d, address, end);
        break;
      case Action::kFreeRequested:
        if (const auto at = d.live.find(address); at != d.live.end()) at->second.pending = true;
        See(d, address, end);
        break;
      case Action::kFreeCompleted:
        d.live.erase(address);
        See(d, address, end);
        break;
      case Action::kSegmentAlloc:
        d.segments[address] = bytes;
        d.seen_segments.Add(address, end);
        break;
      case Action::kSegmentFree:
        d.segments.erase(address);
        d.seen_segments.Add(address, end);
        break;
      case Action::kSegmentMap:
        d.mapped.Add(address, end);
        d.seen_segments.Add(address, end);
        break;
      case Action::kSegmentUnmap:
        d.mapped.Remove(address, end);
        d.seen_segments.Add(address, end);
        break;
      default:
        break;
    }
  }

  // Records the use of a block. If no entry allocated its memory, this memory is older than the
  // entries, and so may be other memory without entries. If every block's memory was allocated by
  // an entry, the recording began with empty memory.
  void See(Device& d, uint64_t address, uint64_t end) {
    d.seen.Add(address, end);
    from_nothing_ &= d.seen_segments.ContainsAll(address, end);
  }
  static bool IsBlock(const BlockState& end, const Device::Block& block) {
    return end.requested == block.requested &&
           (!block.pending || end.use == BlockUse::kPendingFree);
  }

  // Returns the block that is in use at `address` in the final state, or null if there is none.
  const BlockState* AtEnd(uint8_t device, uint64_t address) {
    if (used_at_end_.empty())
      for (const SegmentState& s : recording_.segments)
        for (const BlockState& b : s.blocks)
          if (b.use != BlockUse::kInactive) used_at_end_[{s.device, b.address}] = &b;
    const auto at = used_at_end_.find({device, address});
    return at == used_at_end_.end() ? nullptr : at->second;
  }

  void Frees() {
    for (auto& [number, d] : devices_)
      for (const auto& [address, block] : d.live) {
        const BlockState* at_end = AtEnd(number, address);
        if (at_end != nullptr && IsBlock(*at_end, block)) continue;
        Put(Action::kFreeCompleted, number, address, block.requested, block.stream);
        pending_.push_back({.address = address,
                            .requested = block.requested,
                            .stream = block.stream,
                            .device = number,
                            .pending = block.pending});
      }
  }

  void Unmaps(std::map<uint8_t, RangeSet>& at_end) {
    for (auto& [number, d] : devices_) {
      const uint8_t device = number;  // a lambda cannot capture a structured binding
      for (const auto& [begin, end] : d.mapped)
        at_end[device].ForEachPiece(begin, end, [&](uint64_t from, uint64_t to, bool in) {
          if (!in) Put(Action::kSegmentUnmap, device, from, to - from, 0);
        });
    }
  }

  void SegmentFrees() {
    for (const SegmentState& s : recording_.segments)
      if (!s.expandable) plain_at_end_[{s.device, s.address}] = s.bytes;
    for (auto& [number, d] : devices_)
      for (const auto& [address, bytes] : d.segments) {
        const auto at = plain_at_end_.find({number, address});
        if (at == plain_at_end_.end() || at->second != bytes)
          Put(Action::kSegmentFree, number, address, bytes, 0);
      }
  }

  // Whether a lost entry allocated this segment, which exists at the end.
  bool IsLater(const SegmentState& s) {
    if (!Fits(s.address, s.bytes)) return false;
    const Device& d = devices_[s.device];
    const auto at = d.segments.find(s.address);
    if (at != d.segments.end() && at->second == s.bytes) return false;
    return from_nothing_ || d.seen_segments.CoveredIn(s.address, s.address + s.bytes) > 0;
  }

  // Maps memory of the segment that is mapped at the end, but not after the last existing entry.
  void Maps(const SegmentState& s) {
    if (!Fits(s.address, s.bytes)) return;
    Device& d = devices_[s.device];
    for (const auto& b : s.blocks) {
      if (!Fits(b.address, b.bytes)) continue;
      d.seen_segments.ForEachPiece(
          b.address, b.address + b.bytes, [&](uint64_t from, uint64_t to, bool seen) {
            if (!seen && !from_nothing_) return;
            d.mapped.ForEachPiece(from, to, [&](uint64_t first, uint64_t last, bool there) {
              if (!there) Put(Action::kSegmentMap, s.device, first, last - first, s.stream);
            });
          });
    }
  }

  void Allocs(const SegmentState& s) {
    Device& d = devices_[s.device];
    for (const BlockState& b : s.blocks) {
      if (b.use == BlockUse::kInactive || !Fits(b.address, b.bytes)) continue;
      const auto at = d.live.find(b.address);
      if (at != d.live.end() && IsBlock(b, at->second)) continue;
      // If existing entries allocated this memory or used it for other blocks, a lost entry
      // allocated this block.
      const uint64_t end = b.address + b.bytes;
      if (from_nothing_ || d.seen_segments.CoveredIn(b.address, end) > 0 ||
          d.seen.CoveredIn(b.address, end) > 0)
        Put(Action::kAlloc, s.device, b.address, b.requested, s.stream);
    }
  }

  const Recording& recording_;
  bool from_nothing_ = true;
  std::map<uint8_t, Device> devices_;
  absl::btree_map<std::pair<uint8_t, uint64_t>, const BlockState*> used_at_end_;
  absl::btree_map<std::pair<uint8_t, uint64_t>, uint64_t> plain_at_end_;
  EntryTable tail_;
  std::vector<OlderAlloc> pending_;  // freed blocks whose free was already requested
};

}  // namespace

absl::Status EndAtLastEntry(Recording& recording) {
  if (recording.segments.empty()) return absl::OkStatus();
  auto [tail, freed] = Tail(recording).Run();
  if (tail.size() == 0) return absl::OkStatus();
  std::swap(recording.entries, tail);
  std::swap(recording.older, freed);
  absl::StatusOr<History> history = Reconstruct(recording);
  std::swap(recording.entries, tail);
  std::swap(recording.older, freed);
  if (!history.ok()) return history.status();
  recording.segments = std::move(history->start_segments);
  return absl::OkStatus();
}

}  // namespace vramscope::recording
