#include "profiler/program/steps.h"

#include <algorithm>
#include <optional>

namespace vramscope::program {
namespace {

using trace::Phase;

// An outermost scope. Its kind determines a phase.
struct Scope {
  MarkKind kind = MarkKind::kForward;
  Edge begin, end;
  bool trains = false;
  bool in_training = false;  // training mode of the module
  bool steps = false;        // an optimizer step is within it
  bool closure = false;      // an optimizer's closure, with forward and backward in it
};

std::optional<MarkKind> EndOf(MarkKind begin) {
  switch (begin) {
    case MarkKind::kForward:
      return MarkKind::kForwardEnd;
    case MarkKind::kBackward:
      return MarkKind::kBackwardEnd;
    case MarkKind::kOptimizer:
      return MarkKind::kOptimizerEnd;
    case MarkKind::kZeroGrad:
      return MarkKind::kZeroGradEnd;
    case MarkKind::kData:
      return MarkKind::kDataEnd;
    case MarkKind::kGenerate:
      return MarkKind::kGenerateEnd;
    case MarkKind::kSave:
      return MarkKind::kSaveEnd;
    case MarkKind::kLoad:
      return MarkKind::kLoadEnd;
    default:
      return std::nullopt;
  }
}

// Returns the outermost scopes. A scope without an end mark ends after the last mark.
std::vector<Scope> OutermostScopes(const Marks& marks) {
  std::vector<Scope> scopes;
  uint32_t depth = 0;  // how deep scopes of that kind are nested
  const auto count = static_cast<uint32_t>(marks.rows.size());
  for (uint32_t i = 0; i < count; ++i) {
    const Mark& mark = marks.rows[i];
    if (depth == 0) {
      if (!EndOf(mark.kind)) continue;
      // A forward pass without recorded gradients is an evaluation.
      scopes.push_back({.kind = mark.kind,
                        .begin = {i, false},
                        .end = {count, false},
                        .trains = mark.b != 0,
                        .in_training = mark.c != 0});
      depth = 1;
    } else if (mark.kind == scopes.back().kind) {
      ++depth;
    } else if (mark.kind == MarkKind::kOptimizer) {
      scopes.back().steps = true;
    } else if (mark.kind == MarkKind::kBackward) {
      scopes.back().closure = true;
    } else if (mark.kind == *EndOf(scopes.back().kind) && --depth == 0) {
      scopes.back().end = {i, true};
    }
  }
  return scopes;
}

Phase PhaseOf(const Scope& scope) {
  switch (scope.kind) {
    case MarkKind::kForward:
      return scope.trains ? Phase::kForward : Phase::kEval;
    case MarkKind::kBackward:
      return Phase::kBackward;
    case MarkKind::kOptimizer:
      return Phase::kOptimizer;
    case MarkKind::kZeroGrad:
      return Phase::kZeroGrad;
    case MarkKind::kGenerate:
      return Phase::kGeneration;
    case MarkKind::kSave:
      return Phase::kSave;
    case MarkKind::kLoad:
      return Phase::kLoad;
    default:
      return Phase::kData;
  }
}

bool OfCheckpoint(Phase phase) { return phase == Phase::kSave || phase == Phase::kLoad; }

// Whether phases of this kind are outside of training steps.
bool Apart(Phase phase) {
  return phase == Phase::kEval || phase == Phase::kGeneration || OfCheckpoint(phase);
}

// Returns the phase of the work between two scopes of one step.
Phase Between(Phase before, Phase after) {
  if (after == Phase::kData || after == Phase::kForward)
    return before == Phase::kForward && after == Phase::kForward ? Phase::kForward : Phase::kData;
  // Some programs set gradients to zero between the loss and its backward pass.
  if (before == Phase::kForward && (after == Phase::kBackward || after == Phase::kZeroGrad))
    return Phase::kLoss;
  if (before == Phase::kZeroGrad && after == Phase::kBackward) return Phase::kLoss;
  if ((before == Phase::kBackward || before == Phase::kOptimizer) && after == Phase::kOptimizer)
    return Phase::kOptimizer;
  return Phase::kNone;
}

class Finder {
 public:
  explicit Finder(const Marks& marks)
      : scopes_(OutermostScopes(marks)), end_{static_cast<uint32_t>(marks.rows.size()), false} {
    // Forward passes in evaluation mode without a backward pass after them are an evaluation, even
    // if the program records gradients.
    for (size_t i = scopes_.size(); i-- > 0;) {
      Scope& scope = scopes_[i];
      if (scope.kind == MarkKind::kBackward || scope.kind == MarkKind::kOptimizer ||
          scope.closure || scope.in_training)
        break;
      scope.trains = false;
    }
    for (const Scope& scope : scopes_) {
      if (PhaseOf(scope) == Phase::kForward) break;
      zero_first_ |= scope.kind == MarkKind::kZeroGrad;
    }
    // Batches belong to no step if they are fetched for an evaluation, or never used.
    trains_.assign(scopes_.size() + 1, false);
    for (size_t i = scopes_.size(); i-- > 0;) {
      const Phase phase = PhaseOf(scopes_[i]);
      const bool with_next =
          phase == Phase::kData || phase == Phase::kZeroGrad || OfCheckpoint(phase);
      trains_[i] = with_next ? trains_[i + 1] : !Apart(phase);
    }
  }

