// One table of rules, each a function over the facts of a run (finding_facts.h). A rule says
// something or nothing; what an earlier one has claimed, a later one leaves alone.
#include "profiler/explain/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "profiler/analysis/site_names.h"
#include "profiler/explain/finding_facts.h"
#include "profiler/run/units.h"

namespace vramscope::explain {
namespace {

using run::Counted;
using run::FormatBytes;
using trace::AllocationId;
using trace::Category;
using trace::EventIndex;
using trace::Phase;

using Said = std::optional<Finding>;

// Shares of the peak below which nothing is said. A finding has to be worth a change.
constexpr double kWorth = 0.02, kWorthMore = 0.05, kWorthMuch = 0.10;
constexpr uint64_t kLeast = uint64_t{1} << 20;
constexpr size_t kGraphBlocks = 8;  // a loss or a result that a variable holds is no graph

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
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

Said Say(const FindingFacts& f, const Pile& pile, double share, std::string text) {
  if (pile.bytes < std::max(kLeast, f.OfPeak(share))) return std::nullopt;
  Finding finding{.bytes = pile.bytes, .text = std::move(text), .where = f.Where(pile)};
  finding.blocks = pile.blocks;
  return finding;
}
Said SayBytes(const FindingFacts& f, uint64_t bytes, double share, std::string text) {
  if (bytes < std::max(kLeast, f.OfPeak(share))) return std::nullopt;
  return Finding{.bytes = bytes, .text = std::move(text)};
}
std::string At(const FindingFacts& f, const Pile& pile) {
  const std::string where = f.Where(pile);
  return where.empty() ? "" : " at " + where;
}

// ---- What is held too long ----------------------------------------------------------------------

Said Leaking(const FindingFacts& f) {
  const Leaks leaks = FindLeaks(f.trace, f.sites);
  if (!leaks.known || leaks.leaks.empty()) return std::nullopt;
  Pile pile;
  const trace::AllocationTable& a = f.trace.allocations;
  for (const LiveBlock& block : f.live)
    for (const Leak& leak : leaks.leaks)
      if (f.sites.site_of[block.id.value] == leak.site && a.step[block.id.value] >= 0)
        FindingFacts::Put(pile, block.id, block.bytes);
  return Say(f, pile, kWorth,
             fmt::format("{} a step stay for good, {} at the peak",
                         FormatBytes(static_cast<uint64_t>(leaks.bytes_per_step)),
                         FormatBytes(pile.bytes)));
}

Pile FromBefore(const FindingFacts& f) {
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

Said RetainedGraph(const FindingFacts& f) {
  Pile pile;
  const Pile before = FromBefore(f);
  for (const LiveBlock& block : f.live)
    if (block.category == Category::kActivation &&
        std::ranges::find(before.blocks, block.id) != before.blocks.end())
      FindingFacts::Put(pile, block.id, block.bytes);
  if (pile.count < kGraphBlocks) return std::nullopt;
  return Say(f, pile, kWorth,
             fmt::format("{} in {} are an earlier step's graph: a name or a list holds its loss or "
                         "its outputs",
                         FormatBytes(pile.bytes), Counted(pile.count, "block", "blocks")));
}

Said KeptFromBefore(const FindingFacts& f) {
  const Pile pile = FromBefore(f);
  return Say(f, pile, kWorth,
             fmt::format("{} are left over from an earlier step or micro-batch: a name keeps what "
                         "was made{}",
                         FormatBytes(pile.bytes), At(f, pile)));
}

Said OutputsHeld(const FindingFacts& f) {
  const EventIndex end = f.EndOfBackward();
  if (end == trace::kNoEvent || !f.PeakInStep()) return std::nullopt;
  const trace::AllocationTable& a = f.trace.allocations;
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    // What autograd still needs is there whoever holds it.
    return IsForward(block.phase) && block.step == f.peak.context.step &&
           block.category != Category::kActivation && !Stays(block.category) &&
           a.free_requested_event[block.id.value] > end;
  });
  return Say(f, pile, kWorth,
             fmt::format("{} of the forward pass's results are kept through backward by a name: "
                         "made{}",
                         FormatBytes(pile.bytes), At(f, pile)));
}

Said OldGradients(const FindingFacts& f) {
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    return f.PeakInRecordedStep() && block.category == Category::kGradient && block.step >= 0 &&
           block.step < f.peak.context.step;
  });
  return Say(f, pile, kWorth,
             fmt::format("{} are gradients of an earlier step: they were filled with zeros, or "
                         "are freed too late",
                         FormatBytes(pile.bytes)));
}

