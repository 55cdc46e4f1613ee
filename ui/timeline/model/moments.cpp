#include "ui/timeline/model/moments.h"

#include "ui/timeline/model/format.h"

namespace vramscope::ui::timeline {

std::string TimeTextOf(const trace::Trace& trace, int64_t time_ns, int64_t resolution_ns) {
  if (!trace.info.has_times) return FormatEntry(time_ns);
  return FormatTime(time_ns - trace.begin_ns(), resolution_ns);
}

std::string LengthOf(const trace::Trace& trace, int64_t ns) {
  return FormatLength(ns, trace.info.has_times);
}

}  // namespace vramscope::ui::timeline
