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
  if (of.open++ > 0 || of.gone) return;
  of.slices.push_back({kind, number, time_ns, time_ns});
  if (of.slices.size() <= kMost) return;
  of.gone = true;
  of.slices = {};
}

void OutlineSlices::End(Kind& of, int64_t time_ns) {
  if (of.open == 0 || --of.open > 0 || of.gone) return;
  of.slices.back().end_ns = time_ns;
}

std::vector<Footer::Slice> OutlineSlices::Take(int64_t end_ns) {
  for (Kind* of : {&steps_, &phases_})
    if (of->open > 0 && !of->gone) of->slices.back().end_ns = end_ns;
  std::vector<Footer::Slice> all = std::move(steps_.slices);
  if (all.size() + phases_.slices.size() <= kMost)
    all.insert(all.end(), phases_.slices.begin(), phases_.slices.end());
  std::ranges::stable_sort(all, {}, &Footer::Slice::begin_ns);
  return all;
}

}  // namespace vramscope::trace
