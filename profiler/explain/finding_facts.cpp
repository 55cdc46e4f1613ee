#include "profiler/explain/finding_facts.h"

#include <map>

#include "profiler/analysis/site_names.h"

namespace vramscope::explain {

using trace::EventIndex;

namespace {

std::vector<PhaseSpan> PhasesOf(const trace::Trace& trace) {
  const trace::SliceTable& s = trace.slices;
  std::vector<PhaseSpan> phases;
  for (uint32_t i = 0; i < s.size(); ++i)
    if (s.kind[i] == trace::SliceKind::kPhase && s.depth[i] == 0)
      phases.push_back({s.phase(i), s.begin_event[i], s.end_event[i]});
  return phases;
}

EventIndex FirstStep(const trace::Trace& trace) {
  const trace::SliceTable& s = trace.slices;
  for (uint32_t i = 0; i < s.size(); ++i)
    if (s.kind[i] == trace::SliceKind::kStep) return s.begin_event[i];
  return trace::kNoEvent;
}

EventIndex MostReserved(const trace::Trace& trace, const analysis::MemoryCurves& curves) {
  const EventIndex begin = trace.recording_begin == trace::kNoEvent ? 0 : trace.recording_begin;
  uint64_t most = 0;
  EventIndex at = 0;
  for (size_t i = 0; i < curves.size(); ++i) {
    if (curves.event[i] < begin || curves.reserved[i] < most) continue;
    // Keeps the first event if several events have the highest reserved bytes.
    if (curves.reserved[i] == most && most > 0) continue;
    most = curves.reserved[i];
    at = curves.event[i];
  }
  return at;
}

}  // namespace

FindingFacts::FindingFacts(const trace::Trace& of)
    : trace(of),
      curves(analysis::ComputeCurves(of)),
      peak(analysis::FindPeak(of, curves)),
      steps(analysis::StepTable(of, curves)),
      phases(PhasesOf(of)),
      training_begin(FirstStep(of)),
      sites(FindCallSites(of)),
      claimed_(of.allocations.size(), false) {
  const trace::AllocationTable& a = of.allocations;
  for (const analysis::LiveAllocation& one : analysis::LiveAt(of, peak.context.event).allocations) {
    const uint32_t row = one.id.value;
    live.push_back({one.id, one.category, a.phase[row], a.step[row], a.micro_batch[row],
                    a.bytes_rounded[row]});
  }
  // A `detail` other than 0 is the number of the rule that inferred the step (trace/types.h).
  steps_recorded_ = trains() && of.events.detail[training_begin] == 0;
  fragmentation = FragmentationAt(of, MostReserved(of, curves));
}

trace::Phase FindingFacts::PhaseAt(EventIndex event) const {
  const auto behind =
      std::upper_bound(phases.begin(), phases.end(), event,
                       [](EventIndex at, const PhaseSpan& span) { return at < span.begin; });
  if (behind == phases.begin()) return trace::Phase::kNone;
  const PhaseSpan& span = *std::prev(behind);
  return event <= span.end ? span.phase : trace::Phase::kNone;
}

EventIndex FindingFacts::EndOfStep(int32_t step) const {
  const trace::SliceTable& s = trace.slices;
  for (uint32_t i = 0; i < s.size(); ++i)
    if (s.kind[i] == trace::SliceKind::kStep && s.depth[i] == 0 &&
        static_cast<int32_t>(s.number[i]) == step)
      return s.end_event[i];
  return trace::kNoEvent;
}

// If phases are inferred from stacks, one backward pass may consist of several spans. Returns the
// end of the last one.
EventIndex FindingFacts::EndOfBackward() const {
  const EventIndex end_of_step = EndOfStep(peak.context.step);
  EventIndex end = trace::kNoEvent;
  for (const PhaseSpan& span : phases)
    if (span.phase == trace::Phase::kBackward && span.end != trace::kNoEvent &&
        span.end >= peak.context.event &&
        (end_of_step == trace::kNoEvent || span.end <= end_of_step))
      end = span.end;
  return end;
}

std::string FindingFacts::Where(const Pile& pile) const {
  const analysis::SiteNames names(trace);
  std::map<uint32_t, uint64_t> by_stack;
  std::map<uint32_t, uint64_t> by_module;
  for (const trace::AllocationId id : pile.blocks) {
    const trace::StackId stack = trace.events.StackOf(trace.allocations.alloc_event[id.value]);
    by_stack[stack.value] += trace.allocations.bytes_rounded[id.value];
    by_module[trace.allocations.module[id.value].value] +=
        trace.allocations.bytes_rounded[id.value];
  }
  std::map<std::string, uint64_t> by_line;
  for (const auto& [stack, bytes] : by_stack) {
    if (stack == 0) continue;
    const std::vector<std::string> callers = names.Callers({stack});
    if (!callers.empty()) by_line[callers.front()] += bytes;
  }
  const auto less = [](const auto& x, const auto& y) { return x.second < y.second; };
  if (const auto most = std::max_element(by_line.begin(), by_line.end(), less);
      most != by_line.end())
    return most->first;
  const auto most = std::max_element(by_module.begin(), by_module.end(), less);
  return most == by_module.end() ? "" : std::string(trace.String({most->first}));
}

std::string FindingFacts::CallerOf(trace::AllocationId id) const {
  const trace::StackId stack = trace.events.StackOf(trace.allocations.alloc_event[id.value]);
  if (stack.value == 0) return "";
  const analysis::SiteNames names(trace);
  for (const uint32_t frame : trace.stacks.Frames(stack)) {
    if (!names.OfPython(frame)) continue;
    const bool of_torch =
        trace.String(trace.stacks.file[frame]).find("/torch/") != std::string_view::npos;
    return of_torch ? "" : names.FrameName(frame);
  }
  return "";
}

bool FindingFacts::RanOutOfMemory() const {
  for (EventIndex i = 0; i < trace.events.size(); ++i)
    if (trace.events.kind[i] == trace::EventKind::kOutOfMemory) return true;
  return false;
}

bool FindingFacts::HasPhase(trace::Phase phase) const {
  return std::ranges::any_of(phases, [&](const PhaseSpan& span) { return span.phase == phase; });
}

bool FindingFacts::IsHeldAfter(trace::AllocationId id, int32_t step) const {
  const EventIndex end = EndOfStep(step);
  return end != trace::kNoEvent && trace.allocations.free_requested_event[id.value] > end;
}

bool FindingFacts::HasStack(trace::AllocationId id) const {
  return trace.events.StackOf(trace.allocations.alloc_event[id.value]).value != 0;
}

template <class Is>
bool FindingFacts::AnyFrame(trace::AllocationId id, const Is& is) const {
  const trace::StackId stack = trace.events.StackOf(trace.allocations.alloc_event[id.value]);
  return stack.value != 0 && std::ranges::any_of(trace.stacks.Frames(stack), [&](uint32_t frame) {
           return is(trace.String(trace.stacks.file[frame]),
                     trace.String(trace.stacks.function[frame]));
         });
}

bool FindingFacts::HasFrameIn(trace::AllocationId id, std::string_view folder) const {
  return AnyFrame(id, [&](std::string_view file, std::string_view) {
    return file.find(folder) != std::string_view::npos;
  });
}

bool FindingFacts::IsPersistentTensor(const LiveBlock& block) const {
  return block.category == trace::Category::kBuffer && HasStack(block.id) &&
         !AnyFrame(block.id, [](std::string_view file, std::string_view function) {
           return file.ends_with("torch/nn/modules/module.py") || function == "__init__";
         });
}

bool FindingFacts::HasFrame(trace::AllocationId id, std::string_view file_end,
                            std::string_view function) const {
  return AnyFrame(id, [&](std::string_view file, std::string_view name) {
    return file.ends_with(file_end) && (function.empty() || name == function);
  });
}

}  // namespace vramscope::explain
