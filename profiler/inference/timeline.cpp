#include "profiler/inference/timeline.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/inference/repetition.h"
#include "profiler/inference/rules.h"

namespace vramscope::inference {
namespace {

using recording::Action;
using recording::Annotation;
using recording::Recording;
using trace::Phase;

bool IsRequest(Action action) {
  return action == Action::kAlloc || action == Action::kFreeRequested ||
         action == Action::kFreeCompleted;
}

// Returns the number in names such as "ProfilerStep#12", "step 12" and "Iteration_12".
std::optional<uint32_t> StepNumber(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits == 0 || digits == name.size() || name.size() - digits > 9) return std::nullopt;
  std::string word = absl::AsciiStrToLower(absl::string_view(name.data(), digits));
  while (!word.empty() && !absl::ascii_isalpha(word.back())) word.pop_back();
  for (const std::string_view end : {"step", "iteration", "iter"}) {
    if (std::string_view(word).ends_with(end)) {
      return static_cast<uint32_t>(std::stoul(std::string(name.substr(digits))));
    }
  }
  return std::nullopt;
}

Phase PhaseOf(std::string_view name) {
  if (name.starts_with("Optimizer.step#")) return Phase::kOptimizer;
  if (name.starts_with("Optimizer.zero_grad#")) return Phase::kZeroGrad;
  while (!name.empty() && (name.front() == '#' || name.front() == ' ')) name.remove_prefix(1);
  while (!name.empty() && (name.back() == '#' || name.back() == ' ')) name.remove_suffix(1);
  const std::string word = absl::AsciiStrToLower(absl::string_view(name.data(), name.size()));
  if (word == "setup") return Phase::kSetup;
  if (word == "data" || word == "dataloader" || word == "data loading") return Phase::kData;
  if (word == "forward" || word == "fwd" || word == "forward pass" || word == "forward_pass") {
    return Phase::kForward;
  }
  if (word == "loss") return Phase::kLoss;
  if (word == "backward" || word == "bwd" || word == "backward pass" || word == "backward_pass") {
    return Phase::kBackward;
  }
  if (word == "optimizer" || word == "optimizer step" || word == "optimizer_step" ||
      word == "opt_step") {
    return Phase::kOptimizer;
  }
  if (word == "zero_grad" || word == "zero grad") return Phase::kZeroGrad;
  if (word == "eval" || word == "evaluation" || word == "validation") return Phase::kEval;
  if (word == "generation" || word == "generate") return Phase::kGeneration;
  if (word == "save" || word == "save checkpoint" || word == "save_checkpoint") return Phase::kSave;
  if (word == "load" || word == "load checkpoint" || word == "load_checkpoint") return Phase::kLoad;
  return Phase::kNone;
}

EntryIndex EntryAt(const Recording& recording, int64_t time_ns) {
  const auto& times = recording.entries.time_ns;
  return static_cast<EntryIndex>(std::lower_bound(times.begin(), times.end(), time_ns) -
                                 times.begin());
}

// For entries whose stack shows no phase, uses the innermost annotation that names one.
void MarkFromAnnotations(const Recording& recording, Timeline& timeline) {
  struct Open {
    EntryIndex end;
    Phase phase;
  };
  std::vector<Open> open;
  EntryIndex at = 0;
  const auto advance = [&](EntryIndex to) {
    while (at < to) {
      while (!open.empty() && open.back().end <= at) open.pop_back();
      const EntryIndex stop = open.empty() ? to : std::min(to, open.back().end);
      for (; at < stop; ++at) {
        if (open.empty() || timeline.phase[at] != Phase::kNone) continue;
        timeline.phase[at] = open.back().phase;
        timeline.rule[at] = kAnnotationPhase;
      }
    }
  };
  for (const Annotation& a : recording.annotations) {
    const std::string_view name = recording.strings[a.name.value];
    if (const Phase phase = PhaseOf(name); phase != Phase::kNone) {
      advance(EntryAt(recording, a.begin_ns));
      open.push_back({EntryAt(recording, a.end_ns), phase});
    } else if (const auto number = StepNumber(name)) {
      const EntryIndex begin = EntryAt(recording, a.begin_ns), end = EntryAt(recording, a.end_ns);
      auto& steps = timeline.steps;
      if (begin < end && (steps.empty() || begin >= steps.back().end)) {
        steps.push_back({begin, end, *number, kAnnotationStep});
      }
    }
  }
  advance(timeline.size());
}

struct Range {
  EntryIndex begin, end;
  Phase phase;
  bool allocates;
};

std::vector<Range> RangesOf(const Recording& recording, const Timeline& timeline) {
  std::vector<Range> ranges;
  for (EntryIndex i = 0; i < timeline.size(); ++i) {
    const bool allocates = recording.entries.action[i] == Action::kAlloc;
    if (ranges.empty() || ranges.back().phase != timeline.phase[i]) {
      ranges.push_back({i, i + 1, timeline.phase[i], allocates});
    } else {
      ranges.back().end = i + 1;
      ranges.back().allocates |= allocates;
    }
  }
  return ranges;
}

// Returns the phase of a gap between two marked ranges, from the phases before and after it.
std::pair<Phase, Rule> Gap(Phase before, Phase after, bool optimizer_known) {
  const bool from_forward = before == Phase::kForward || before == Phase::kLoss;
  const bool to_forward = after == Phase::kForward || after == Phase::kData ||
                          after == Phase::kLoss || after == Phase::kZeroGrad;
  if (from_forward && after == Phase::kBackward) return {Phase::kLoss, kOrderLoss};
  if (before == Phase::kBackward && after == Phase::kOptimizer) {
    return {Phase::kOptimizer, kOrderOptimizer};
  }
  if (before == Phase::kBackward && !optimizer_known) return {Phase::kOptimizer, kOrderOptimizer};
  if ((before == Phase::kOptimizer || before == Phase::kZeroGrad || before == Phase::kData ||
       before == Phase::kSave) &&
      to_forward) {
    return {Phase::kData, kOrderData};
  }
  return {Phase::kNone, kStatedByProducer};
}

void FillGaps(const Recording& recording, Timeline& timeline) {
  const std::vector<Range> ranges = RangesOf(recording, timeline);
  const bool optimizer_known = std::any_of(
      ranges.begin(), ranges.end(), [](const Range& r) { return r.phase == Phase::kOptimizer; });
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Range& gap = ranges[i];
    if (gap.phase != Phase::kNone) continue;
    const Phase before = i == 0 ? Phase::kNone : ranges[i - 1].phase;
    const Phase after = i + 1 == ranges.size() ? Phase::kNone : ranges[i + 1].phase;
    if (before == Phase::kNone) {
      if (after != Phase::kNone) timeline.Mark(gap.begin, gap.end, Phase::kSetup, kOrderSetup);
    } else if (before == after) {
      timeline.Mark(gap.begin, gap.end, before, timeline.rule[gap.begin - 1]);
    } else if (before == Phase::kSetup || before == Phase::kLoad) {
      // Blocks allocated between moving the model and its first call are most likely batches.
      if (after == Phase::kForward) timeline.Mark(gap.begin, gap.end, Phase::kData, kOrderData);
    } else if (gap.allocates) {
      const auto [phase, rule] = Gap(before, after, optimizer_known);
      if (phase != Phase::kNone) timeline.Mark(gap.begin, gap.end, phase, rule);
    }
  }
}

