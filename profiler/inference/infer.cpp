#include "profiler/inference/infer.h"

#include <absl/container/flat_hash_map.h>

#include <utility>
#include <vector>

#include "profiler/inference/categories.h"
#include "profiler/inference/lifetimes.h"
#include "profiler/inference/names.h"
#include "profiler/inference/rules.h"
#include "profiler/inference/stacks.h"
#include "profiler/inference/timeline.h"

namespace vramscope::inference {
namespace {

using trace::Category;

// What the file itself says of a block stands, and for all of its life.
void TakeSaid(const recording::Recording& recording, const recording::History& history,
              recording::Labels& labels) {
  if (recording.said_is_inferred) return;  // by us, before: concluded again
  const recording::EntryTable& e = recording.entries;
  const recording::History::Allocations& allocations = history.allocations;
  // Blocks of the end, by place.
  absl::flat_hash_map<std::pair<uint8_t, uint64_t>, Category> at_end;
  for (const recording::SegmentState& segment : recording.segments)
    for (const recording::BlockState& block : segment.blocks)
      if (block.said != Category::kUnknown) at_end[{segment.device, block.address}] = block.said;
  if (e.said.empty() && at_end.empty()) return;
  const auto of_entry = [&](recording::EntryIndex i) {
    return i == recording::kNoEntry || e.said.empty() ? Category::kUnknown : e.said[i];
  };
  std::vector<bool> said(allocations.size(), false);
  for (uint32_t a = 0; a < allocations.size(); ++a) {
    Category category = of_entry(allocations.alloc[a]);
    if (category == Category::kUnknown && allocations.alloc[a] == recording::kNoEntry) {
      category = of_entry(allocations.free_requested[a]);
      if (category == Category::kUnknown) category = of_entry(allocations.free_completed[a]);
    }
    if (category == Category::kUnknown && allocations.free_completed[a] == recording::kNoEntry) {
      const auto block = at_end.find({allocations.device[a], allocations.address[a]});
      if (block != at_end.end()) category = block->second;
    }
    if (category == Category::kUnknown) continue;
    said[a] = true;
    labels.category[a] = category;
    labels.rule[a] = kSaid;
  }
  std::erase_if(labels.retags,
                [&](const recording::Labels::Retag& r) { return said[r.allocation]; });
}

}  // namespace

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
  TakeSaid(recording, history, labels);

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
