#include "profiler/inference/infer.h"

#include <vector>

#include "profiler/inference/categories.h"
#include "profiler/inference/lifetimes.h"
#include "profiler/inference/names.h"
#include "profiler/inference/rules.h"
#include "profiler/inference/stacks.h"
#include "profiler/inference/timeline.h"

namespace vramscope::inference {

using recording::History;
using recording::Labels;
using recording::Recording;

Labels Infer(const Recording& recording, const History& history) {
  const History::Allocations& allocations = history.allocations;
  const uint32_t count = allocations.size();
  Labels labels;
  labels.category.assign(count, trace::Category::kUnknown);
  labels.rule.assign(count, kSaid);
  labels.op.assign(count, {});
  labels.module.assign(count, {});

  Names names(static_cast<uint32_t>(recording.strings.size()));
  const Stacks stacks = ReadStacks(recording, names);
  Timeline timeline = ReadMarks(recording, stacks);
  const Lives lives = ReadLives(recording, history, timeline);
  if (!TellsPasses(timeline)) MarkFromLifetimes(recording, history, lives, timeline);
  CompleteFromOrder(recording, timeline);
  Recomputed recomputed;
  if (!stacks.phases) recomputed = FindRecomputed(history, lives, timeline);
  Categorize(recording, history, stacks, timeline, lives, recomputed, labels);
  recording::TakeSaid(recording, history, labels);  // stands over every rule

  for (uint32_t a = 0; a < count; ++a) {
    const StackFacts& facts = stacks.facts[allocations.stack[a].value];
    labels.op[a] = facts.op;
    labels.module[a] = facts.module;
  }
  labels.steps = timeline.steps;
  labels.phases = PhaseRanges(timeline);
  labels.strings = names.Take();
  return labels;
}

}  // namespace vramscope::inference
