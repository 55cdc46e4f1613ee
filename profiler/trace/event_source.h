// Rebuilds the events of a trace from its tables. Internal to this folder.
#pragma once

#include <utility>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

// Must be called for every event in order, beginning with event 0.
class EventSource {
 public:
  explicit EventSource(const Trace& trace);
  Event At(EventIndex i);

 private:
  const Trace& trace_;
  std::vector<std::pair<EventIndex, uint32_t>> ends_;  // (end event, slice)
  uint32_t slice_ = 0, end_ = 0, activity_ = 0;
};

}  // namespace vramscope::trace