Said SecondWeights(const FindingFacts& f) {
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
  return Say(f, pile, kWorth,
             fmt::format("{} are a second copy of the weights, block by block, made{}",
                         FormatBytes(same), At(f, pile)));
}

Said HeldSinceSetup(const FindingFacts& f) {
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    return f.trains() && f.PeakInStep() &&
           f.trace.allocations.alloc_event[block.id.value] < f.training_begin &&
           !analysis::IsOlder(f.trace, block.id.value) &&
           (block.category == Category::kUnknown || block.category == Category::kTemporary ||
            block.category == Category::kActivation || f.IsKeptTensor(block));
  });
  return Say(f, pile, kWorth,
             fmt::format("{} were made before the first step, are no weights and are still held: "
                         "made{}",
                         FormatBytes(pile.bytes), At(f, pile)));
}

Said ResidentInputs(const FindingFacts& f) {
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    // The batch of a step may be made before the step begins and freed in the next one.
    const int32_t step = f.peak.context.step;
    return f.PeakInRecordedStep() && block.category == Category::kInput &&
           !analysis::IsOlder(f.trace, block.id.value) &&
           (block.step + 2 <= step || (block.step < step && f.IsHeldAfter(block.id, step + 1)));
  });
  return Say(f, pile, kWorth,
             fmt::format("{} are inputs of other steps: more than a batch lies on the GPU, put "
                         "there{}",
                         FormatBytes(pile.bytes), At(f, pile)));
}

// ---- Evaluation, generation, loading, saving ----------------------------------------------------

Said NoGradMissing(const FindingFacts& f) {
  // A recording, or a run that ran out of memory, may end before its backward pass. A plan is
  // whole.
  const auto passes = std::ranges::count_if(
      f.phases, [](const PhaseSpan& span) { return span.phase == Phase::kForward; });
  const bool whole = f.trace.info.backend == trace::Backend::kPlan && !f.RanOutOfMemory();
  if (f.HasPhase(Phase::kBackward) || passes == 0 || (passes < 2 && !whole)) return std::nullopt;
  const Pile pile = f.Collect([](const LiveBlock& block) {
    return block.category == Category::kActivation && IsForward(block.phase);
  });
  if (pile.count < kGraphBlocks) return std::nullopt;
  return Say(f, pile, kWorth,
             fmt::format("{} in {} are kept for a backward pass that never comes",
                         FormatBytes(pile.bytes), Counted(pile.count, "block", "blocks")));
}

Said EvalKeepsGraph(const FindingFacts& f) {
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
  return Say(f, pile, kWorth,
             fmt::format("{} are kept for a backward pass that never comes, in evaluation",
                         FormatBytes(pile.bytes)));
}

Said MoreThanTraining(const FindingFacts& f, std::initializer_list<Phase> phases,
                      std::string_view what) {
  const auto of = [&](Phase phase) { return std::ranges::find(phases, phase) != phases.end(); };
  if (!f.trains() || !f.HasPhase(Phase::kBackward) || !of(f.PhaseAt(f.peak.context.event)))
    return std::nullopt;
  const uint64_t training = f.MostAllocated(
      [&](EventIndex event) { return event >= f.training_begin && !of(f.PhaseAt(event)); });
  return SayBytes(
      f, f.peak.allocated - std::min(training, f.peak.allocated), kWorth,
      fmt::format("{} needs {} more than training, {}", what,
                  FormatBytes(f.peak.allocated - training), FormatBytes(f.peak.allocated)));
}
Said EvalPeak(const FindingFacts& f) { return MoreThanTraining(f, {Phase::kEval}, "evaluation"); }
Said GenerationPeak(const FindingFacts& f) {
  return MoreThanTraining(f, {Phase::kGeneration}, "generation");
}
Said SavePeak(const FindingFacts& f) {
  return MoreThanTraining(f, {Phase::kSave}, "saving a checkpoint");
}

