// Streams of events for tests, benchmarks and fuzz seeds, and ways to compare traces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/trace/event_sink.h"
#include "profiler/trace/trace.h"

namespace vramscope::trace::testing {

struct Stream {
  TraceInfo info;
  std::vector<std::string> strings;  // [0] is ""
  StackTable stacks;
  std::vector<Event> events;
  std::vector<Activity> activities;  // in any order
};

// Events of every kind, in any allowed order, with extreme values; and activities (about one per
// three events) in random order.
Stream RandomStream(uint64_t seed, size_t events);

// The events of training a decoder: steps, phases, modules, operators with outputs and temporaries,
// saved activations that are freed in the backward pass, and optimizer temporaries. The model of
// the caching allocator determines addresses and segments. Times vary as in a measured run.
struct TrainingOptions {
  int layers = 24;
  int steps = 4;
  size_t max_events = SIZE_MAX;  // the run stops there, in the middle of a step
  double jitter = 0.3;           // relative; with 0, all steps are equal, as with a modelled clock
};
Stream TrainingStream(const TrainingOptions& options);

// Begin, strings, stacks, events and activities interleaved in pieces of about `piece` events, End.
void Play(const Stream& stream, EventSink& sink, size_t piece = 1000, bool complete = true);

std::shared_ptr<const Trace> Build(const Stream& stream);  // through a BuilderSink; checked

// The first difference between the tables, or "" if they are equal. Warnings are not compared.
std::string Difference(const Trace& a, const Trace& b);
// The first difference between `part` and the state of `whole` after part.events.size() events, or
// "". `part` may lack some activities.
std::string PrefixDifference(const Trace& part, const Trace& whole);

// One line per event, activity, frame and stack with every field, read from the bytes of a file,
// without the reader or the builder.
std::string ListEvents(const std::string& file_bytes);
// Lists the tables as text.
std::string ListFacts(const Trace& trace);

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const std::string& bytes);

}  // namespace vramscope::trace::testing
