#include "profiler/explain/finding_rules.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "profiler/analysis/site_names.h"
#include "profiler/base/i18n.h"
#include "profiler/run/units.h"
#include "profiler/trace/missing_gradients.h"

namespace vramscope::explain {
namespace {

using run::FormatBytes;
using trace::AllocationId;
using trace::Category;
using trace::EventIndex;
using trace::Phase;

// Smaller shares of the peak are not reported, because they do not justify a change of the program.
constexpr double kSmallShare = 0.02, kMediumShare = 0.05, kLargeShare = 0.10;
constexpr uint64_t kLeast = uint64_t{1} << 20;
// Fewer blocks than this are not a graph, but a loss or a result in a variable.
constexpr size_t kGraphBlocks = 8;

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
constexpr std::string_view kCheckpointFile = "torch/utils/checkpoint.py";
bool IsForward(Phase phase) { return phase == Phase::kForward || phase == Phase::kLoss; }
bool Stays(Category category) {
  switch (category) {
    case Category::kParameter:
    case Category::kBuffer:
    case Category::kGradient:
    case Category::kOptimizerState:
    case Category::kInput:
    case Category::kWorkspace:
    case Category::kCommunication:
    case Category::kKvCache:
      return true;
    default:
      return false;
  }
}

MaybeFinding OfBlocks(const FindingFacts& f, const Pile& pile, double share, std::string text) {
  if (pile.bytes < std::max(kLeast, f.OfPeak(share))) return std::nullopt;
  Finding finding{.bytes = pile.bytes, .text = std::move(text), .where = f.Where(pile)};
  finding.blocks = pile.blocks;
  return finding;
}

MaybeFinding OfBytes(const FindingFacts& f, uint64_t bytes, double share, std::string text) {
  if (bytes < std::max(kLeast, f.OfPeak(share))) return std::nullopt;
  return Finding{.bytes = bytes, .text = std::move(text)};
}

}  // namespace

// ---- Memory kept too long -----------------------------------------------------------------------

MaybeFinding Leaking(const FindingFacts& f) {
  const Leaks leaks = FindLeaks(f.trace, f.sites);
  if (!leaks.known || leaks.leaks.empty()) return std::nullopt;
  Pile pile;
  const trace::AllocationTable& a = f.trace.allocations;
  for (const LiveBlock& block : f.live)
    for (const Leak& leak : leaks.leaks)
      if (f.sites.site_of[block.id.value] == leak.site && a.step[block.id.value] >= 0)
        FindingFacts::Put(pile, block.id, block.bytes);
  return OfBlocks(
      f, pile, kSmallShare,
      i18n::Format(
          "every step allocates {} that are never freed. At the peak, these blocks take {}",
          FormatBytes(static_cast<uint64_t>(leaks.bytes_per_step)), FormatBytes(pile.bytes)));
}

static Pile FromBefore(const FindingFacts& f) {
  const LiveBlock now{.id = {},
                      .category = {},
                      .phase = {},
                      .step = f.peak.context.step,
                      .micro_batch = f.peak.context.micro_batch,
                      .bytes = 0};
  return f.Collect([&](const LiveBlock& block) {
    const bool earlier =
        block.step >= 0 &&
        (block.step < now.step || (block.step == now.step && block.micro_batch < now.micro_batch));
    return f.PeakInRecordedStep() && earlier && !Stays(block.category) &&
           (IsForward(block.phase) || block.phase == Phase::kBackward);
  });
}

MaybeFinding RetainedGraph(const FindingFacts& f) {
  Pile pile;
  const Pile before = FromBefore(f);
  for (const LiveBlock& block : f.live)
    if (block.category == Category::kActivation &&
        std::ranges::find(before.blocks, block.id) != before.blocks.end())
      FindingFacts::Put(pile, block.id, block.bytes);
  if (pile.count < kGraphBlocks) return std::nullopt;
  return OfBlocks(
      f, pile, kSmallShare,
      i18n::Format("{} in {} blocks belong to the autograd graph of an earlier step: a variable or "
                   "a list still holds the loss or the outputs of that step",
                   FormatBytes(pile.bytes), pile.count));
}

MaybeFinding HeldFromEarlierStep(const FindingFacts& f) {
  const Pile pile = FromBefore(f);
  return OfBlocks(
      f, pile, kSmallShare,
      i18n::Format("{} are results of an earlier step or micro-batch that a variable still holds",
                   FormatBytes(pile.bytes)));
}

MaybeFinding OutputsHeld(const FindingFacts& f) {
  const EventIndex end = f.EndOfBackward();
  if (end == trace::kNoEvent || !f.PeakInStep()) return std::nullopt;
  const trace::AllocationTable& a = f.trace.allocations;
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    // Excludes activations, because autograd keeps them alive even if no variable refers to them.
    return IsForward(block.phase) && block.step == f.peak.context.step &&
           block.category != Category::kActivation && !Stays(block.category) &&
           a.free_requested_event[block.id.value] > end;
  });
  return OfBlocks(f, pile, kSmallShare,
                  i18n::Format("{} are outputs of the forward pass: a variable keeps them alive "
                               "during backward, but autograd does not need them",
                               FormatBytes(pile.bytes)));
}