// A step ends with its optimizer, or with the zero_grad that follows the optimizer. If the program
// begins with a zero_grad, each zero_grad begins a step instead. If no optimizer is marked, a step
// ends with backward.
void FindSteps(const Recording& recording, Timeline& timeline) {
  const std::vector<Range> ranges = RangesOf(recording, timeline);
  const auto has = [&](Phase phase) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const Range& r) { return r.phase == phase; });
  };
  const bool by_optimizer = has(Phase::kOptimizer);
  const Phase last_phase = by_optimizer ? Phase::kOptimizer : Phase::kBackward;
  const uint8_t rule = has(last_phase) || has(Phase::kBackward) ? kOrderStep : kOrderOnePass;
  bool zero_grad_first = false;
  for (const Range& r : ranges) {
    if (r.phase == Phase::kZeroGrad) zero_grad_first = true;
    if (r.phase == Phase::kZeroGrad || r.phase == Phase::kForward || r.phase == Phase::kBackward ||
        r.phase == Phase::kOptimizer) {
      break;
    }
  }
  bool in_step = false, ending = false, backward = false;
  const auto close = [&](EntryIndex end) {
    if (in_step) timeline.steps.back().end = end;
    in_step = ending = backward = false;
  };
  EntryIndex end = 0;  // end of the open step so far
  for (const Range& r : ranges) {
    if (r.phase == Phase::kNone || r.phase == Phase::kSetup || r.phase == Phase::kSave ||
        r.phase == Phase::kLoad) {
      continue;
    }
    const bool begins = r.phase == Phase::kForward || r.phase == Phase::kData ||
                        r.phase == Phase::kLoss || (r.phase == Phase::kBackward && by_optimizer) ||
                        (r.phase == Phase::kZeroGrad && zero_grad_first);
    // If an optimizer makes no allocations, the recording does not show it. It shows only the
    // zero_grad that follows, which frees gradients.
    if (r.phase == Phase::kZeroGrad && backward) ending = true;
    if (ending && begins) close(end);
    if (!in_step) {
      // Batches allocated before the first step belong to all steps.
      if (timeline.steps.empty() && r.phase == Phase::kData &&
          timeline.rule[r.begin] == kOrderData) {
        continue;
      }
      timeline.steps.push_back(
          {r.begin, r.end, static_cast<uint32_t>(timeline.steps.size()), rule});
      in_step = true;
    }
    ending |= r.phase == last_phase;
    backward |= r.phase == Phase::kBackward;
    end = r.end;
  }
  close(end);
}

}  // namespace

