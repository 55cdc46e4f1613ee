// An EventSink that builds the Trace in memory. Used by tests, importers, and producers in the same
// process.
//
//   BuilderSink sink;
//   Produce(sink);
//   RETURN_IF_ERROR(sink.status());
//   std::shared_ptr<const Trace> trace = sink.Trace();
#pragma once

#include <absl/status/status.h>

#include <memory>
#include <string>
#include <string_view>

#include "profiler/trace/event_sink.h"
#include "profiler/trace/trace.h"

namespace vramscope::trace {

class BuilderSink : public EventSink {
 public:
  void Begin(const TraceInfo& info) override { builder_.SetInfo(info); }
  void Strings(uint32_t first_id, std::span<const std::string> values) override {
    Note(builder_.AddStrings(first_id, values));
  }
  void Stacks(const StackIncrement& increment) override { Note(builder_.AddStacks(increment)); }
  // After an error, further events are dropped.
  void Events(std::span<const Event> events) override {
    if (status_.ok()) Note(builder_.AddEvents(events));
  }
  void Activities(std::span<const Activity> activities) override {
    if (status_.ok()) Note(builder_.AddActivities(activities));
  }
  void End(bool complete, std::string_view message) override {
    trace_ = builder_.Finish(complete && status_.ok(), std::string(message));
  }

  // The first error of the builder.
  const absl::Status& status() const { return status_; }
  // Returns the whole trace after End, and the trace so far before End.
  std::shared_ptr<const trace::Trace> Trace() const {
    return trace_ != nullptr ? trace_ : builder_.Snapshot();
  }

 private:
  void Note(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  TraceBuilder builder_;
  absl::Status status_;
  std::shared_ptr<const trace::Trace> trace_;
};

}  // namespace vramscope::trace