// Finds blocks of the first step that are live after the peak's step and after two further steps.
// By then, a block that each step replaces would have been freed.
MaybeFinding MadeInFirstStep(const FindingFacts& f) {
  if (f.steps.empty() || !f.PeakInRecordedStep()) return std::nullopt;
  const int32_t first = f.steps.front().index;
  const int32_t until = std::max(f.peak.context.step, first + 2);
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    return block.step == first && f.peak.context.step > first && !Stays(block.category) &&
           f.IsHeldAfter(block.id, until);
  });
  return OfBlocks(
      f, pile, kSmallShare,
      i18n::Format("{} of the memory at the peak were allocated in step {} and are still live",
                   FormatBytes(pile.bytes), first));
}

MaybeFinding OldGradients(const FindingFacts& f) {
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    return f.PeakInRecordedStep() && block.category == Category::kGradient && block.step >= 0 &&
           block.step < f.peak.context.step;
  });
  return OfBlocks(f, pile, kSmallShare,
                  i18n::Format("{} are gradients of an earlier step: they were set to zero instead "
                               "of freed, or freed too late",
                               FormatBytes(pile.bytes)));
}

MaybeFinding SecondWeights(const FindingFacts& f) {
  std::map<uint64_t, int64_t> of_size;
  uint64_t weights = 0, same = 0;
  for (const LiveBlock& block : f.live)
    if (block.category == Category::kParameter) ++of_size[block.bytes], weights += block.bytes;
  Pile pile = f.Collect([&](const LiveBlock& block) {
    return f.trains() && f.trace.allocations.alloc_event[block.id.value] < f.training_begin &&
           (block.category == Category::kUnknown || block.category == Category::kTemporary ||
            block.category == Category::kBuffer) &&
           --of_size[block.bytes] >= 0;
  });
  same = pile.bytes;
  if (same * 10 < weights * 8) return std::nullopt;
  return OfBlocks(
      f, pile, kSmallShare,
      i18n::Format("{} look like a second copy of the weights: their blocks have the same sizes",
                   FormatBytes(same)));
}

MaybeFinding HeldSinceSetup(const FindingFacts& f) {
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    return f.trains() && f.PeakInStep() &&
           f.trace.allocations.alloc_event[block.id.value] < f.training_begin &&
           !analysis::IsOlder(f.trace, block.id.value) &&
           (block.category == Category::kUnknown || block.category == Category::kTemporary ||
            block.category == Category::kActivation || f.IsPersistentTensor(block));
  });
  return OfBlocks(
      f, pile, kSmallShare,
      i18n::Format(
          "{} were allocated before the first step and are still live, but are not training state",
          FormatBytes(pile.bytes)));
}

