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

// Any order of events that is allowed, of every kind, with extreme values among them; activities
// (about one to three events) in no order.
Stream RandomStream(uint64_t seed, size_t events);

// What training a decoder looks like: steps, phases, modules, ops, their outputs and scratch, saved
// activations freed in the backward pass, optimizer temporaries; addresses and segments from the
// caching-allocator model, times with the scatter of a measured run.
struct TrainingOptions {
  int layers = 24;
  int steps = 4;
  size_t max_events = SIZE_MAX;  // stops there, in mid-step
  double jitter = 0.3;           // relative; 0: as a modelled clock, every step alike
};
Stream TrainingStream(const TrainingOptions& options);

// Begin, strings, stacks, events and activities interleaved in pieces of about `piece` events, End.
void Play(const Stream& stream, EventSink& sink, size_t piece = 1000, bool complete = true);

std::shared_ptr<const Trace> Build(const Stream& stream);  // through a BuilderSink; checked

// "" when every table is the same; else the first thing that differs. Warnings are not compared.
std::string Difference(const Trace& a, const Trace& b);
// "" when `part` is what `whole` was after part.events.size() events, and has some of its
// activities.
std::string PrefixDifference(const Trace& part, const Trace& whole);

// One line an event, activity, frame and stack with every field, from the bytes of a file, without
// the reader or the builder.
std::string ListEvents(const std::string& file_bytes);
// The tables as text.
std::string ListFacts(const Trace& trace);

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const std::string& bytes);

}  // namespace vramscope::trace::testing
