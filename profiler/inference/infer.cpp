#include "profiler/inference/infer.h"

#include <algorithm>
#include <span>
#include <vector>

#include "profiler/inference/categories.h"
#include "profiler/inference/devices.h"
#include "profiler/inference/lifetimes.h"
#include "profiler/inference/names.h"
#include "profiler/inference/rules.h"
#include "profiler/inference/stacks.h"
#include "profiler/inference/timeline.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::inference {

using recording::History;
using recording::Labels;
using recording::Recording;

namespace {

// Whether the recording has allocations or frees, and not just one state.
bool HasHistory(const Recording& recording) {
  return std::any_of(recording.entries.action.begin(), recording.entries.action.end(),
                     [](recording::Action action) {
                       return action == recording::Action::kAlloc ||
                              action == recording::Action::kFreeRequested ||
                              action == recording::Action::kFreeCompleted;
                     });
}

bool SaysPhases(const Recording& recording, const Stacks& stacks) {
  return std::any_of(recording.entries.stack.begin(), recording.entries.stack.end(),
                     [&](trace::StackId id) {
                       const trace::Phase phase = stacks.facts[id.value].phase;
                       return phase == trace::Phase::kForward || phase == trace::Phase::kBackward ||
                              phase == trace::Phase::kGeneration;
                     });
}

// Whether the program marks steps or phases. Without marks, nothing is inferred for the host's
// allocator: it also serves the rest of the program, so its lifetimes do not show steps.
bool SaysAnything(const Timeline& timeline) {
  return !timeline.steps.empty() ||
         std::any_of(timeline.phase.begin(), timeline.phase.end(),
                     [](trace::Phase phase) { return phase != trace::Phase::kNone; });
}

// Labels memory from before a Kineto trace as unknown: it is one block with unknown contents.
void ForgetBeforeProfiler(const Recording& recording, const History& history, Labels& labels) {
  const trace::StackTable& s = recording.stacks;
  const auto before = [&](trace::StackId id) {
    const std::span<const uint32_t> frames = s.Frames(id);
    return frames.size() == 1 &&
           recording.strings[s.function[frames[0]].value] == trace::kBeforeProfiler;
  };
  for (uint32_t a = 0; a < history.older; ++a) {
    if (!before(history.allocations.stack[a])) continue;
    labels.category[a] = trace::Category::kUnknown;
    labels.rule[a] = kStatedByProducer;
    std::erase_if(labels.retags, [a](const Labels::Retag& r) { return r.allocation == a; });
  }
}

// Infers the labels of one device.
Labels InferDevice(const Recording& recording, const History& history, const Stacks& stacks) {
  Labels labels;
  labels.category.assign(history.allocations.size(), trace::Category::kUnknown);
  labels.rule.assign(history.allocations.size(), kStatedByProducer);
  if (!HasHistory(recording)) {
    CategorizeState(history, stacks, labels);
    return labels;
  }
  Timeline timeline = ReadMarks(recording, stacks);
  const Lives lives = ReadLives(recording, history, timeline);
  if (recording.device == "cpu" && !SaysAnything(timeline)) return labels;
  if (!SeparatesPasses(timeline)) MarkFromLifetimes(recording, history, lives, timeline);
  CompleteFromOrder(recording, timeline);
  SplitEqualPasses(history, timeline);
  Recomputed recomputed;
  if (!SaysPhases(recording, stacks)) recomputed = FindRecomputed(history, lives, timeline);
  Categorize(recording, history, stacks, timeline, lives, recomputed, labels);
  labels.steps = timeline.steps;
  labels.phases = PhaseRanges(timeline);
  return labels;
}

// Infers each device separately. Steps and phases come from the marks of all devices. If there are
// no marks, they come from the device with the most allocations.
Labels InferDevices(const Recording& recording, const History& history, const Stacks& stacks,
                    const std::vector<uint8_t>& devices) {
  Labels labels;
  labels.category.assign(history.allocations.size(), trace::Category::kUnknown);
  labels.rule.assign(history.allocations.size(), kStatedByProducer);
  Timeline marks = ReadMarks(recording, stacks);
  const bool marked = SeparatesPasses(marks);
  size_t most = 0;
  for (const uint8_t device : devices) {
    const DevicePart part = PartOf(recording, history, device);
    const Labels of_part = InferDevice(part.recording, part.history, stacks);
    AddLabels(part, of_part, labels);
    if (marked || part.entry.size() <= most) continue;
    most = part.entry.size();
    labels.steps.clear();
    labels.phases.clear();
    TakeTimes(part, of_part, labels);
  }
  std::stable_sort(labels.retags.begin(), labels.retags.end(),
                   [](const Labels::Retag& x, const Labels::Retag& y) { return x.at < y.at; });
  if (marked) {
    CompleteFromOrder(recording, marks);
    labels.steps = marks.steps;
    labels.phases = PhaseRanges(marks);
  }
  return labels;
}

}  // namespace

Labels Infer(const Recording& recording, const History& history) {
  const History::Allocations& allocations = history.allocations;
  Names names(static_cast<uint32_t>(recording.strings.size()));
  const Stacks stacks = ReadStacks(recording, names);
  const std::vector<uint8_t> devices = DevicesOf(recording, history);
  Labels labels = devices.size() > 1 ? InferDevices(recording, history, stacks, devices)
                                     : InferDevice(recording, history, stacks);
  ForgetBeforeProfiler(recording, history, labels);
  recording::ApplyRecordedLabels(recording, history, labels);  // takes precedence over all rules
  labels.op.reserve(allocations.size());
  labels.module.reserve(allocations.size());
  for (const trace::StackId stack : allocations.stack) {
    labels.op.push_back(stacks.facts[stack.value].op);
    labels.module.push_back(stacks.facts[stack.value].module);
  }
  labels.strings = names.Take();
  return labels;
}

}  // namespace vramscope::inference
