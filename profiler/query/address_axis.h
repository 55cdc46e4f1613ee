// Addresses of segments lie far apart and grow without end; this lays them close together, so that
// a picture of blocks by address is readable. A segment gets a range of the packed axis for as long
// as it lives; a freed range is used again. Within a segment distances are as they are.
//
//   AddressAxis axis(*trace);
//   uint64_t y = axis.OffsetOf({row});    // packed offset of an allocation's first byte
//
// Immutable once built; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::query {

// A segment on the packed axis (or, in traces without segments such as the cpu backend's, an
// allocation of its own: segment is invalid then and such strips are not listed).
struct Strip {
  trace::SegmentId segment;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t address = 0;
  int64_t begin_ns = 0, end_ns = 0;
};

class AddressAxis {
 public:
  explicit AddressAxis(const trace::Trace& trace);
  uint64_t size() const { return size_; }  // all offsets are below
  uint64_t OffsetOf(trace::AllocationId id) const;
  // One a segment; row = SegmentId.
  std::span<const Strip> strips() const { return strips_; }
  // The device address that stands at an offset at a time; nullopt between segments. Linear in the
  // number of segments: for hovering.
  std::optional<uint64_t> AddressAt(uint64_t offset, int64_t time_ns) const;

 private:
  const trace::Trace& trace_;
  uint64_t size_ = 0;
  std::vector<Strip> strips_;
  std::vector<uint64_t> own_offset_;  // of allocations, when some lie in no segment; else empty
};

}  // namespace vramscope::query