void Timeline::Mark(EntryIndex begin, EntryIndex end, Phase p, uint8_t r) {
  std::fill(phase.begin() + begin, phase.begin() + end, p);
  std::fill(rule.begin() + begin, rule.begin() + end, r);
}

// If a loss or backward follows a call of `generate`, the program trains on the generated result.
// Marks such a call as forward.
void TakeBackTrained(Timeline& timeline) {
  bool trained = false;
  for (EntryIndex i = timeline.size(); i-- > 0;) {
    const Phase phase = timeline.phase[i];
    if (phase == Phase::kNone) continue;
    if (phase != Phase::kGeneration)
      trained = phase == Phase::kBackward || phase == Phase::kLoss;
    else if (trained)
      timeline.Mark(i, i + 1, Phase::kForward, kStackForward);
  }
}

Timeline ReadMarks(const Recording& recording, const Stacks& stacks) {
  const recording::EntryTable& entries = recording.entries;
  Timeline timeline;
  timeline.phase.assign(entries.size(), Phase::kNone);
  timeline.rule.assign(entries.size(), kStatedByProducer);
  const bool phases =
      std::any_of(entries.stack.begin(), entries.stack.end(), [&](trace::StackId s) {
        const Phase phase = stacks.facts[s.value].phase;
        return phase == Phase::kForward || phase == Phase::kBackward;
      });
  for (EntryIndex i = 0; i < entries.size(); ++i) {
    const trace::StackId stack = entries.stack[i];
    const StackFacts& facts = stacks.facts[stack.value];
    timeline.phase[i] = facts.phase;
    timeline.rule[i] = facts.rule;
    // If stacks contain only Python frames, the stacks of autograd's thread are empty.
    if (stack.value == 0 && stacks.python && phases && IsRequest(entries.action[i])) {
      timeline.phase[i] = Phase::kBackward;
      timeline.rule[i] = kStackNone;
    }
  }
  TakeBackTrained(timeline);
  if (IsNoise(timeline)) timeline.Mark(0, timeline.size(), Phase::kNone, kStatedByProducer);
  MarkFromAnnotations(recording, timeline);
  return timeline;
}

bool IsNoise(const Timeline& timeline) {
  constexpr size_t kFewRanges = 64, kReadable = 8;  // kReadable: average entries per range
  const std::vector<Labels::PhaseRange> ranges = PhaseRanges(timeline);
  if (ranges.size() < kFewRanges || timeline.size() / ranges.size() >= kReadable) return false;
  // The phases of a small model are short, too, but they repeat.
  std::vector<uint64_t> sequence;
  sequence.reserve(ranges.size());
  for (const Labels::PhaseRange& r : ranges) {
    sequence.push_back((uint64_t{r.end - r.begin} << 8) | static_cast<uint64_t>(r.phase));
  }
  return Period(sequence) == 0;
}

bool SeparatesPasses(const Timeline& timeline) {
  const auto has = [&](Phase phase) {
    return std::find(timeline.phase.begin(), timeline.phase.end(), phase) != timeline.phase.end();
  };
  const bool forward = has(Phase::kForward) || has(Phase::kGeneration);
  return forward && (has(Phase::kBackward) || !has(Phase::kOptimizer));
}