MaybeFinding ResidentInputs(const FindingFacts& f) {
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    // The batch of a step may be allocated before the step begins and freed in the next step.
    const int32_t step = f.peak.context.step;
    return f.PeakInRecordedStep() && block.category == Category::kInput &&
           !analysis::IsOlder(f.trace, block.id.value) &&
           (block.step + 2 <= step || (block.step < step && f.IsHeldAfter(block.id, step + 1)));
  });
  return OfBlocks(f, pile, kSmallShare,
                  i18n::Format("{} are inputs of other steps: more than one batch is on the GPU",
                               FormatBytes(pile.bytes)));
}

// ---- Evaluation, loading ------------------------------------------------------------------------

MaybeFinding NoGradMissing(const FindingFacts& f) {
  // A recording, or a run that ran out of memory, may end before its backward pass. So the rule
  // requires two forward passes, or one forward pass in a complete plan.
  const auto passes = std::ranges::count_if(
      f.phases, [](const PhaseSpan& span) { return span.phase == Phase::kForward; });
  const bool whole = f.trace.info.backend == trace::Backend::kPlan && !f.RanOutOfMemory();
  if (f.HasPhase(Phase::kBackward) || passes == 0 || (passes < 2 && !whole)) return std::nullopt;
  const Pile pile = f.Collect([](const LiveBlock& block) {
    return block.category == Category::kActivation && IsForward(block.phase);
  });
  if (pile.count < kGraphBlocks) return std::nullopt;
  return OfBlocks(
      f, pile, kSmallShare,
      i18n::Format("{} of activations in {} blocks are kept for a backward pass that never runs",
                   FormatBytes(pile.bytes), pile.count));
}

MaybeFinding EvalKeepsGraph(const FindingFacts& f) {
  const auto& activations = f.curves.category[static_cast<size_t>(Category::kActivation)];
  uint64_t most = 0;
  EventIndex at = trace::kNoEvent;
  for (size_t i = 0; i < f.curves.size() && !activations.empty(); ++i) {
    if (activations[i] <= most || f.PhaseAt(f.curves.event[i]) != Phase::kEval) continue;
    most = activations[i];
    at = f.curves.event[i];
  }
  if (at == trace::kNoEvent) return std::nullopt;
  Pile pile;
  const trace::AllocationTable& a = f.trace.allocations;
  for (const analysis::LiveAllocation& one : analysis::LiveAt(f.trace, at).allocations)
    if (one.category == Category::kActivation && a.phase[one.id.value] == Phase::kEval)
      FindingFacts::Put(pile, one.id, a.bytes_rounded[one.id.value]);
  if (pile.count < kGraphBlocks) return std::nullopt;
  return OfBlocks(
      f, pile, kSmallShare,
      i18n::Format(
          "{} of activations are kept during evaluation for a backward pass that never runs",
          FormatBytes(pile.bytes)));
}

MaybeFinding EvalPeak(const FindingFacts& f) {
  if (!f.trains() || !f.HasPhase(Phase::kBackward) ||
      f.PhaseAt(f.peak.context.event) != Phase::kEval)
    return std::nullopt;
  const uint64_t training = f.MostAllocated([&](EventIndex event) {
    return event >= f.training_begin && f.PhaseAt(event) != Phase::kEval;
  });
  const uint64_t more = f.peak.allocated - std::min(training, f.peak.allocated);
  return OfBytes(
      f, more, kSmallShare,
      i18n::Format("the peak of evaluation is {}. This is {} more than the peak of training",
                   FormatBytes(f.peak.allocated), FormatBytes(more)));
}

MaybeFinding LoadPeak(const FindingFacts& f) {
  if (!f.trains() || f.PhaseAt(f.peak.context.event) == Phase::kEval) return std::nullopt;
  const bool before = f.peak.context.event < f.training_begin;
  if (!before && !f.PeakIn(Phase::kLoad)) return std::nullopt;
  const uint64_t training = f.MostAllocated([&](EventIndex event) {
    return event >= f.training_begin && f.PhaseAt(event) != Phase::kLoad;
  });
  const uint64_t more = f.peak.allocated - std::min(training, f.peak.allocated);
  return OfBytes(
      f, more, kSmallShare,
      i18n::Format("the peak of setup and loading is {}. This is {} more than the peak of training",
                   FormatBytes(f.peak.allocated), FormatBytes(more)));
}

