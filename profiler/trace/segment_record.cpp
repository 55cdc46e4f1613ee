#include "profiler/trace/segment_record.h"

#include <algorithm>

#include "profiler/base/i18n.h"

namespace vramscope::trace {

bool IsReservedTotal(const Trace& trace, SegmentId segment) {
  return segment.valid() && trace.segments.address[segment.value] == kReservedTotalAddress &&
         trace.segments.expandable[segment.value] != 0;
}

SegmentRecord SegmentRecordOf(const Trace& trace) {
  const uint32_t segments = trace.segments.size();
  for (uint32_t row = 0; row < segments; ++row)
    if (IsReservedTotal(trace, {row})) return SegmentRecord::kTotalOnly;
  // Blocks of an allocator without segments (such as the host's) can still be replayed from an
  // empty state.
  const bool blocks_alone =
      segments == 0 && trace.allocations.size() > 0 && trace.info.backend == Backend::kImported;
  return blocks_alone ? SegmentRecord::kNone : SegmentRecord::kEach;
}

uint32_t RecordedSegments(const Trace& trace) {
  uint32_t count = 0;
  for (uint32_t row = 0; row < trace.segments.size(); ++row)
    count += IsReservedTotal(trace, {row}) ? 0 : 1;
  return count;
}

bool IsOfHostMemory(const Trace& trace) {
  return trace.info.backend == Backend::kCpu || trace.info.device.name == "cpu";
}

bool SizesAreOfBlocks(const Trace& trace) {
  if (trace.info.backend != Backend::kImported || IsOfHostMemory(trace)) return false;
  return SegmentRecordOf(trace) == SegmentRecord::kTotalOnly ||
         trace.info.source.starts_with("Chrome trace") ||
         trace.info.source.starts_with("memory timeline");
}

std::string_view WhyNoSegments(const Trace& trace) {
  switch (SegmentRecordOf(trace)) {
    case SegmentRecord::kTotalOnly:
      return i18n::Text(
          "a Kineto trace records how much memory is reserved, not where, so there are no segments "
          "to show and nothing to replay. Record a memory snapshot: "
          "torch.cuda.memory._record_memory_history(max_entries=100000)");
    case SegmentRecord::kNone:
      return IsOfHostMemory(trace)
                 ? i18n::Text(
                       "the trace contains host memory, which PyTorch allocates without segments")
                 : i18n::Text(
                       "the file has blocks and no segments, so the reserved memory is not known. "
                       "Record a memory snapshot: "
                       "torch.cuda.memory._record_memory_history(max_entries=100000)");
    case SegmentRecord::kEach:
      break;
  }
  return "";
}

std::string_view WhyNoReplay(const Trace& trace) {
  const bool host = trace.info.backend == Backend::kImported && IsOfHostMemory(trace);
  return host || SizesAreOfBlocks(trace) ? WhyNoSegments(trace) : "";
}

}  // namespace vramscope::trace
