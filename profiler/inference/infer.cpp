#include "profiler/inference/infer.h"

#include <algorithm>
#include <vector>

#include "profiler/inference/categories.h"
#include "profiler/inference/devices.h"
#include "profiler/inference/lifetimes.h"
#include "profiler/inference/names.h"
#include "profiler/inference/rules.h"
#include "profiler/inference/stacks.h"
#include "profiler/inference/timeline.h"

namespace vramscope::inference {

using recording::History;
using recording::Labels;
using recording::Recording;

namespace {

// Something is asked for or let go: the recording tells what happened, not only what was there.
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

// Of one device.
Labels InferDevice(const Recording& recording, const History& history, const Stacks& stacks) {
  Labels labels;
  labels.category.assign(history.allocations.size(), trace::Category::kUnknown);
  labels.rule.assign(history.allocations.size(), kSaid);
  if (!HasHistory(recording)) {
    CategorizeState(history, stacks, labels);
    return labels;
  }
  Timeline timeline = ReadMarks(recording, stacks);
  const Lives lives = ReadLives(recording, history, timeline);
  if (!TellsPasses(timeline)) MarkFromLifetimes(recording, history, lives, timeline);
  CompleteFromOrder(recording, timeline);
  Recomputed recomputed;
  if (!SaysPhases(recording, stacks)) recomputed = FindRecomputed(history, lives, timeline);
  Categorize(recording, history, stacks, timeline, lives, recomputed, labels);
  labels.steps = timeline.steps;
  labels.phases = PhaseRanges(timeline);
  return labels;
}

// Each device by itself. Steps and phases are the host's: as the marks of all devices say, or where
// they say nothing, as the device has them that is asked for most.
Labels InferDevices(const Recording& recording, const History& history, const Stacks& stacks,
                    const std::vector<uint8_t>& devices) {
  Labels labels;
  labels.category.assign(history.allocations.size(), trace::Category::kUnknown);
  labels.rule.assign(history.allocations.size(), kSaid);
  Timeline marks = ReadMarks(recording, stacks);
  const bool marked = TellsPasses(marks);
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
  recording::TakeSaid(recording, history, labels);  // stands over every rule
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