void CompleteFromOrder(const Recording& recording, Timeline& timeline) {
  FillGaps(recording, timeline);
  if (timeline.steps.empty()) FindSteps(recording, timeline);
}

void SplitEqualPasses(const recording::History& history, Timeline& timeline) {
  // A pass makes at least kFewestRequests allocations. (Shorter periods are layers.) The first pass
  // may have up to kMostOdd more or fewer, such as workspaces.
  constexpr size_t kFewestRequests = 32, kMostOdd = 8;
  if (timeline.steps.size() != 1 || timeline.steps.front().rule != kOrderOnePass) return;
  const Labels::Step whole = timeline.steps.front();
  std::vector<EntryIndex> born;
  std::vector<uint64_t> sizes;
  for (EntryIndex i = whole.begin; i < whole.end; ++i) {
    if (timeline.phase[i] == Phase::kBackward || timeline.phase[i] == Phase::kOptimizer ||
        timeline.phase[i] == Phase::kGeneration)
      return;
    const uint32_t row = history.allocation_of_entry[i];
    if (row >= history.allocations.size() || history.allocations.alloc[row] != i) continue;
    born.push_back(i);
    sizes.push_back(history.allocations.requested[row]);
  }
  const size_t period = Period(sizes), n = sizes.size();
  if (period < kFewestRequests || n < 2 * period - kMostOdd) return;
  size_t alike = n - period;  // from this index on, each value equals the value one period later
  while (alike > 0 && sizes[alike - 1] == sizes[alike - 1 + period]) --alike;
  const size_t passes = (n + period / 2) / period;
  const size_t odd = n > passes * period ? n - passes * period : passes * period - n;
  if (passes < 2 || odd > kMostOdd || alike > period / 4) return;
  timeline.steps.clear();
  EntryIndex begin = whole.begin;
  for (size_t pass = 1; pass <= passes; ++pass) {
    const size_t left = (passes - pass) * period;  // allocations in the passes after this one
    const EntryIndex end = left == 0 ? whole.end : born[n - left];
    timeline.steps.push_back({begin, end, static_cast<uint32_t>(pass - 1), kStepRepetition});
    begin = end;
  }
}

std::vector<Labels::PhaseRange> PhaseRanges(const Timeline& timeline) {
  std::vector<Labels::PhaseRange> ranges;
  size_t step = 0;
  bool cut = true;
  for (EntryIndex i = 0; i < timeline.size(); ++i) {
    for (; step < timeline.steps.size() && timeline.steps[step].end <= i; ++step) cut = true;
    if (step < timeline.steps.size() && timeline.steps[step].begin == i) cut = true;
    const Phase phase = timeline.phase[i];
    if (phase == Phase::kNone) {
      cut = true;
      continue;
    }
    if (cut || ranges.back().phase != phase) {
      ranges.push_back({i, i + 1, phase, timeline.rule[i]});
    } else {
      ranges.back().end = i + 1;
    }
    cut = false;
  }
  return ranges;
}

std::vector<PassRange> Passes(const Timeline& timeline) {
  std::vector<PassRange> passes;
  const auto pass_of = [](Phase phase) {
    switch (phase) {
      case Phase::kForward:
      case Phase::kLoss:
      case Phase::kEval:
      case Phase::kGeneration:
        return Pass::kForward;
      case Phase::kBackward:
        return Pass::kBackward;
      case Phase::kOptimizer:
      case Phase::kZeroGrad:
        return Pass::kOptimizer;
      default:
        return Pass::kNone;
    }
  };
  size_t step = 0, first_of_step = 0;  // first_of_step: index in passes
  for (const Labels::PhaseRange& r : PhaseRanges(timeline)) {
    for (; step < timeline.steps.size() && timeline.steps[step].end <= r.begin; ++step) {
      first_of_step = passes.size();
    }
    const Pass pass = pass_of(r.phase);
    if (pass == Pass::kNone) continue;
    if (passes.size() > first_of_step && passes.back().pass == pass) {
      passes.back().end = r.end;
      continue;
    }
    // Hooks may run an optimizer's step within backward. This does not end the backward pass.
    if (pass == Pass::kBackward && passes.size() >= first_of_step + 2 &&
        passes.back().pass == Pass::kOptimizer &&
        passes[passes.size() - 2].pass == Pass::kBackward) {
      passes.pop_back();
      passes.back().end = r.end;
      continue;
    }
    passes.push_back({r.begin, r.end, pass});
  }
  return passes;
}

}  // namespace vramscope::inference
