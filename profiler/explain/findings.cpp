// The table of rules, with their ids, conditions and remedies. It is in the order in which the
// rules claim blocks. No rule counts blocks that an earlier rule has claimed.
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
  bool claims = true;  // later rules do not count the rule's blocks
};

// The more specific rules come first, because rules claim blocks. For each rule, a test program
// (tests/emulated/findings_test.py) makes the mistake and yields the finding. The same program
// without the mistake does not yield the finding.
constexpr Row kRows[] = {
    {{"leak",
      TEXT_MARK(
          "in at least three steps, a call site allocates blocks that later steps do not free"),
      TEXT_MARK("keep numbers instead of tensors, as in losses.append(loss.item()). Call detach() "
                "on the tensors that are kept"),
      ""},
     Leaking},
    {{"retained-graph",
      TEXT_MARK(
          "at the peak, at least eight activations of an earlier step or micro-batch are live"),
      TEXT_MARK("run `del loss, outputs` after backward(), and do not pass retain_graph=True. Call "
                "detach() on the tensors that are kept"),
      ""},
     RetainedGraph},
    {{"made-in-first-step",
      TEXT_MARK("results of the first step are still live at the peak, and also after the step "
                "that contains the peak"),
      TEXT_MARK("delete tensors that only the first step needs, or keep them on the CPU"), ""},
     MadeInFirstStep},
    {{"kept-from-before",
      TEXT_MARK("at the peak, results of the forward or backward pass of an earlier step or "
                "micro-batch are live"),
      TEXT_MARK("run `del outputs, loss` at the end of the loop body; otherwise, these variables "
                "hold the tensors until after the next forward pass"),
      ""},
     HeldFromEarlierStep},
    {{"kv-cache",
      TEXT_MARK("at the peak of a training step, cached keys and values of this step are live"),
      TEXT_MARK("model.config.use_cache = False"), "no-use-cache"},
     KvCacheInTraining},
    {{"old-gradients", TEXT_MARK("at the peak, gradients of an earlier step are live"),
      TEXT_MARK("call optimizer.zero_grad(set_to_none=True) before the forward pass"),
      "zero-grad-to-none"},
     OldGradients},
    {{"outputs-held",
      TEXT_MARK("results of the forward pass are live at the peak and after backward, although "
                "autograd does not need them"),
      TEXT_MARK("run `del outputs, logits` before loss.backward()"), ""},
     OutputsHeld,
     false},
    {{"second-weights",
      TEXT_MARK("blocks that were allocated before the first step have the same sizes as weights, "
                "and add up to at least 80 % of all weights"),
      TEXT_MARK("load checkpoints with map_location=\"cpu\" and delete them after use; keep weight "
                "averages on the CPU"),
      ""},
     SecondWeights},
    {{"held-since-setup",
      TEXT_MARK("blocks that were allocated before the first step are live at the peak, but are "
                "not training state"),
      TEXT_MARK("delete tensors that only the setup needs, or keep them on the CPU"), ""},
     HeldSinceSetup},
    {{"resident-inputs",
      TEXT_MARK("at the peak, inputs that were allocated before this step are live"),
      TEXT_MARK("move each batch to the GPU in the loop, not the whole data set"), ""},
     ResidentInputs},
    {{"no-grad",
      TEXT_MARK("a forward pass keeps activations, but the whole run has no backward pass"),
      TEXT_MARK("run the model under torch.no_grad() or torch.inference_mode()"), "eval-no-grad"},
     NoGradMissing,
     false},
    {{"eval-graph", TEXT_MARK("an evaluation keeps its activations for backward"),
      TEXT_MARK("run the evaluation under torch.no_grad()"), "eval-no-grad"},
     EvalKeepsGraph,
     false},
    {{"eval-peak", TEXT_MARK("the peak is in an evaluation and exceeds the peak of training"),
      TEXT_MARK("lower per_device_eval_batch_size, set eval_accumulation_steps=1, or evaluate "
                "smaller batches"),
      "eval-batch"},
     EvalPeak,
     false},
    {{"load-peak", TEXT_MARK("the peak is before the first step or while a checkpoint is loaded"),
      TEXT_MARK("load with map_location=\"cpu\" or load_state_dict(assign=True), or pass the dtype "
                "to from_pretrained"),
      ""},
     LoadPeak,
     false},
    {{"logits-copies",
      TEXT_MARK("at the peak, two or more tensors as large as the result of log_softmax are live"),
      TEXT_MARK("compute the loss in parts: a fused linear cross entropy, or chunks of tokens"),
      "liger"},
     LogitsCopies},
    {{"autocast-weights",
      TEXT_MARK("at the peak, each weight also has a cast copy of half its size"),
      TEXT_MARK(
          "pass torch_dtype=torch.bfloat16 to from_pretrained, or call model.to(torch.bfloat16)"),
      "weights"},
     AutocastWeights},
    {{"dtype-copies",
      TEXT_MARK("results of casts in the forward pass take at least 5 % of the peak, or at least "
                "10 % if checkpointing recomputes them; autocast did not make these casts"),
      TEXT_MARK("use one dtype in the whole model: call model.to(torch.bfloat16), create adapters "
                "in the dtype of the weights (autocast_adapter_dtype=False), and do not call "
                ".float() on activations"),
      "weights"},
     DtypeCopies},
    {{"optimizer-temporaries",
      TEXT_MARK("the peak is in the optimizer step and includes its temporaries"),
      TEXT_MARK("pass fused=True or foreach=False to the optimizer"), "optimizer-impl"},
     OptimizerTemporaries},
    {{"gradient-copies",
      TEXT_MARK(
          "at the peak, there are temporaries of the same sizes as gradients. The temporaries "
          "add up to at least 80 % of all gradients"),
      TEXT_MARK("modify gradients in place: torch.nn.utils.clip_grad_norm_(foreach=False)"), ""},
     GradientCopies},
    {{"attention-scores",
      TEXT_MARK("at the peak, results of softmax in attention modules are live"),
      TEXT_MARK("use F.scaled_dot_product_attention, or attn_implementation=\"sdpa\""),
      "attention"},
     AttentionScores},
    {{"checkpointing-without-effect",
      TEXT_MARK("code inside torch.utils.checkpoint allocates memory, but nothing is recomputed"),
      TEXT_MARK("set use_reentrant=False, or call model.enable_input_require_grads()"), ""},
     CheckpointingWithoutEffect,
     false},
    {{"frozen-32-bits",
      TEXT_MARK("at most 20 % of the weights are trained, and each weight takes 4 bytes"),
      TEXT_MARK("pass torch_dtype=torch.bfloat16 to from_pretrained"), "weights"},
     FrozenInThirtyTwoBits,
     false},
    {{"no-gradient",
      TEXT_MARK(
          "at least 10 % of the trainable parameters in optimizers got no gradient in any step"),
      TEXT_MARK("call requires_grad_(False) on weights that are not to be trained; for the others, "
                "remove detach() or no_grad() between them and the loss"),
      ""},
     NoGradient,
     false},
    {{"large-buffers", TEXT_MARK("buffers take at least 5 % of the peak"),
      TEXT_MARK(
          "call register_buffer only for small tensors, and build masks where they are needed"),
      ""},
     LargeBuffers},
    {{"workspaces",
      TEXT_MARK("cuBLAS workspaces take at least 5 % of the peak and at least 64 MiB"),
      TEXT_MARK("set CUBLAS_WORKSPACE_CONFIG=:4096:2, and use fewer streams"), ""},
     Workspaces},
    {{"uneven-steps",
      TEXT_MARK("in a run of at least five steps, the peak of one step exceeds the median by at "
                "least 10 %"),
      TEXT_MARK("set group_by_length=True, lower max_length, or run the longest batch first"), ""},
     UnevenSteps,
     false},
    {{"other-streams", TEXT_MARK("blocks were freed, but another stream still uses them"),
      TEXT_MARK("avoid record_stream: wait for the other stream before the tensor is freed"), ""},
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
  // Returns nothing for a snapshot without history, because all rules need the history.
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
