// The interface to which a producer of events writes, such as the trainer's recorder or an
// importer. Uses only plain types, so that code with LibTorch can include this header.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "profiler/trace/activity.h"
#include "profiler/trace/trace_info.h"
#include "profiler/trace/types.h"

namespace vramscope::trace {

// Called by one thread at a time, in this order: Begin, strings and events (strings before events
// that use them), End. Implementations: TraceWriter (file or pipe), BuilderSink (memory; tests).
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void Begin(const TraceInfo& info) = 0;
  virtual void Strings(uint32_t first_id, std::span<const std::string> values) = 0;
  // Stacks precede the events that use them. Only importers write stacks.
  virtual void Stacks(const StackIncrement&) {}
  virtual void Events(std::span<const Event> events) = 0;
  // May be called at any time between Begin and End. Activities may be in any order. Only recorders
  // of a GPU write them.
  virtual void Activities(std::span<const Activity>) {}
  virtual void End(bool complete, std::string_view message) = 0;
};

}  // namespace vramscope::trace
