// Maps addresses to a packed axis, so that blocks can be drawn by address although their segments
// are far apart. A segment has a range of the packed axis for its lifetime; later segments reuse
// it. Distances within a segment stay the same, except that addresses of an expandable segment are
// left out if they were never mapped.
//
//   AddressAxis axis(trace);
//   uint64_t y = axis.OffsetOf({row});    // packed offset of an allocation's first byte
//
// Immutable once built; thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::query {

// A range of the packed axis that represents, for a certain time, a segment or a mapped part of an
// expandable segment.
struct Strip {
  trace::SegmentId segment;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t address = 0;
  int64_t begin_ns = 0, end_ns = 0;
};

class AddressAxis {
 public:
  // Memory that is live when the trace ends is drawn until `end_ns`. This may be later than the
  // host's last event, because kernels can end later.
  explicit AddressAxis(std::shared_ptr<const trace::Trace> trace,
                       std::optional<int64_t> end_ns = std::nullopt);
  int64_t end_ns() const { return end_ns_; }
  uint64_t size() const { return size_; }  // length of the axis; all offsets are smaller
  uint64_t OffsetOf(trace::AllocationId id) const;
  // Sorted by begin.
  std::span<const Strip> strips() const { return strips_; }
  // Returns the device address at an offset and time, or nullopt if no segment is there. Takes time
  // linear in the number of strips.
  std::optional<uint64_t> AddressAt(uint64_t offset, int64_t time_ns) const;

 private:
  // A contiguous range of addresses of one segment that was mapped at some time.
  struct Piece {
    uint64_t begin = 0, end = 0;
    uint64_t before = 0;  // total bytes of the segment's earlier pieces
  };
  class Builder;

  // Returns the piece that contains an address, or null if none does.
  const Piece* PieceOf(uint32_t segment, uint64_t address) const;
  std::span<const Piece> PiecesOf(uint32_t segment) const {
    return std::span(pieces_).subspan(first_piece_[segment],
                                      first_piece_[segment + 1] - first_piece_[segment]);
  }

  std::shared_ptr<const trace::Trace> trace_;
  int64_t end_ns_ = 0;
  uint64_t size_ = 0;
  std::vector<Strip> strips_;
  std::vector<uint32_t> first_piece_;  // indexed by segment
  std::vector<Piece> pieces_;          // sorted by segment and address
  std::vector<uint64_t> offset_;       // indexed by segment
  // Indexed by allocation: the offset of an allocation outside all segments (on the CPU backend).
  // Empty: every allocation is in a segment.
  std::vector<uint64_t> own_offset_;
};

}  // namespace vramscope::query