Said LoadPeak(const FindingFacts& f) {
  if (!f.trains() || f.PhaseAt(f.peak.context.event) == Phase::kEval) return std::nullopt;
  const bool before = f.peak.context.event < f.training_begin;
  if (!before && !f.PeakIn(Phase::kLoad)) return std::nullopt;
  const uint64_t training = f.MostAllocated([&](EventIndex event) {
    return event >= f.training_begin && f.PhaseAt(event) != Phase::kLoad;
  });
  const uint64_t more = f.peak.allocated - std::min(training, f.peak.allocated);
  return SayBytes(f, more, kWorth,
                  fmt::format("setting up and loading need {} more than training, {}",
                              FormatBytes(more), FormatBytes(f.peak.allocated)));
}

// ---- What is made twice -------------------------------------------------------------------------

Said LogitsCopies(const FindingFacts& f) {
  uint64_t size = 0;
  for (const LiveBlock& block : f.live)
    if (Contains(f.Op(block.id), "log_softmax") ||
        f.HasFrame(block.id, "torch/nn/functional.py", "cross_entropy"))
      size = std::max(size, block.bytes);
  if (size == 0) return std::nullopt;
  const auto of_loss = [&](const LiveBlock& block) {
    return (block.bytes == size || block.bytes * 2 == size) && !Stays(block.category) &&
           block.step == f.peak.context.step &&
           (IsForward(block.phase) || block.phase == Phase::kBackward);
  };
  const Pile pile = f.Collect(of_loss);
  if (pile.count < 2) return std::nullopt;
  return Say(f, pile, kWorthMuch,
             fmt::format("logits: {} copies, {}, of {} each at most", pile.count,
                         FormatBytes(pile.bytes), FormatBytes(size)));
}

bool IsCast(std::string_view op) { return op == "aten::_to_copy" || op == "aten::to"; }

// Half the size of a parameter, made in a forward pass and shared by all of it. Where operators are
// not recorded, half the size alone is no proof: most of the weights have to have such a block.
Said AutocastWeights(const FindingFacts& f) {
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
  return Say(f, pile, kWorthMore,
             fmt::format("{} are 16-bit copies of weights in 32 bits, which autocast makes anew in "
                         "every forward pass",
                         FormatBytes(pile.bytes)));
}

Said Casts(const FindingFacts& f) {
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    return IsCast(f.Op(block.id)) && IsForward(block.phase) && !Stays(block.category) &&
           f.PeakInStep();
  });
  return Say(f, pile, kWorthMore,
             fmt::format("{} are copies of tensors in another type{}, made{}",
                         FormatBytes(pile.bytes), f.Library(pile), At(f, pile)));
}

Said LayoutCopies(const FindingFacts& f) {
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    const std::string_view op = f.Op(block.id);
    return (op == "aten::clone" || op == "aten::contiguous") && IsForward(block.phase) &&
           block.category == Category::kActivation;
  });
  return Say(f, pile, kWorthMore,
             fmt::format("{} of activations are copies that clone() or contiguous() made{}",
                         FormatBytes(pile.bytes), At(f, pile)));
}

Said GradientCopies(const FindingFacts& f) {
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
  return Say(
      f, pile, kWorth,
      fmt::format("{} are a copy of the gradients, made{}", FormatBytes(pile.bytes), At(f, pile)));
}

Said Buckets(const FindingFacts& f) {
  uint64_t gradients = 0;
  for (const LiveBlock& block : f.live)
    if (block.category == Category::kGradient) gradients += block.bytes;
  const Pile pile =
      f.Collect([&](const LiveBlock& block) { return block.category == Category::kCommunication; });
  if (gradients == 0 || pile.bytes * 10 < gradients * 8 || pile.bytes * 10 > gradients * 13)
    return std::nullopt;
  return Say(f, pile, kWorth,
             fmt::format("{} are buckets with a second copy of the gradients, for the other ranks",
                         FormatBytes(pile.bytes)));
}

// ---- What a technique would not need ------------------------------------------------------------

Said OptimizerTemporaries(const FindingFacts& f) {
  if (!f.PeakIn(Phase::kOptimizer)) return std::nullopt;
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    // What runs between backward and the step has that phase as well: clipping, copies.
    return block.phase == Phase::kOptimizer && !Stays(block.category) &&
           block.step == f.peak.context.step &&
           (!f.HasStack(block.id) || f.HasFrameIn(block.id, "/torch/optim/"));
  });
  return Say(f, pile, kWorth,
             fmt::format("{} are temporaries of the optimizer's step, which is the peak",
                         FormatBytes(pile.bytes)));
}