// ---- Duplicates ---------------------------------------------------------------------------------

namespace {
static uint64_t BytesOfLogits(const FindingFacts& f) {
  uint64_t size = 0;
  for (const LiveBlock& block : f.live)
    if (Contains(f.Op(block.id), "log_softmax") ||
        f.HasFrame(block.id, "torch/nn/functional.py", "cross_entropy"))
      size = std::max(size, block.bytes);
  return size;
}
}  // namespace

MaybeFinding LogitsCopies(const FindingFacts& f) {
  const uint64_t size = BytesOfLogits(f);
  if (size == 0) return std::nullopt;
  const auto of_loss = [&](const LiveBlock& block) {
    return (block.bytes == size || block.bytes * 2 == size) && !Stays(block.category) &&
           block.step == f.peak.context.step &&
           (IsForward(block.phase) || block.phase == Phase::kBackward);
  };
  const Pile pile = f.Collect(of_loss);
  if (pile.count < 2) return std::nullopt;
  return OfBlocks(f, pile, kLargeShare,
                  i18n::Format("{} copies of the logits take {} in total, at most {} each",
                               pile.count, FormatBytes(pile.bytes), FormatBytes(size)));
}

static bool IsCast(std::string_view op) { return op == "aten::_to_copy" || op == "aten::to"; }

// Recognizes casts only by their operator, because the tensor that was cast may already be freed.
// Counts only casts that the program or a library calls. PyTorch's own functions call the casts of
// autocast. Another rule finds copies of the logits. Backward recomputes checkpointed modules; only
// the copies of one module are then live. They must have a larger share of the peak, which norms
// that compute in fp32 do not reach.
MaybeFinding DtypeCopies(const FindingFacts& f) {
  const uint64_t logits = BytesOfLogits(f);
  const auto is_recomputed = [&](const LiveBlock& block) {
    return block.phase == Phase::kBackward && f.HasFrame(block.id, kCheckpointFile);
  };
  std::map<std::string, uint64_t> makers;
  uint64_t recomputed = 0;
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    if (!IsCast(f.Op(block.id)) || Stays(block.category) || block.step != f.peak.context.step ||
        block.bytes == logits || block.bytes * 2 == logits ||
        (!IsForward(block.phase) && !is_recomputed(block)))
      return false;
    const std::string maker = f.CallerOf(block.id);
    if (maker.empty()) return false;
    makers[maker] += block.bytes;
    if (block.phase == Phase::kBackward) recomputed += block.bytes;
    return true;
  });
  if (makers.empty()) return std::nullopt;
  const auto most =
      std::ranges::max_element(makers, {}, [](const auto& one) { return one.second; });
  return OfBlocks(
      f, pile, recomputed * 2 > pile.bytes ? kLargeShare : kMediumShare,
      i18n::Format("{} are copies of tensors in another dtype; most of these copies are made in {}",
                   FormatBytes(pile.bytes), most->first));
}

// Finds blocks of half a parameter's size that a module allocated in a forward pass. If operators
// are not recorded, most weights must have such a block, because one block of the right size proves
// little.
MaybeFinding AutocastWeights(const FindingFacts& f) {
  std::map<uint64_t, int64_t> halves;
  uint64_t weights = 0;
  for (const LiveBlock& block : f.live)
    if (block.category == Category::kParameter) ++halves[block.bytes / 2], weights += block.bytes;
  bool casts = true;
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    const std::string_view op = f.Op(block.id);
    const bool is = (op.empty() || IsCast(op)) && IsForward(block.phase) &&
                    !f.Module(block.id).empty() && block.category != Category::kInput &&
                    --halves[block.bytes] >= 0;
    casts = casts && !(is && op.empty());
    return is;
  });
  if (!casts && pile.bytes * 2 * 10 < weights * 8) return std::nullopt;
  return OfBlocks(
      f, pile, kMediumShare,
      i18n::Format("{} are 16-bit copies of fp32 weights that autocast makes in every forward pass",
                   FormatBytes(pile.bytes)));
}

