// Generates streams of events for tests, benchmarks and fuzz seeds, and compares traces.
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

// Returns events of every kind in any allowed order, with extreme values. Adds about one activity
// for every three events, in random order.
Stream RandomStream(uint64_t seed, size_t events);

// TrainingStream() returns the events of training a decoder: steps, phases, modules, operators with
// outputs and temporaries, saved activations that backward frees, and temporaries of the optimizer.
// The allocator model determines addresses and segments. Times vary as in a measured run.
struct TrainingOptions {
  int layers = 24;
  int steps = 4;
  size_t max_events = SIZE_MAX;  // the run stops there, in the middle of a step
  double jitter = 0.3;           // relative; with 0, all steps are equal, as with a modelled clock
};
Stream TrainingStream(const TrainingOptions& options);

// Sends the stream: Begin(), then pieces of about `piece` events, each after the strings and stacks
// that it needs, and with activities in between, then End().
void Play(const Stream& stream, EventSink& sink, size_t piece = 1000, bool complete = true);

// Builds the trace with a BuilderSink. Ends the program if the stream is invalid.
std::shared_ptr<const Trace> Build(const Stream& stream);

// Returns the first difference between the tables, or "" if they are equal. Ignores warnings.
std::string Difference(const Trace& a, const Trace& b);
// Compares `part` with the first part.events.size() events of `whole` and what follows from them.
// Returns the first difference or "". `part` may lack some activities.
std::string PrefixDifference(const Trace& part, const Trace& whole);

// Returns one line for each event, activity, frame and stack in the bytes of a file, with all
// fields. Does not use the reader or the builder.
std::string ListEvents(const std::string& file_bytes);
// Lists the tables as text.
std::string ListFacts(const Trace& trace);

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const std::string& bytes);

}  // namespace vramscope::trace::testing
