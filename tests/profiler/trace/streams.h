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

// Returns `events` random events of all kinds. Their order is random but valid, and some values are
// extreme. Adds one activity for every three events, in random order.
Stream RandomStream(uint64_t seed, size_t events);

struct TrainingOptions {
  int layers = 24;
  int steps = 4;
  size_t max_events = SIZE_MAX;  // the run stops after so many events, even in the middle of a step
  double jitter = 0.3;  // how much the times between events vary; with 0, they are all equal, so
                        // all steps take equally long, as in a plan
};
// Returns the events of training a decoder: steps, phases, modules, operators with outputs and
// temporaries, saved activations that backward frees, and temporaries of the optimizer. The
// allocator model determines addresses and segments. Times vary as in a measured run.
Stream TrainingStream(const TrainingOptions& options);

// Sends the stream to the sink: calls Begin(), sends the events in pieces of `piece` events (the
// last piece may be shorter), and calls End(). Sends strings and stacks before the events that use
// them, and some of the activities after each piece. `complete` is the argument of End().
void Play(const Stream& stream, EventSink& sink, size_t piece = 1000, bool complete = true);

// Builds the trace with a BuilderSink. Ends the program if the stream is invalid.
std::shared_ptr<const Trace> Build(const Stream& stream);

// Returns the first difference between the traces, or "" if they are equal. Ignores warnings.
std::string Difference(const Trace& a, const Trace& b);
// Compares `part` with the first part.events.size() events of `whole`, and with the table rows that
// these events produce. Leaves out fields that later events change, such as the end of a block.
// Returns the first difference, or "" if there is none. `part` may lack some activities.
std::string PrefixDifference(const Trace& part, const Trace& whole);

// Decodes the bytes of a file, without the reader or the builder. Returns one line with all fields
// for each event, activity, stack frame and stack.
std::string ListEvents(const std::string& file_bytes);
// Returns the trace's facts and tables as text.
std::string ListFacts(const Trace& trace);

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const std::string& bytes);

}  // namespace vramscope::trace::testing
