#include "tests/bench/long_run.h"

#include "profiler/trace/allocator_events.h"
#include "profiler/trace/event_source.h"
#include "tests/ui/timeline/synthetic_trace.h"

namespace vramscope::bench {

using trace::Event;
using trace::EventKind;

LongRun::LongRun(int streams, int steps_a_copy)
    : run_(testing::MakeSyntheticTrace({.layers = 48,
                                        .steps = steps_a_copy,
                                        .ops_per_module = 4,
                                        .activities = {.streams = streams}})),
      length_ns_(run_->end_ns() - run_->begin_ns() + 1'000'000) {
  for (const trace::SliceKind kind : run_->slices.kind) steps_ += kind == trace::SliceKind::kStep;
}

Event LongRun::Shifted(Event e) const {
  const auto copies = static_cast<uint64_t>(copy_);
  e.time_ns += copy_ * length_ns_;
  const trace::Subject subject = trace::SubjectOf(e.kind);
  if (subject == trace::Subject::kBlock) e.id += copies * run_->allocations.size();
  if (subject == trace::Subject::kSegment) e.id += copies * run_->segments.size();
  if (e.kind == EventKind::kStepBegin) e.id += copies * steps_;
  return e;
}

void LongRun::Next(std::vector<Event>* events, std::vector<trace::Activity>* activities) {
  const trace::Trace& t = *run_;
  events->clear();
  trace::EventSource source(t);
  for (trace::EventIndex i = 0; i < t.events.size(); ++i) {
    events->push_back(Shifted(source.At(i)));
    if (i + 1 < t.events.size())
      events->back().time_ns += Scatter((t.events.time_ns[i + 1] - t.events.time_ns[i]) / 2);
  }
  const auto free = [&](EventKind kind, uint64_t id) {
    Event e;
    e.kind = kind;
    e.id = id;
    e.time_ns = t.end_ns();
    events->push_back(Shifted(e));
  };
  for (uint32_t a = 0; a < t.allocations.size(); ++a) {
    if (t.allocations.free_event[a] != trace::kNoEvent) continue;
    free(EventKind::kFreeRequested, a);
    free(EventKind::kFreeCompleted, a);
  }
  for (uint32_t s = 0; s < t.segments.size(); ++s)
    if (t.segments.free_event[s] == trace::kNoEvent) free(EventKind::kSegmentFree, s);
  activities->clear();
  for (uint32_t i = 0; i < t.activities.size(); ++i) {
    trace::Activity a = t.activities.Row(i);
    a.begin_ns += copy_ * length_ns_ + Scatter((a.end_ns - a.begin_ns) / 3);
    a.end_ns += copy_ * length_ns_;
    if (a.correlation != 0) a.correlation += static_cast<uint64_t>(copy_) << 32;
    activities->push_back(a);
  }
  ++copy_;
}

}  // namespace vramscope::bench
