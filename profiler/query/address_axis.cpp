#include "profiler/query/address_axis.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "profiler/trace/range_set.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::query {
namespace {

// Allocates ranges of the packed axis. Takes the smallest free range that fits (the lowest, if
// several are equal). If none fits, allocates at the end of the axis.
class Packer {
 public:
  uint64_t Take(uint64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit == by_size_.end()) {
      // If the last free range touches the end of the axis, uses and extends it.
      uint64_t offset = end_;
      if (!free_.empty() && std::prev(free_.end())->second == end_) {
        offset = std::prev(free_.end())->first;
        by_size_.erase({end_ - offset, offset});
        free_.Remove(offset, end_);
      }
      end_ = offset + bytes;
      return offset;
    }
    const auto [size, offset] = *fit;
    by_size_.erase(fit);
    free_.Remove(offset, offset + bytes);
    if (size > bytes) by_size_.insert({size - bytes, offset + bytes});
    return offset;
  }

  void Give(uint64_t offset, uint64_t bytes) {
    if (bytes == 0) return;
    // Merges the freed range with adjacent free ranges.
    for (auto it = free_.FirstEndingAfter(offset == 0 ? 0 : offset - 1);
         it != free_.end() && it->first <= offset + bytes; ++it)
      by_size_.erase({it->second - it->first, it->first});
    free_.Add(offset, offset + bytes);
    const auto joined = free_.FirstEndingAfter(offset);
    by_size_.insert({joined->second - joined->first, joined->first});
  }

  uint64_t highest() const { return end_; }

 private:
  trace::RangeSet free_;
  std::set<std::pair<uint64_t, uint64_t>> by_size_;  // ranges of free_: (bytes, offset)
  uint64_t end_ = 0;
};

// The strips of one expandable segment that are mapped at the current event.
class OpenStrips {
 public:
  explicit OpenStrips(int64_t end_ns) : end_ns_(end_ns) {}  // end of the drawn time

  // `offset_of` returns the offset of an address on the packed axis.
  template <class OffsetOf>
  void Map(uint64_t begin, uint64_t bytes, int64_t time_ns, uint32_t segment, OffsetOf offset_of,
           std::vector<Strip>& strips) {
    if (bytes == 0) return;
    // Adjacent pages that are mapped at the same time form one strip.
    if (!open_.empty()) {
      auto before = open_.lower_bound(begin);
      if (before != open_.begin()) {
        Strip& s = strips[std::prev(before)->second];
        if (s.address + s.bytes == begin && s.begin_ns == time_ns &&
            offset_of(begin) == s.offset + s.bytes) {
          s.bytes += bytes;
          return;
        }
      }
    }
    open_[begin] = strips.size();
    strips.push_back({.segment = {segment},
                      .offset = offset_of(begin),
                      .bytes = bytes,
                      .address = begin,
                      .begin_ns = time_ns,
                      .end_ns = end_ns_});
  }

  // Ends every strip that overlaps the range, and begins new strips for the parts outside of it.
  void Unmap(uint64_t begin, uint64_t bytes, int64_t time_ns, std::vector<Strip>& strips) {
    const uint64_t end = begin + bytes;
    auto at = open_.upper_bound(begin);
    if (at != open_.begin()) --at;
    while (at != open_.end() && at->first < end) {
      const size_t row = at->second;
      const Strip old = strips[row];
      const uint64_t old_end = old.address + old.bytes;
      if (old_end <= begin) {
        ++at;
        continue;
      }
      at = open_.erase(at);
      strips[row].end_ns = time_ns;
      const auto rest = [&](uint64_t from, uint64_t to) {
        if (from >= to) return;
        Strip part = old;
        part.address = from;
        part.bytes = to - from;
        part.offset += from - old.address;
        part.begin_ns = time_ns;
        open_[from] = strips.size();
        strips.push_back(part);
      };
      rest(old.address, begin);
      rest(end, old_end);
    }
  }

  void End(int64_t time_ns, std::vector<Strip>& strips) {
    for (const auto& [address, row] : open_) strips[row].end_ns = time_ns;
    open_.clear();
  }

 private:
  const int64_t end_ns_;
  std::map<uint64_t, size_t> open_;  // address -> row of strips
};

}  // namespace

class AddressAxis::Builder {
 public:
  explicit Builder(AddressAxis& axis)
      : axis_(axis),
        trace_(*axis.trace_),
        segments_(trace_.segments),
        allocations_(trace_.allocations),
        events_(trace_.events) {}

