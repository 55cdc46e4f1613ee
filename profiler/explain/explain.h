// Why memory is as it is: fragmentation and who pins it, reserved but unused bytes and what would
// give them back (computed by replay), leaks over steps, call sites, out of memory.
//
// Pure functions of an immutable Trace; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::explain {

// Segments and their blocks right after an event; for the segment map and for fragmentation.
struct SegmentView {
  trace::SegmentId segment;
  uint64_t address = 0, bytes = 0;  // mapped bytes, for an expandable one
  uint64_t live_bytes = 0;          // of blocks; free = bytes - live_bytes
  uint64_t largest_hole = 0;
  struct Piece {
    uint64_t address = 0, bytes = 0;
    trace::AllocationId allocation;  // invalid: free
  };
  std::vector<Piece> pieces;  // by address, without gaps
};
std::vector<SegmentView> SegmentsAt(const trace::Trace& trace, trace::EventIndex event);

}  // namespace vramscope::explain
