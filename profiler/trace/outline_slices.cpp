#include "profiler/trace/outline_slices.h"

#include <algorithm>

#include "profiler/trace/processes.h"

namespace vramscope::trace {

void OutlineSlices::Add(const Event& e) {
  switch (e.kind) {
    case EventKind::kStepBegin:
    case EventKind::kPhaseBegin:
    case EventKind::kStepEnd:
    case EventKind::kPhaseEnd:
      break;
    default:
      return;
  }
  if (!process_) process_ = ProcessOfThread(e.thread);
  if (ProcessOfThread(e.thread) != *process_) return;
  if (e.kind == EventKind::kStepBegin)
    Begin(steps_, SliceKind::kStep, static_cast<uint32_t>(e.id), e.time_ns);
  else if (e.kind == EventKind::kPhaseBegin)
    Begin(phases_, SliceKind::kPhase, e.detail, e.time_ns);
  else
    End(e.kind == EventKind::kStepEnd ? steps_ : phases_, e.time_ns);
}

void OutlineSlices::Begin(Kind& of, SliceKind kind, uint32_t number, int64_t time_ns) {
  if (of.open++ > 0) return;
  of.begin_ns = time_ns;
  of.number = number;
  if (!of.groups.empty() && of.groups.back().slice.count < of.together) {
    ++of.groups.back().slice.count;
    return;
  }
  if (of.groups.size() == kMost) Halve(of);
  of.groups.push_back({.slice = {kind, number, time_ns, time_ns}});
}

void OutlineSlices::End(Kind& of, int64_t time_ns) {
  if (of.open > 0 && --of.open == 0) Close(of, time_ns);
}

void OutlineSlices::Close(Kind& of, int64_t time_ns) {
  Group& group = of.groups.back();
  group.slice.end_ns = time_ns;
  if (group.slice.kind == SliceKind::kPhase && of.number < kPhaseCount)
    group.time[of.number] += time_ns - of.begin_ns;
}

void OutlineSlices::Halve(Kind& of) {
  static_assert(kMost % 2 == 0);
  for (size_t i = 0; i < kMost / 2; ++i) {
    Group group = of.groups[2 * i];
    const Group& with = of.groups[2 * i + 1];
    group.slice.end_ns = with.slice.end_ns;
    group.slice.count += with.slice.count;
    for (size_t phase = 0; phase < kPhaseCount; ++phase) group.time[phase] += with.time[phase];
    of.groups[i] = group;
  }
  of.groups.resize(kMost / 2);
  of.together *= 2;
}

std::vector<Footer::Slice> OutlineSlices::Take(int64_t end_ns) {
  std::vector<Footer::Slice> all;
  for (Kind* of : {&steps_, &phases_}) {
    if (of->open > 0) Close(*of, end_ns);
    for (Group& group : of->groups) {
      if (group.slice.count > 1 && group.slice.kind == SliceKind::kPhase)
        group.slice.number =
            static_cast<uint32_t>(std::ranges::max_element(group.time) - group.time.begin());
      all.push_back(group.slice);
    }
  }
  std::ranges::stable_sort(all, {}, &Footer::Slice::begin_ns);
  return all;
}

}  // namespace vramscope::trace