MaybeFinding GradientCopies(const FindingFacts& f) {
  std::map<uint64_t, int64_t> of_size;
  uint64_t gradients = 0;
  for (const LiveBlock& block : f.live)
    if (block.category == Category::kGradient) ++of_size[block.bytes], gradients += block.bytes;
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    return !Stays(block.category) && block.category != Category::kActivation &&
           (block.phase == Phase::kNone || block.phase == Phase::kOptimizer ||
            block.phase == Phase::kBackward) &&
           block.step >= 0 && --of_size[block.bytes] >= 0;
  });
  if (gradients == 0 || pile.bytes * 10 < gradients * 8) return std::nullopt;
  return OfBlocks(f, pile, kSmallShare,
                  i18n::Format("{} are a second copy of the gradients", FormatBytes(pile.bytes)));
}

// ---- Memory that a technique saves --------------------------------------------------------------

MaybeFinding OptimizerTemporaries(const FindingFacts& f) {
  if (!f.PeakIn(Phase::kOptimizer)) return std::nullopt;
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    // The optimizer phase includes code after backward and before the optimizer step (clipping,
    // copies).
    return block.phase == Phase::kOptimizer && !Stays(block.category) &&
           block.step == f.peak.context.step &&
           (!f.HasStack(block.id) || f.HasFrameIn(block.id, "/torch/optim/"));
  });
  return OfBlocks(f, pile, kSmallShare,
                  i18n::Format("{} are temporaries of the optimizer step, in which the peak occurs",
                               FormatBytes(pile.bytes)));
}

MaybeFinding AttentionScores(const FindingFacts& f) {
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    const std::string_view op = f.Op(block.id), module = f.Module(block.id);
    const bool softmax = op.empty() ? f.HasFrame(block.id, "torch/nn/functional.py", "softmax")
                                    : Contains(op, "softmax") && !Contains(op, "log_softmax");
    return softmax && IsForward(block.phase) && block.category == Category::kActivation &&
           (Contains(module, "att") || Contains(module, "Att"));
  });
  return OfBlocks(
      f, pile, kMediumShare,
      i18n::Format("{} are attention scores (tokens x tokens) that are kept for backward",
                   FormatBytes(pile.bytes)));
}

MaybeFinding KvCacheInTraining(const FindingFacts& f) {
  if (!f.PeakInStep() || f.PeakIn(Phase::kEval) || f.PeakIn(Phase::kGeneration))
    return std::nullopt;
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    return block.step == f.peak.context.step && IsForward(block.phase) &&
           (block.category == Category::kKvCache ||
            f.HasFrame(block.id, "transformers/cache_utils.py"));
  });
  return OfBlocks(
      f, pile, kSmallShare,
      i18n::Format("{} are cached keys and values, which training does not need (use_cache)",
                   FormatBytes(pile.bytes)));
}

MaybeFinding CheckpointingWithoutEffect(const FindingFacts& f) {
  const trace::AllocationTable& a = f.trace.allocations;
  Pile pile;
  std::map<uint32_t, bool> known;
  int32_t step = INT32_MIN;
  for (uint32_t row = 0; row < a.size(); ++row) {
    const trace::StackId stack = f.trace.events.StackOf(a.alloc_event[row]);
    const auto [it, fresh] = known.try_emplace(stack.value, false);
    if (fresh) it->second = f.HasFrame({row}, kCheckpointFile);
    if (!it->second) continue;
    // An allocation with such a stack is part of a recomputation, so checkpointing works.
    if (a.phase[row] == Phase::kBackward || f.HasFrame({row}, kCheckpointFile, "backward") ||
        f.HasFrame({row}, kCheckpointFile, "unpack_hook"))
      return std::nullopt;
    if (!IsForward(a.phase[row]) || a.step[row] < 0) continue;
    if (step == INT32_MIN) step = a.step[row];
    if (a.step[row] == step) FindingFacts::Put(pile, {row}, a.bytes_rounded[row]);
  }
  if (!f.HasPhase(Phase::kBackward)) return std::nullopt;
  return OfBlocks(
      f, pile, 0,
      i18n::Format("checkpointing is on, but nothing is recomputed. No input of the checkpointed "
                   "modules requires a gradient, so the weights of these modules get no gradients. "
                   "In one step, code inside torch.utils.checkpoint allocates {}",
                   FormatBytes(pile.bytes)));
}

