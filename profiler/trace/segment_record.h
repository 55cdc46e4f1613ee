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
// One block represents all memory that was allocated before a Kineto trace began. Its stack has a
// single frame with this name.
inline constexpr std::string_view kBeforeProfiler =
    "(made before the profiler, not freed while it ran)";

enum class SegmentRecord : uint8_t {
  kEach,       // every segment, with its address
  kTotalOnly,  // the reserved bytes over time, without addresses
  kNone,       // no segments, only blocks
};

SegmentRecord SegmentRecordOf(const Trace& trace);
// Whether the segment represents a total.
bool IsReservedTotal(const Trace& trace, SegmentId segment);
// The recorded segments, without those that represent a total.
uint32_t RecordedSegments(const Trace& trace);

// Whether all sizes in the trace are rounded sizes, so that requested sizes are unknown,
// as in Kineto traces of a GPU.
bool SizesAreOfBlocks(const Trace& trace);

// Whether the trace is of host memory (Kineto traces of a program that ran on the CPU).
bool IsOfHostMemory(const Trace& trace);

// The reason why segments cannot be shown; "" if they are recorded.
std::string_view WhyNoSegments(const Trace& trace);
// The reason why the allocator's decisions cannot be replayed with any settings: segments and
// requested sizes are not recorded, or the memory is host memory. "" if replay is possible.
std::string_view WhyNoReplay(const Trace& trace);

}  // namespace vramscope::trace
