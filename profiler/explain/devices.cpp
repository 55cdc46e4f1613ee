#include "profiler/explain/devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/analysis/analysis.h"

namespace vramscope::explain {

using trace::EventIndex;
using trace::EventKind;

bool DeviceMemory::Next(EventIndex event) {
  const uint64_t id = trace_.events.id[event];
  const trace::SegmentTable& s = trace_.segments;
  const trace::AllocationTable& a = trace_.allocations;
  const EventKind kind = trace_.events.kind[event];
  switch (kind) {
    case EventKind::kAlloc:
    case EventKind::kFreeCompleted:
      if (a.device[id] != device_) return false;
      allocated_ += kind == EventKind::kAlloc ? a.bytes_rounded[id] : -a.bytes_rounded[id];
      return true;
    case EventKind::kSegmentAlloc:
    case EventKind::kSegmentFree:
      if (s.device[id] != device_ || s.expandable[id] != 0) return false;
      reserved_ += kind == EventKind::kSegmentAlloc ? s.bytes[id] : -s.bytes[id];
      return true;
    case EventKind::kSegmentMap:
      if (s.device[id] != device_) return false;
      reserved_ += trace_.events.bytes[event];
      return true;
    case EventKind::kSegmentUnmap:
      if (s.device[id] != device_) return false;
      reserved_ -= std::min(reserved_, trace_.events.bytes[event]);
      return true;
    default:
      return false;
  }
}

std::array<uint64_t, 256> PeakReserved(const trace::Trace& trace) {
  std::array<uint64_t, 256> out{};
  for (const uint8_t device : analysis::DevicesOf(trace)) {
    DeviceMemory memory(trace, device);
    for (EventIndex i = 0; i < trace.events.size(); ++i) {
      if (memory.Next(i)) out[device] = std::max(out[device], memory.reserved());
    }
  }
  return out;
}

std::string OnDevice(const trace::Trace& trace, uint8_t device) {
  return analysis::DevicesOf(trace).size() > 1 ? fmt::format(" on cuda:{}", device) : "";
}

}  // namespace vramscope::explain
