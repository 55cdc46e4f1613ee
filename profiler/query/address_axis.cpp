#include "profiler/query/address_axis.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace vramscope::query {
namespace {

// Ranges of the packed axis: the smallest free one that fits, the lowest of those; else at the end.
class Packer {
 public:
  uint64_t Take(uint64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit == by_size_.end()) {
      // The last free range grows when it reaches the end.
      uint64_t offset = end_;
      if (!by_offset_.empty()) {
        const auto last = std::prev(by_offset_.end());
        if (last->first + last->second == end_) {
          offset = last->first;
          Remove(last);
        }
      }
      end_ = offset + bytes;
      return offset;
    }
    const auto [size, offset] = *fit;
    Remove(by_offset_.find(offset));
    if (size > bytes) Add(offset + bytes, size - bytes);
    return offset;
  }

  void Give(uint64_t offset, uint64_t bytes) {
    if (bytes == 0) return;
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      bytes += next->second;
      Remove(next++);
    }
    if (next != by_offset_.begin()) {
      const auto prev = std::prev(next);
      if (prev->first + prev->second == offset) {
        offset = prev->first;
        bytes += prev->second;
        Remove(prev);
      }
    }
    Add(offset, bytes);
  }

  uint64_t highest() const { return end_; }

 private:
  using Ranges = std::map<uint64_t, uint64_t>;
  void Add(uint64_t offset, uint64_t bytes) {
    by_offset_[offset] = bytes;
    by_size_.insert({bytes, offset});
  }
  void Remove(Ranges::iterator range) {
    by_size_.erase({range->second, range->first});
    by_offset_.erase(range);
  }
  Ranges by_offset_;  // free ranges: offset -> bytes
  std::set<std::pair<uint64_t, uint64_t>> by_size_;
  uint64_t end_ = 0;
};

}  // namespace

AddressAxis::AddressAxis(const trace::Trace& trace) : trace_(trace) {
  const trace::SegmentTable& s = trace.segments;
  const trace::AllocationTable& a = trace.allocations;
  const trace::EventTable& e = trace.events;
  const auto time_of = [&](trace::EventIndex i) {
    return i == trace::kNoEvent ? trace.end_ns() : e.time_ns[i];
  };
  strips_.resize(s.size());
  const bool lone = std::any_of(a.segment.begin(), a.segment.end(),
                                [](trace::SegmentId id) { return !id.valid(); });
  if (lone) own_offset_.resize(a.size());
  Packer packer;
  for (uint32_t i = 0; i < e.size(); ++i) {
    const auto id = static_cast<uint32_t>(e.id[i]);
    switch (e.kind[i]) {
      case trace::EventKind::kSegmentAlloc:
        strips_[id] = {.segment = {id},
                       .offset = packer.Take(s.bytes[id]),
                       .bytes = s.bytes[id],
                       .address = s.address[id],
                       .begin_ns = e.time_ns[i],
                       .end_ns = time_of(s.free_event[id])};
        break;
      case trace::EventKind::kSegmentFree:
        packer.Give(strips_[id].offset, strips_[id].bytes);
        break;
      case trace::EventKind::kAlloc:
        if (lone && !a.segment[id].valid()) own_offset_[id] = packer.Take(a.bytes_rounded[id]);
        break;
      case trace::EventKind::kFreeCompleted:
        if (lone && !a.segment[id].valid()) packer.Give(own_offset_[id], a.bytes_rounded[id]);
        break;
      default:
        break;
    }
  }
  size_ = packer.highest();
}

uint64_t AddressAxis::OffsetOf(trace::AllocationId id) const {
  const trace::AllocationTable& a = trace_.allocations;
  const trace::SegmentId segment = a.segment[id.value];
  if (!segment.valid()) return own_offset_[id.value];
  const Strip& strip = strips_[segment.value];
  return strip.offset + (a.address[id.value] - strip.address);
}

std::optional<uint64_t> AddressAxis::AddressAt(uint64_t offset, int64_t time_ns) const {
  for (const Strip& s : strips_) {
    if (offset >= s.offset && offset - s.offset < s.bytes && time_ns >= s.begin_ns &&
        time_ns <= s.end_ns) {
      return s.address + (offset - s.offset);
    }
  }
  return std::nullopt;
}

}  // namespace vramscope::query