MaybeFinding FrozenInThirtyTwoBits(const FindingFacts& f) {
  const trace::ModelSummary& model = f.trace.info.model;
  if (!f.trains() || model.trainable_count == 0 ||
      model.trainable_count * 5 > model.parameter_count ||
      static_cast<double>(model.parameter_bytes) < 3.5 * static_cast<double>(model.parameter_count))
    return std::nullopt;
  const uint64_t frozen = model.parameter_bytes / model.parameter_count *
                          (model.parameter_count - model.trainable_count);
  return OfBytes(f, frozen / 2, kSmallShare,
                 i18n::Format("{} of frozen weights are stored in 32 bits; in 16 bits, these "
                              "weights would need half as much",
                              FormatBytes(frozen)));
}

MaybeFinding NoGradient(const FindingFacts& f) {
  uint64_t without = 0, of = 0, bytes = 0;
  for (const trace::Marker& marker : f.trace.markers)
    if (trace::ParseMissingGradients(f.trace.String(marker.name), without, of))
      bytes = f.trace.events.bytes[marker.event];
  if (without * 10 < of || without == 0) return std::nullopt;
  return OfBytes(f, bytes, 0,
                 i18n::Format("{} of {} trainable parameters got no gradient, so the optimizer "
                              "never changes {} of weights",
                              without, of, FormatBytes(bytes)));
}

MaybeFinding LargeBuffers(const FindingFacts& f) {
  const Pile pile =
      f.Collect([&](const LiveBlock& block) { return block.category == Category::kBuffer; });
  return OfBlocks(f, pile, kMediumShare,
                  i18n::Format("{} are buffers of modules (masks, tables, statistics)",
                               FormatBytes(pile.bytes)));
}

MaybeFinding Workspaces(const FindingFacts& f) {
  const Pile pile =
      f.Collect([&](const LiveBlock& block) { return block.category == Category::kWorkspace; });
  if (pile.bytes < uint64_t{64} << 20) return std::nullopt;
  return OfBlocks(
      f, pile, kMediumShare,
      i18n::Format("{} are cuBLAS workspaces, one for each handle and stream (blocks: {})",
                   FormatBytes(pile.bytes), pile.count));
}

MaybeFinding UnevenSteps(const FindingFacts& f) {
  constexpr size_t kFewest = 4;
  if (f.steps.size() < kFewest + 1 || !f.PeakInRecordedStep()) return std::nullopt;
  std::vector<uint64_t> peaks;
  uint64_t most = 0;
  int32_t at = 0;
  for (size_t i = 1; i < f.steps.size(); ++i) {
    peaks.push_back(f.steps[i].peak_allocated);
    if (peaks.back() > most) most = peaks.back(), at = f.steps[i].index;
  }
  std::ranges::nth_element(peaks, peaks.begin() + static_cast<std::ptrdiff_t>(peaks.size() / 2));
  const uint64_t usual = peaks[peaks.size() / 2];
  // If the peak is outside of forward and backward, as in evaluation or saving, the batch is not
  // its cause.
  if (f.peak.context.step != at ||
      !(f.PeakIn(Phase::kForward) || f.PeakIn(Phase::kLoss) || f.PeakIn(Phase::kBackward)))
    return std::nullopt;
  return OfBytes(
      f, most - usual, kLargeShare,
      i18n::Format("step {} needs {} more than the median step, because its batch is larger", at,
                   FormatBytes(most - usual)));
}

// ---- The allocator ------------------------------------------------------------------------------

MaybeFinding OtherStreams(const FindingFacts& f) {
  return OfBytes(
      f, f.fragmentation.pending, kSmallShare,
      i18n::Format("{} were freed but are still in use by another stream (record_stream)",
                   FormatBytes(f.fragmentation.pending)));
}

}  // namespace vramscope::explain
