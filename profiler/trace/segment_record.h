// How much a trace records about segments. Plans and memory snapshots record every segment with its
// address. A Kineto trace only records how many bytes were reserved in all, so
// it yields no results that depend on the position of free memory (inactive
// splits, cached segments, replay).
//
//   if (SegmentRecordOf(trace) == SegmentRecord::kTotalOnly) return NeedsSegments(...);
//
// The importer represents the total as one expandable segment at kReservedTotalAddress, where no
// device and no host has memory. The segment grows and shrinks with the total and contains no
// recorded block. Code that shows or counts segments must leave this segment out. Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

inline constexpr uint64_t kReservedTotalAddress = uint64_t{1} << 60;
// A block whose stack is a single frame with this name represents all memory that was allocated
// before a Kineto trace began.
inline constexpr std::string_view kBeforeProfiler =
    "(allocated before profiling began, not freed during it)";

enum class SegmentRecord : uint8_t {
  kEach,       // every segment, with its address
  kTotalOnly,  // the reserved bytes over time, without addresses
  kNone,       // no segments, only blocks
};

SegmentRecord SegmentRecordOf(const Trace& trace);
// Returns whether this is the importer's segment that represents the total.
bool IsReservedTotal(const Trace& trace, SegmentId segment);
// Returns the number of segments, without those that represent a total.
uint32_t RecordedSegments(const Trace& trace);

// Returns whether the trace only has rounded sizes and no requested sizes. This is so in Kineto
// traces of a GPU.
bool SizesAreOfBlocks(const Trace& trace);

// Whether the trace is of host memory (Kineto traces of a program that ran on the CPU).
bool IsOfHostMemory(const Trace& trace);

// Returns the reason why segments cannot be shown, or "" if they are recorded.
std::string_view WhyNoSegments(const Trace& trace);
// Returns why replay is not possible with any settings, or "" if it is. Replay needs a trace of
// device memory that has recorded segments or requested sizes.
std::string_view WhyNoReplay(const Trace& trace);

}  // namespace vramscope::trace