Said AttentionScores(const FindingFacts& f) {
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    const std::string_view op = f.Op(block.id), module = f.Module(block.id);
    const bool softmax = op.empty() ? f.HasFrame(block.id, "torch/nn/functional.py", "softmax")
                                    : Contains(op, "softmax") && !Contains(op, "log_softmax");
    return softmax && IsForward(block.phase) && block.category == Category::kActivation &&
           (Contains(module, "att") || Contains(module, "Att"));
  });
  return Say(f, pile, kWorthMore,
             fmt::format("{} are attention scores, of every token for every other, kept for "
                         "backward",
                         FormatBytes(pile.bytes)));
}

Said KvCacheInTraining(const FindingFacts& f) {
  if (!f.PeakInStep() || f.PeakIn(Phase::kEval) || f.PeakIn(Phase::kGeneration))
    return std::nullopt;
  const Pile pile = f.Collect([&](const LiveBlock& block) {
    return block.step == f.peak.context.step && IsForward(block.phase) &&
           (block.category == Category::kKvCache ||
            f.HasFrame(block.id, "transformers/cache_utils.py"));
  });
  return Say(f, pile, kWorth,
             fmt::format("{} are keys and values that use_cache keeps in training",
                         FormatBytes(pile.bytes)));
}

Said CheckpointingWithoutEffect(const FindingFacts& f) {
  constexpr std::string_view kFile = "torch/utils/checkpoint.py";
  const trace::AllocationTable& a = f.trace.allocations;
  Pile pile;
  std::map<uint32_t, bool> known;
  int32_t step = INT32_MIN;
  for (uint32_t row = 0; row < a.size(); ++row) {
    const trace::StackId stack = f.trace.events.StackOf(a.alloc_event[row]);
    const auto [it, fresh] = known.try_emplace(stack.value, false);
    if (fresh) it->second = f.HasFrame({row}, kFile);
    if (!it->second) continue;
    // Somebody recomputes: it has an effect.
    if (a.phase[row] == Phase::kBackward || f.HasFrame({row}, kFile, "backward") ||
        f.HasFrame({row}, kFile, "unpack_hook"))
      return std::nullopt;
    if (!IsForward(a.phase[row]) || a.step[row] < 0) continue;
    if (step == INT32_MIN) step = a.step[row];
    if (a.step[row] == step) FindingFacts::Put(pile, {row}, a.bytes_rounded[row]);
  }
  if (!f.HasPhase(Phase::kBackward)) return std::nullopt;
  return Say(f, pile, 0,
             fmt::format("checkpointing is on and nothing is recomputed: no input of what it wraps "
                         "requires a gradient, and its weights ({} made in a step) get none",
                         FormatBytes(pile.bytes)));
}

Said FrozenInThirtyTwoBits(const FindingFacts& f) {
  const trace::ModelSummary& model = f.trace.info.model;
  if (!f.trains() || model.trainable_count == 0 ||
      model.trainable_count * 5 > model.parameter_count ||
      static_cast<double>(model.parameter_bytes) < 3.5 * static_cast<double>(model.parameter_count))
    return std::nullopt;
  const uint64_t frozen = model.parameter_bytes / model.parameter_count *
                          (model.parameter_count - model.trainable_count);
  return SayBytes(f, frozen / 2, kWorth,
                  fmt::format("{} of frozen weights are in 32 bits: in 16 they take half",
                              FormatBytes(frozen)));
}

Said LargeBuffers(const FindingFacts& f) {
  const Pile pile =
      f.Collect([&](const LiveBlock& block) { return block.category == Category::kBuffer; });
  return Say(f, pile, kWorthMore,
             fmt::format("{} are buffers of modules (masks, tables, statistics)",
                         FormatBytes(pile.bytes)));
}

Said Workspaces(const FindingFacts& f) {
  const Pile pile =
      f.Collect([&](const LiveBlock& block) { return block.category == Category::kWorkspace; });
  if (pile.bytes < uint64_t{64} << 20) return std::nullopt;
  return Say(f, pile, kWorthMore,
             fmt::format("{} are workspaces of cuBLAS, {}: one for every handle and stream",
                         FormatBytes(pile.bytes), Counted(pile.count, "block", "blocks")));
}