  Steps Find() {
    for (size_t i = 0; i < scopes_.size(); ++i) {
      const Scope& scope = scopes_[i];
      const Phase phase = PhaseOf(scope);
      if (open_ && Ends(i)) open_ = false;
      if (!open_ && trains_[i] && !Apart(phase)) Open(scope);
      if (open_ && !Apart(phase)) {
        Into(scope, phase);
      } else {
        Add(phase, scope.begin, scope.end);
        last_end_ = scope.end;
      }
    }
    for (StepSpan& step : out_.steps)
      if (step.micro_batches.size() < 2) step.micro_batches.clear();
    SetUp();
    return std::move(out_);
  }

 private:
  // The setup is everything before the first step, or before the first phase if there is no step.
  // Checkpoints that are read or written in this time are phases within the setup.
  void SetUp() {
    std::vector<PhaseSpan>& phases = out_.phases;
    Edge end = end_, at;
    if (!out_.steps.empty()) end = out_.steps.front().begin;
    size_t i = 0;
    const auto set_up_until = [&](Edge until) {
      if (!(at < until)) return;
      phases.insert(phases.begin() + static_cast<ptrdiff_t>(i), {Phase::kSetup, at, until});
      ++i;
    };
    for (; i < phases.size() && OfCheckpoint(phases[i].phase) && phases[i].begin < end; ++i) {
      set_up_until(phases[i].begin);
      at = phases[i].end;
    }
    if (i < phases.size()) end = std::min(end, phases[i].begin);
    set_up_until(end);
  }

  bool Ends(size_t i) const {
    if (!out_.steps.back().whole) return false;
    const Scope& scope = scopes_[i];
    if (scope.kind == MarkKind::kOptimizer) return scope.closure;
    return scope.kind != MarkKind::kZeroGrad || zero_first_;
  }

  void Open(const Scope& scope) {
    StepSpan step;
    step.number = static_cast<uint32_t>(out_.steps.size());
    // Work between two steps, or after a checkpoint, is the data phase of the next step.
    step.begin = scope.begin;
    if (!out_.steps.empty() && !out_.phases.empty()) {
      const PhaseSpan& before = out_.phases.back();
      if (!Apart(before.phase)) step.begin = out_.steps.back().end;
      if (before.phase == Phase::kSave) step.begin = before.end;
    }
    step.end = scope.end;
    out_.steps.push_back(step);
    last_ = {};
    forward_ = false;
    last_end_ = step.begin;
    open_ = true;
  }

  void Into(const Scope& scope, Phase phase) {
    StepSpan& step = out_.steps.back();
    if (last_end_ < scope.begin) {
      Phase gap = Between(last_, phase);
      if (last_ == Phase::kNone) gap = Phase::kData;
      // If the program calls no module, the work before the backward pass is the forward pass.
      if (phase == Phase::kBackward && !forward_ && last_ != Phase::kBackward &&
          last_ != Phase::kOptimizer) {
        gap = Phase::kForward;
      }
      Add(gap, last_end_, scope.begin);
    }
    MicroBatches(step, scope, phase);
    Add(phase, scope.begin, scope.end);
    step.end = last_end_ = scope.end;
    step.whole |= phase == Phase::kOptimizer || scope.steps;
    forward_ = phase == Phase::kForward || (forward_ && phase != Phase::kBackward);
    last_ = phase;
  }

  // A backward pass ends its micro-batch. The next one begins with its batch or forward pass.
  void MicroBatches(StepSpan& step, const Scope& scope, Phase phase) {
    if (phase != Phase::kData && phase != Phase::kForward && phase != Phase::kBackward) return;
    const bool next = step.micro_batches.empty() || (last_backward_ && phase != Phase::kBackward);
    if (next) {
      const Edge begin = step.micro_batches.empty() ? scope.begin : step.micro_batches.back().end;
      step.micro_batches.push_back(
          {static_cast<uint32_t>(step.micro_batches.size()), begin, scope.end});
    }
    step.micro_batches.back().end = scope.end;
    last_backward_ = phase == Phase::kBackward;
  }

  void Add(Phase phase, Edge begin, Edge end) {
    if (phase == Phase::kNone || end <= begin) return;
    // Consecutive calls that read or write a checkpoint are one phase.
    const auto follows = [&](const Edge& end) {
      return end == begin || (OfCheckpoint(phase) && begin.mark == end.mark + 1);
    };
    if (!out_.phases.empty() && out_.phases.back().phase == phase &&
        follows(out_.phases.back().end) &&
        (out_.steps.empty() || out_.steps.back().begin != begin)) {
      out_.phases.back().end = end;
      return;
    }
    out_.phases.push_back({phase, begin, end});
  }

  std::vector<Scope> scopes_;
  const Edge end_;  // after all marks
  std::vector<bool> trains_;
  bool zero_first_ = false;
  bool open_ = false;
  bool last_backward_ = false;
  bool forward_ = false;  // a module was called after the last backward pass of this step
  Phase last_ = Phase::kNone;
  Edge last_end_;
  Steps out_;
};

}  // namespace

Steps FindSteps(const Marks& marks) { return Finder(marks).Find(); }

}  // namespace vramscope::program