  void Build() {
    FindPieces();
    axis_.offset_.resize(segments_.size());
    const bool lone = AnyAlone();
    if (lone) axis_.own_offset_.resize(allocations_.size());
    Packer packer;
    uint32_t activity = 0;
    for (uint32_t i = 0; i < events_.size(); ++i) {
      const auto id = static_cast<uint32_t>(events_.id[i]);
      switch (events_.kind[i]) {
        case trace::EventKind::kSegmentAlloc:
          axis_.offset_[id] = packer.Take(BytesOf(id));
          if (!segments_.expandable[id]) {
            const trace::EventIndex freed = segments_.free_event[id];
            axis_.strips_.push_back(
                {.segment = {id},
                 .offset = axis_.offset_[id],
                 .bytes = segments_.bytes[id],
                 .address = segments_.address[id],
                 .begin_ns = events_.time_ns[i],
                 .end_ns = freed == trace::kNoEvent ? axis_.end_ns_ : events_.time_ns[freed]});
          }
          break;
        case trace::EventKind::kSegmentFree:
          if (segments_.expandable[id]) Open(id).End(events_.time_ns[i], axis_.strips_);
          packer.Give(axis_.offset_[id], BytesOf(id));
          break;
        case trace::EventKind::kSegmentMap:
        case trace::EventKind::kSegmentUnmap: {
          if (IsTotal(id)) break;
          while (trace_.other_events.event[activity] < i) ++activity;
          const uint64_t begin = trace_.other_events.address[activity];
          if (events_.kind[i] == trace::EventKind::kSegmentUnmap) {
            Open(id).Unmap(begin, events_.bytes[i], events_.time_ns[i], axis_.strips_);
          } else {
            Open(id).Map(
                begin, events_.bytes[i], events_.time_ns[i], id,
                [&](uint64_t address) { return Offset(id, address); }, axis_.strips_);
          }
          break;
        }
        case trace::EventKind::kAlloc:
          if (lone && Alone(id))
            axis_.own_offset_[id] = packer.Take(allocations_.bytes_rounded[id]);
          break;
        case trace::EventKind::kFreeCompleted:
          if (lone && Alone(id)) packer.Give(axis_.own_offset_[id], allocations_.bytes_rounded[id]);
          break;
        default:
          break;
      }
    }
    axis_.size_ = packer.highest();
  }

 private:
  // Finds the address ranges that were ever mapped, for all segments in one list.
  void FindPieces() {
    std::map<uint32_t, trace::RangeSet> mapped;
    for (uint32_t row = 0; row < trace_.other_events.size(); ++row) {
      const trace::EventIndex i = trace_.other_events.event[row];
      if (events_.kind[i] != trace::EventKind::kSegmentMap) continue;
      const uint64_t begin = trace_.other_events.address[row];
      mapped[static_cast<uint32_t>(events_.id[i])].Add(begin,
                                                       trace::EndOf(begin, events_.bytes[i]));
    }
    for (uint32_t id = 0; id < segments_.size(); ++id) {
      axis_.first_piece_.push_back(static_cast<uint32_t>(axis_.pieces_.size()));
      if (IsTotal(id)) continue;
      if (!segments_.expandable[id]) {
        axis_.pieces_.push_back({.begin = segments_.address[id],
                                 .end = trace::EndOf(segments_.address[id], segments_.bytes[id])});
        continue;
      }
      uint64_t before = 0;
      for (const auto& [begin, end] : mapped[id]) {
        axis_.pieces_.push_back({.begin = begin, .end = end, .before = before});
        before += end - begin;
      }
    }
    axis_.first_piece_.push_back(static_cast<uint32_t>(axis_.pieces_.size()));
  }

  // Whether the segment only represents a reserved total. Such a segment has no range of the axis.
  bool IsTotal(uint32_t segment) const { return trace::IsReservedTotal(trace_, {segment}); }
  uint64_t BytesOf(uint32_t segment) const {
    const auto pieces = axis_.PiecesOf(segment);
    return pieces.empty() ? 0 : pieces.back().before + pieces.back().end - pieces.back().begin;
  }
  uint64_t Offset(uint32_t segment, uint64_t address) const {
    const Piece* piece = axis_.PieceOf(segment, address);
    return piece == nullptr ? 0 : axis_.offset_[segment] + piece->before + (address - piece->begin);
  }
  bool Alone(uint32_t allocation) const {
    const trace::SegmentId segment = allocations_.segment[allocation];
    if (!segment.valid()) return true;
    return segments_.expandable[segment.value] &&
           axis_.PieceOf(segment.value, allocations_.address[allocation]) == nullptr;
  }
  bool AnyAlone() const {
    for (uint32_t id = 0; id < allocations_.size(); ++id)
      if (Alone(id)) return true;
    return false;
  }

  OpenStrips& Open(uint32_t segment) {
    return open_.try_emplace(segment, axis_.end_ns_).first->second;
  }

  AddressAxis& axis_;
  const trace::Trace& trace_;
  const trace::SegmentTable& segments_;
  const trace::AllocationTable& allocations_;
  const trace::EventTable& events_;
  std::map<uint32_t, OpenStrips> open_;  // strips of expandable segments, by segment
};

AddressAxis::AddressAxis(std::shared_ptr<const trace::Trace> trace, std::optional<int64_t> end_ns)
    : trace_(std::move(trace)),
      end_ns_(std::max(trace_->end_ns(), end_ns.value_or(trace_->end_ns()))) {
  Builder(*this).Build();
}

const AddressAxis::Piece* AddressAxis::PieceOf(uint32_t segment, uint64_t address) const {
  const std::span<const Piece> pieces = PiecesOf(segment);
  const auto after =
      std::upper_bound(pieces.begin(), pieces.end(), address,
                       [](uint64_t value, const Piece& piece) { return value < piece.begin; });
  if (after == pieces.begin()) return nullptr;
  const Piece& piece = *std::prev(after);
  return address < piece.end ? &piece : nullptr;
}

uint64_t AddressAxis::OffsetOf(trace::AllocationId id) const {
  const trace::AllocationTable& a = trace_->allocations;
  const trace::SegmentId segment = a.segment[id.value];
  if (!segment.valid()) return own_offset_[id.value];
  if (!trace_->segments.expandable[segment.value])
    return offset_[segment.value] + (a.address[id.value] - trace_->segments.address[segment.value]);
  const Piece* piece = PieceOf(segment.value, a.address[id.value]);
  if (piece == nullptr) return own_offset_[id.value];
  return offset_[segment.value] + piece->before + (a.address[id.value] - piece->begin);
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
