// How much a trace knows about segments. Plans and memory snapshots record every segment with its
// address. A Kineto trace only records how many bytes were reserved in all, so nothing that depends
// on where free memory lies (holes, cached segments, replay) can be computed from it.
//
//   if (SegmentRecordOf(trace) == SegmentRecord::kTotalOnly) return NeedsSegments(...);
//
// The importer keeps such a total as one expandable segment at kReservedTotalAddress, where no
// device and no host has memory; it grows and shrinks with the total and holds no recorded block.
// Everything that shows or counts segments must leave it out. Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

inline constexpr uint64_t kReservedTotalAddress = uint64_t{1} << 60;
// Name of the one frame of the block that stands for what was allocated before a Kineto trace
// began.
inline constexpr std::string_view kBeforeProfiler =
    "(made before the profiler, not freed while it ran)";

enum class SegmentRecord : uint8_t {
  kEach,       // every segment, with its address
  kTotalOnly,  // how much was reserved at each moment, not where
  kNone,       // nothing: blocks alone
};

SegmentRecord SegmentRecordOf(const Trace& trace);
// Whether the segment stands for a total.
bool IsReservedTotal(const Trace& trace, SegmentId segment);
// Segments that were recorded as such: without those that stand for a total.
uint32_t RecordedSegments(const Trace& trace);

// Whether sizes are those of blocks as the allocator handed them out, so that the requested sizes
// are not known: Kineto traces of a GPU.
bool SizesAreOfBlocks(const Trace& trace);

// Whether the trace is of host memory (Kineto traces of a program that ran on the CPU).
bool IsOfHostMemory(const Trace& trace);

// Why segments can't be shown; "" where they are recorded.
std::string_view WhyNoSegments(const Trace& trace);
// Why the allocator's decisions can't be replayed, not even under other settings: sizes are those
// of blocks and segments are not recorded, or the memory is the host's. "" where they can.
std::string_view WhyNoReplay(const Trace& trace);

}  // namespace vramscope::trace