Said FirstStep(const FindingFacts& f) {
  if (f.steps.size() < 2 || f.peak.context.step != f.steps.front().index) return std::nullopt;
  uint64_t later = 0;
  for (size_t i = 1; i < f.steps.size(); ++i) later = std::max(later, f.steps[i].peak_allocated);
  const uint64_t first = f.steps.front().peak_allocated;
  return SayBytes(f, first - std::min(first, later), kWorth,
                  fmt::format("the first step needs {} more than every later one{}",
                              FormatBytes(first - std::min(first, later)),
                              f.peak.context.op.empty() ? "" : ", in " + f.peak.context.op));
}

Said UnevenSteps(const FindingFacts& f) {
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
  // A step that evaluates or saves as well is another matter.
  if (f.peak.context.step != at ||
      !(f.PeakIn(Phase::kForward) || f.PeakIn(Phase::kLoss) || f.PeakIn(Phase::kBackward)))
    return std::nullopt;
  return SayBytes(f, most - usual, kWorthMuch,
                  fmt::format("step {} needs {} more than a usual one: its batch is larger", at,
                              FormatBytes(most - usual)));
}

// ---- The allocator ------------------------------------------------------------------------------

Said Holes(const FindingFacts& f) {
  const Fragmentation& g = f.fragmentation;
  if (g.reserved == 0 || g.holes * 100 < g.reserved * 15) return std::nullopt;
  return SayBytes(f, g.holes, kWorthMuch,
                  fmt::format("{} of {} reserved are holes between blocks that are in use",
                              FormatBytes(g.holes), FormatBytes(g.reserved)));
}
Said Cached(const FindingFacts& f) {
  const Fragmentation& g = f.fragmentation;
  if (g.reserved == 0 || g.cached * 100 < g.reserved * 15) return std::nullopt;
  return SayBytes(f, g.cached, kWorthMuch,
                  fmt::format("{} of {} reserved are cached and of no use when most is reserved",
                              FormatBytes(g.cached), FormatBytes(g.reserved)));
}
Said Rounding(const FindingFacts& f) {
  return SayBytes(
      f, f.fragmentation.sizes_are_of_blocks ? 0 : f.fragmentation.rounding, kWorthMore,
      fmt::format("{} are lost to the rounding of sizes", FormatBytes(f.fragmentation.rounding)));
}
Said Tails(const FindingFacts& f) {
  return SayBytes(f, f.fragmentation.sizes_are_of_blocks ? 0 : f.fragmentation.tails, kWorthMuch,
                  fmt::format("{} are rests of blocks that were not split off",
                              FormatBytes(f.fragmentation.tails)));
}
Said OtherStreams(const FindingFacts& f) {
  return SayBytes(f, f.fragmentation.pending, kWorth,
                  fmt::format("{} were freed and wait for another stream (record_stream)",
                              FormatBytes(f.fragmentation.pending)));
}
Said PrivatePools(const FindingFacts& f) {
  uint64_t idle = 0;
  for (const Fragmentation::PoolUse& pool : f.fragmentation.pools)
    if (pool.mempool != 0) idle += pool.cached + pool.holes;
  return SayBytes(f, idle, kWorthMore,
                  fmt::format("{} are reserved by private pools (CUDA graphs) and not in use",
                              FormatBytes(idle)));
}

struct Row {
  FindingRule rule;
  Said (*say)(const FindingFacts&);
  bool claims = true;  // its blocks are nobody else's
};

