// The interface to which a producer of events (the trainer's recorder, an importer) writes. Uses
// only plain types, so that code that includes LibTorch can include this header.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "profiler/trace/activity.h"
#include "profiler/trace/trace_info.h"
#include "profiler/trace/types.h"

namespace vramscope::trace {

// The calls come from one thread at a time, in order: Begin, then strings before the events that
// use them, then End. Implementations: TraceWriter (file or pipe), BuilderSink (memory; tests).
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void Begin(const TraceInfo& info) = 0;
  virtual void Strings(uint32_t first_id, std::span<const std::string> values) = 0;
  // Stacks precede the events that use them. Only importers write stacks.
  virtual void Stacks(const StackIncrement&) {}
  virtual void Events(std::span<const Event> events) = 0;
  // May be called at any time between Begin and End, with activities in any order. Only recorders
  // of a GPU write activities.
  virtual void Activities(std::span<const Activity>) {}
  virtual void End(bool complete, std::string_view message) = 0;
};

}  // namespace vramscope::trace
