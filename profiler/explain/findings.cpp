// The table of rules with their ids, conditions and remedies, in the order in which they claim
// blocks. A block that one rule has claimed is not counted by later rules.
#include "profiler/explain/findings.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "profiler/base/i18n.h"
#include "profiler/explain/finding_facts.h"
#include "profiler/explain/finding_rules.h"

namespace vramscope::explain {
namespace {

using trace::AllocationId;

struct Row {
  FindingRule rule;
  MaybeFinding (*evaluate)(const FindingFacts&);
  bool claims = true;  // later rules do not count its blocks
};

// Rules that explain more come first, because later rules do not count the blocks that they claim.
// For each rule a test program triggers it with a mistake and does not trigger it without
// (tests/emulated/findings_test.py).
constexpr Row kRows[] = {
    {{"leak",
      TEXT_MARK("blocks that a call site allocates in a step stay through the steps after it "
                "(three steps at least)"),
      TEXT_MARK("keep numbers, not tensors: losses.append(loss.item()); detach() the tensors that "
                "are kept"),
      ""},
     Leaking},
    {{"retained-graph",
      TEXT_MARK("at the peak, eight or more activations of an earlier step or micro-batch"),
      TEXT_MARK("del loss, outputs after backward(); no retain_graph=True; detach() the tensors "
                "that are kept"),
      ""},
     RetainedGraph},
    {{"made-in-first-step",
      TEXT_MARK("at the peak, results of the first step that are still there when the step of the "
                "peak is over"),
      TEXT_MARK("del what only the first step needs, or keep it on the CPU"), ""},
     MadeInFirstStep},
    {{"kept-from-before",
      TEXT_MARK(
          "at the peak, results of the forward or backward pass of an earlier step or micro-batch"),
      TEXT_MARK("del outputs, loss at the end of the loop body: otherwise the variables hold them "
                "until after the next forward pass"),
      ""},
     KeptFromBefore},
    {{"kv-cache", TEXT_MARK("at the peak of a training step, cached keys and values of this step"),
      TEXT_MARK("model.config.use_cache = False"), "no-use-cache"},
     KvCacheInTraining},
    {{"old-gradients", TEXT_MARK("at the peak, gradients of an earlier step"),
      TEXT_MARK("optimizer.zero_grad(set_to_none=True) before the forward pass"),
      "zero-grad-to-none"},
     OldGradients},
    {{"outputs-held",
      TEXT_MARK("at the peak, results of the forward pass that autograd does not need and that "
                "outlive backward"),
      TEXT_MARK("del outputs, logits before loss.backward()"), ""},
     OutputsHeld,
     false},
    {{"second-weights",
      TEXT_MARK("blocks from before the first step with the sizes of at least four fifths of the "
                "weights"),
      TEXT_MARK("load checkpoints with map_location=\"cpu\" and del them; keep weight averages on "
                "the CPU"),
      ""},
     SecondWeights},
    {{"held-since-setup",
      TEXT_MARK("blocks from before the first step that are not training state"),
      TEXT_MARK("del tensors that only the setup needed, or keep them on the CPU"), ""},
     HeldSinceSetup},
    {{"resident-inputs", TEXT_MARK("at the peak, inputs that were allocated before this step"),
      TEXT_MARK("move each batch to the GPU in the loop, not the whole data set"), ""},
     ResidentInputs},
    {{"no-grad", TEXT_MARK("activations of a forward pass, and no backward pass at all"),
      TEXT_MARK("with torch.no_grad(): or torch.inference_mode() around it"), "eval-no-grad"},
     NoGradMissing,
     false},
    {{"eval-graph", TEXT_MARK("an evaluation whose activations are kept for backward"),
      TEXT_MARK("with torch.no_grad(): around the evaluation"), "eval-no-grad"},
     EvalKeepsGraph,
     false},
    {{"eval-peak", TEXT_MARK("the peak is in an evaluation, and above that of training"),
      TEXT_MARK("per_device_eval_batch_size, eval_accumulation_steps=1, or a smaller batch there"),
      "eval-batch"},
     EvalPeak,
     false},
    {{"load-peak", TEXT_MARK("the peak is before the first step or where a checkpoint is loaded"),
      TEXT_MARK(
          "map_location=\"cpu\", load_state_dict(assign=True), or the dtype at from_pretrained"),
      ""},
     LoadPeak,
     false},
    {{"logits-copies",
      TEXT_MARK("at the peak, two or more tensors of the size of the result of log_softmax"),
      TEXT_MARK("compute the loss in parts: a fused linear cross entropy, or chunks of tokens"),
      "liger"},
     LogitsCopies},
    {{"autocast-weights",
      TEXT_MARK("at the peak, results of casts with half the size of the weights, one for each"),
      TEXT_MARK("torch_dtype=torch.bfloat16 at from_pretrained, or model.to(torch.bfloat16)"),
      "weights"},
     AutocastWeights},
    {{"dtype-copies",
      TEXT_MARK("at the peak, results of casts in the forward pass that autocast did not make, a "
                "twentieth of the peak or more"),
      TEXT_MARK("one type in the whole model: model.to(torch.bfloat16), adapters in the type of "
                "the weights (autocast_adapter_dtype=False), no .float() of activations"),
      "weights"},
     DtypeCopies},
    {{"optimizer-temporaries",
      TEXT_MARK("the peak is in the optimizer step, with temporaries of its own"),
      TEXT_MARK("fused=True or foreach=False at the optimizer"), "optimizer-impl"},
     OptimizerTemporaries},
    {{"gradient-copies",
      TEXT_MARK("at the peak, temporaries with the sizes of at least four fifths of the gradients"),
      TEXT_MARK("modify gradients in place: torch.nn.utils.clip_grad_norm_(foreach=False)"), ""},
     GradientCopies},
    {{"attention-scores", TEXT_MARK("at the peak, results of softmax in attention modules"),
      TEXT_MARK("F.scaled_dot_product_attention, or attn_implementation=\"sdpa\""), "attention"},
     AttentionScores},
    {{"checkpointing-without-effect",
      TEXT_MARK("allocations inside torch.utils.checkpoint, and no recomputation"),
      TEXT_MARK("use_reentrant=False, or model.enable_input_require_grads()"), ""},
     CheckpointingWithoutEffect,
     false},
    {{"frozen-32-bits",
      TEXT_MARK("less than a fifth of the weights are trained, and weights take 4 bytes each"),
      TEXT_MARK("torch_dtype=torch.bfloat16 at from_pretrained"), "weights"},
     FrozenInThirtyTwoBits,
     false},
    {{"no-gradient",
      TEXT_MARK("a tenth or more of the trainable parameters of the optimizers got no gradient in "
                "any step"),
      TEXT_MARK("requires_grad_(False) where nothing is to be trained; else no detach() or "
                "no_grad() between it and the loss"),
      ""},
     NoGradient,
     false},
    {{"large-buffers", TEXT_MARK("buffers take a twentieth of the peak or more"),
      TEXT_MARK("register_buffer only small tensors; build masks where they are needed"), ""},
     LargeBuffers},
    {{"workspaces",
      TEXT_MARK("cuBLAS workspaces take a twentieth of the peak or more, and at least 64 MiB"),
      TEXT_MARK("CUBLAS_WORKSPACE_CONFIG=:4096:2, and fewer streams"), ""},
     Workspaces},
    {{"uneven-steps",
      TEXT_MARK("of five steps or more, the peak of one is above the median by a tenth or more"),
      TEXT_MARK("group_by_length=True, a smaller max_length, or the longest batch first"), ""},
     UnevenSteps,
     false},
    {{"other-streams", TEXT_MARK("blocks that are freed and wait for another stream"),
      TEXT_MARK("no record_stream: wait for the stream before the tensor is released"), ""},
     OtherStreams,
     false},
};

}  // namespace

size_t FindingRuleCount() { return std::size(kRows); }

std::string NoFindingsText() {
  return i18n::Format("No findings: none of the {} rules applies to this run.", FindingRuleCount());
}

std::vector<Finding> FindFindings(const trace::Trace& trace) {
  std::vector<Finding> findings;
  // A state has no history, and every rule needs one.
  if (trace.events.size() == 0 || trace.info.content == trace::Content::kState) return findings;
  FindingFacts facts(trace);
  if (facts.peak.allocated == 0) return findings;
  for (const Row& row : kRows) {
    MaybeFinding finding = row.evaluate(facts);
    if (!finding) continue;
    if (row.claims) facts.Claim({.blocks = finding->blocks});
    finding->rule = &row.rule;
    std::ranges::sort(finding->blocks, [&](AllocationId x, AllocationId y) {
      const auto& bytes = trace.allocations.bytes_rounded;
      return bytes[x.value] != bytes[y.value] ? bytes[x.value] > bytes[y.value] : x < y;
    });
    if (finding->blocks.size() > Finding::kMostBlocks) finding->blocks.resize(Finding::kMostBlocks);
    findings.push_back(*std::move(finding));
  }
  std::ranges::stable_sort(findings,
                           [](const Finding& x, const Finding& y) { return x.bytes > y.bytes; });
  return findings;
}

}  // namespace vramscope::explain