// Rules that explain more come first: what they claim, later ones leave alone.
constexpr Row kRows[] = {
    {{"leak",
      "a call site's blocks of one step stay into the steps after it (three steps at least)",
      "keep numbers, not tensors: losses.append(loss.item()), and detach() what is kept", ""},
     Leaking},
    {{"retained-graph", "at the peak, eight or more activations of an earlier step or micro-batch",
      "del loss, outputs behind backward(), no retain_graph=True, detach() what is kept", ""},
     RetainedGraph},
    {{"kept-from-before",
      "at the peak, results of an earlier step's or micro-batch's forward or backward pass",
      "del outputs, loss at the end of the loop's body: a name is assigned anew only behind the "
      "next forward pass",
      ""},
     KeptFromBefore},
    {{"kv-cache", "at the peak of a training step, keys and values of a cache of this step",
      "model.config.use_cache = False", "no-use-cache"},
     KvCacheInTraining},
    {{"old-gradients", "at the peak, gradients that an earlier step made",
      "optimizer.zero_grad(set_to_none=True) before the forward pass", "zero-grad-to-none"},
     OldGradients},
    {{"outputs-held",
      "at the peak, results of the forward pass that autograd does not need and that outlive "
      "backward",
      "del outputs, logits before loss.backward()", ""},
     OutputsHeld,
     false},
    {{"second-weights",
      "blocks from before the first step that have the sizes of four fifths of the weights",
      "load checkpoints with map_location=\"cpu\" and del them; keep averages on the CPU", ""},
     SecondWeights},
    {{"held-since-setup", "blocks from before the first step that are no state of the training",
      "del what was needed to set up, or keep it on the CPU", ""},
     HeldSinceSetup},
    {{"resident-inputs", "at the peak, inputs that were made before this step",
      "move each batch to the GPU in the loop, not the data set", ""},
     ResidentInputs},
    {{"no-grad", "activations of a forward pass, and no backward pass at all",
      "with torch.no_grad(): or torch.inference_mode() around it", "eval-no-grad"},
     NoGradMissing,
     false},
    {{"eval-graph", "an evaluation whose activations are kept for backward",
      "with torch.no_grad(): around the evaluation", "eval-no-grad"},
     EvalKeepsGraph,
     false},
    {{"eval-peak", "the peak is in an evaluation, and above that of training",
      "per_device_eval_batch_size, eval_accumulation_steps=1, or a smaller batch there",
      "eval-batch"},
     EvalPeak,
     false},
    {{"generation-peak", "the peak is in generation, and above that of training",
      "fewer sequences at once, or max_new_tokens", ""},
     GenerationPeak,
     false},
    {{"save-peak", "the peak is where a checkpoint is written, and above that of training",
      "save {k: v.cpu() for k, v in model.state_dict().items()}", ""},
     SavePeak,
     false},
    {{"load-peak", "the peak is before the first step or where a checkpoint is read",
      "map_location=\"cpu\", load_state_dict(assign=True), or the dtype at from_pretrained", ""},
     LoadPeak,
     false},
    {{"logits-copies", "at the peak, two or more tensors of the size of log_softmax's result",
      "a loss in parts: a fused linear cross entropy, or chunks of tokens", "liger"},
     LogitsCopies},
    {{"autocast-weights", "at the peak, casts of half the size of weights, one for each",
      "torch_dtype=torch.bfloat16 at from_pretrained, or model.to(torch.bfloat16)", "weights"},
     AutocastWeights},
    {{"casts", "at the peak, other results of casts of a forward pass",
      "keep one dtype from layer to layer (the function that casts is named)", ""},
     Casts},
    {{"optimizer-temporaries", "the peak is in the optimizer's step, with temporaries of its own",
      "fused=True or foreach=False at the optimizer", "optimizer-impl"},
     OptimizerTemporaries},
    {{"ddp-buckets", "communication buffers of about the size of the gradients",
      "DistributedDataParallel(model, gradient_as_bucket_view=True)", ""},
     Buckets},
    {{"gradient-copies", "at the peak, temporaries of the sizes of four fifths of the gradients",
      "work on gradients in place: torch.nn.utils.clip_grad_norm_(foreach=False)", ""},
     GradientCopies},
    {{"attention-scores", "at the peak, results of softmax in attention modules",
      "F.scaled_dot_product_attention, or attn_implementation=\"sdpa\"", "attention"},
     AttentionScores},
    {{"layout-copies", "at the peak, activations that clone() or contiguous() made",
      "reshape() and views in place of contiguous(), where the next operator takes strides", ""},
     LayoutCopies},
    {{"checkpointing-without-effect",
      "allocations within torch.utils.checkpoint, and no recomputation",
      "use_reentrant=False, or model.enable_input_require_grads()", ""},
     CheckpointingWithoutEffect,
     false},
    {{"frozen-32-bits", "less than a fifth of the weights trains, and they take 4 bytes each",
      "torch_dtype=torch.bfloat16 at from_pretrained", "weights"},
     FrozenInThirtyTwoBits,
     false},
    {{"large-buffers", "buffers are a twentieth of the peak",
      "register_buffer of what is small, and make masks where they are needed", ""},
     LargeBuffers},
    {{"workspaces", "workspaces of cuBLAS are a twentieth of the peak and 64 MiB at least",
      "CUBLAS_WORKSPACE_CONFIG=:4096:2, and fewer streams", ""},
     Workspaces},
    {{"first-step", "the first step's peak is above that of every later one",
      "torch.backends.cudnn.benchmark = False, or a first step with a smaller batch", ""},
     FirstStep,
     false},
    {{"uneven-steps", "of five steps or more, one's peak is a tenth above the usual one's",
      "group_by_length=True, a smaller max_length, or the longest batch first", ""},
     UnevenSteps,
     false},
    {{"holes", "where most is reserved, 15 % of it lies free beside blocks that are in use",
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "expandable-segments"},
     Holes,
     false},
    {{"cached", "where most is reserved, 15 % of it is in segments that are wholly free",
      "torch.cuda.empty_cache() between the parts of the program", "empty-cache"},
     Cached,
     false},
    {{"rounding", "rounding takes a twentieth of the peak",
      "one larger tensor in place of many small ones; no roundup_power2_divisions", ""},
     Rounding,
     false},
    {{"tails", "unsplit rests of blocks take a tenth of the peak",
      "no max_split_size_mb, or a larger one", ""},
     Tails,
     false},
    {{"other-streams", "blocks that are freed and wait for another stream",
      "no record_stream: wait for the stream before the tensor goes", ""},
     OtherStreams,
     false},
    {{"private-pools", "reserved in private pools and not in use",
      "one pool for all graphs: torch.cuda.graph(pool=...)", ""},
     PrivatePools,
     false},
};

}  // namespace

