// Addresses of segments lie far apart and grow without end; this lays them close together, so that
// a picture of blocks by address is readable. A segment gets a range of the packed axis for as long
// as it lives; a freed range is used again. Within a segment distances are as they are, but for
// addresses of expandable ones that never had memory: they take no room.
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

// Memory of a segment on the packed axis: a whole segment, or a part of an expandable one for as
// long as it is mapped.
struct Strip {
  trace::SegmentId segment;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t address = 0;
  int64_t begin_ns = 0, end_ns = 0;
};

class AddressAxis {
 public:
  // What is in memory at the trace's end stays there up to `end_ns`: of a picture that goes on, as
  // for kernels that end after the host's last event. Not before the trace's end.
  explicit AddressAxis(std::shared_ptr<const trace::Trace> trace,
                       std::optional<int64_t> end_ns = std::nullopt);
  int64_t end_ns() const { return end_ns_; }
  uint64_t size() const { return size_; }  // all offsets are below
  uint64_t OffsetOf(trace::AllocationId id) const;
  // By begin.
  std::span<const Strip> strips() const { return strips_; }
  // The device address that stands at an offset at a time; nullopt between segments. Linear in the
  // number of strips: for hovering.
  std::optional<uint64_t> AddressAt(uint64_t offset, int64_t time_ns) const;

 private:
  // Addresses of one segment that had memory at some time, without a hole.
  struct Piece {
    uint64_t begin = 0, end = 0;
    uint64_t before = 0;  // bytes of the segment's pieces in front of it
  };
  class Builder;

  // The piece that holds an address; null when none does.
  const Piece* PieceOf(uint32_t segment, uint64_t address) const;
  std::span<const Piece> PiecesOf(uint32_t segment) const {
    return std::span(pieces_).subspan(first_piece_[segment],
                                      first_piece_[segment + 1] - first_piece_[segment]);
  }

  std::shared_ptr<const trace::Trace> trace_;
  int64_t end_ns_ = 0;
  uint64_t size_ = 0;
  std::vector<Strip> strips_;
  std::vector<uint32_t> first_piece_;  // by segment
  std::vector<Piece> pieces_;          // by segment and address
  std::vector<uint64_t> offset_;       // of segments
  // Of allocations, when some lie in no memory of a segment (the cpu backend's); else empty.
  std::vector<uint64_t> own_offset_;
};

}  // namespace vramscope::query