std::span<const FindingRule> FindingRules() {
  static const std::vector<FindingRule> rules = [] {
    std::vector<FindingRule> all;
    for (const Row& row : kRows) all.push_back(row.rule);
    return all;
  }();
  return rules;
}

// Those that a program shows with its mistake and not without (tests/emulated/findings_test.py).
// The others are not evaluated.
constexpr std::string_view kHeldByTests[] = {"leak",
                                             "retained-graph",
                                             "kept-from-before",
                                             "kv-cache",
                                             "old-gradients",
                                             "outputs-held",
                                             "second-weights",
                                             "held-since-setup",
                                             "resident-inputs",
                                             "no-grad",
                                             "eval-graph",
                                             "eval-peak",
                                             "load-peak",
                                             "logits-copies",
                                             "autocast-weights",
                                             "optimizer-temporaries",
                                             "gradient-copies",
                                             "attention-scores",
                                             "checkpointing-without-effect",
                                             "frozen-32-bits",
                                             "large-buffers",
                                             "workspaces",
                                             "uneven-steps",
                                             "other-streams"};

std::vector<Finding> FindFindings(const trace::Trace& trace) {
  std::vector<Finding> findings;
  // A state is one moment: what was before it, nobody knows.
  if (trace.events.size() == 0 || trace.info.content == trace::Content::kState) return findings;
  FindingFacts facts(trace);
  if (facts.peak.allocated == 0) return findings;
  const std::span<const FindingRule> rules = FindingRules();
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (std::ranges::find(kHeldByTests, rules[i].id) == std::end(kHeldByTests)) continue;
    Said said = kRows[i].say(facts);
    if (!said) continue;
    if (kRows[i].claims) facts.Claim({.blocks = said->blocks});
    said->rule = &rules[i];
    std::ranges::sort(said->blocks, [&](AllocationId x, AllocationId y) {
      const auto& bytes = trace.allocations.bytes_rounded;
      return bytes[x.value] != bytes[y.value] ? bytes[x.value] > bytes[y.value] : x < y;
    });
    if (said->blocks.size() > Finding::kMostBlocks) said->blocks.resize(Finding::kMostBlocks);
    findings.push_back(*std::move(said));
  }
  std::ranges::stable_sort(findings,
                           [](const Finding& x, const Finding& y) { return x.bytes > y.bytes; });
  return findings;
}

}  // namespace vramscope::explain
