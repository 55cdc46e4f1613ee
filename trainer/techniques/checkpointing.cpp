// Selects the activations that backward recomputes, so that they need not be kept.
#include <torch/types.h>

#include "trainer/models/parts.h"
#include "trainer/models/training_mode.h"
#include "trainer/techniques/recompute/frames.h"
#include "trainer/techniques/recompute/reentrant.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

// How checkpointed segments are run in forward and recomputed in backward.
struct Form {
  bool reentrant = true;
  MakeOpPolicy policy = nullptr;  // selects outputs that are kept
  // true: a closure is checkpointed, as in code that users write; false: layers are checkpointed as
  // transformers' gradient_checkpointing_enable() does it
  bool by_hand = false;

  LayerRunner Runner(int layers, c10::Device device) const {
    const CheckpointOptions options{
        .layers_per_segment = layers, .device = device, .closes_over = by_hand};
    if (policy) return MakeFrameRunner(options, policy);
    return reentrant ? MakeCheckpointRunner(options) : MakeFrameRunner(options, nullptr);
  }
};

// As in transformers, evaluation runs the layers without checkpoints, even if a backward follows.
LayerRunner WhileTraining(LayerRunner checkpointed) {
  return [checkpointed = std::move(checkpointed)](at::Tensor hidden,
                                                  const std::vector<LayerFunction>& layers,
                                                  const std::string& path, Carried& carried) {
    if (Training()) return checkpointed(std::move(hidden), layers, path, carried);
    for (const LayerFunction& layer : layers) hidden = layer(hidden, carried);
    return hidden;
  };
}

class Checkpointing final : public Technique {
 public:
  // `alternate`: only every other segment is checkpointed.
  Checkpointing(Form form, int layers, bool alternate)
      : form_(form), layers_(layers), alternate_(alternate) {}

  LayerRunner AroundLayers(const RunContext& run, Model& model, LayerRunner) override {
    // The input of a re-entrant segment must require a gradient. The output of a trained embedding
    // does.
    const bool leads_on = model.embeds() && model.Parameters().front()->trainable;
    if (form_.reentrant) model.inputs_require_grad = !leads_on;
    LayerRunner all = WhileTraining(form_.Runner(layers_, run.device));
    if (!alternate_) return all;
    return [all, this](at::Tensor hidden, const std::vector<LayerFunction>& layers,
                       const std::string& path, Carried& carried) {
      if (path != stack_) even_ = true;
      stack_ = path;
      for (const LayerFunction& layer : layers) {
        hidden = even_ ? all(std::move(hidden), {layer}, path, carried) : layer(hidden, carried);
        even_ = !even_;
      }
      return hidden;
    };
  }
  std::unique_ptr<Held> AroundForward(const RunContext&) override {
    stack_.clear();
    return nullptr;
  }
  int layers_per_unit() const override { return alternate_ ? 2 : layers_; }

 private:
  Form form_;
  int layers_;
  bool alternate_;
  // For alternate_: the path of the current layer stack, and whether its next layer is
  // checkpointed. Both are needed because sharding calls the runner once for each unit of a stack.
  std::string stack_;
  bool even_ = true;
};

// Checkpoints one part of every layer; the other parts keep their activations.
class PartCheckpointing final : public Technique {
 public:
  PartCheckpointing(Form form, Part part) : form_(form), part_(part) {}

  void AfterSetUp(const RunContext& run, Model&, std::span<const at::Tensor>) override {
    runner_ = [checkpoint = form_.Runner(1, run.device), this](Part part, const at::Tensor& input,
                                                               const PartFunction& function) {
      // The weights of a re-entrant part get no gradient if the part's input requires no gradient.
      const bool leads_on = input.requires_grad() || !form_.reentrant;
      const bool keeps = Training() && at::GradMode::is_enabled();
      if (part != part_ || !leads_on || !keeps) return function(input);
      const Recorder* recorder = Recorder::Current();
      Carried nothing;
      return checkpoint(input, {[function](const at::Tensor& x, Carried&) { return function(x); }},
                        recorder != nullptr ? recorder->CurrentModule() : "", nothing);
    };
  }
  std::unique_ptr<Held> AroundForward(const RunContext&) override {
    return std::make_unique<HeldRunner>(runner_);
  }
  void AfterRun() override { runner_ = nullptr; }

 private:
  class HeldRunner final : public Held {
   public:
    explicit HeldRunner(const PartRunner& runner) : scope_(&runner) {}

   private:
    PartRunnerScope scope_;
  };
  Form form_;
  Part part_;
  PartRunner runner_;
};

}  // namespace

TechniqueEntry DeclareTechnique_checkpointing() {
  return {
      .declaration =
          {.id = "checkpointing",
           .group = "Activations",
           .title = "Activation checkpointing",
           .explanation =
               "Only the inputs of a segment of layers are kept. Backward runs each segment again, "
               "which adds the time of one forward. The peak then often moves to the loss.",
           .settings =
               {{.key = "checkpointing.mode",
                 .help = "which activations are recomputed in backward",
                 .kind = run::ValueKind::kChoice,
                 .default_value = "none",
                 .choices = {{"none", ""},
                             {"layer", ""},
                             {"every-k", ""},
                             {"alternate", "every second layer"},
                             {"ffn", "the feed-forward part of each layer"},
                             {"attention", "the attention part of each layer"},
                             {"selective",
                              "each layer, except operators that are slow to recompute"},
                             {"budget", "each layer, but tensors that fit in a budget are kept"}}},
                {.key = "checkpointing.k",
                 .help = "number of layers in a checkpointed segment (checkpointing.mode=every-k)",
                 .kind = run::ValueKind::kInteger,
                 .default_value = "2",
                 .low = 1,
                 .high = 4096,
                 .label = "layers"},
                {.key = "checkpointing.reentrant",
                 .help =
                     "torch.utils.checkpoint's use_reentrant. \"true\" recomputes in a nested "
                     "backward. \"false\" runs the forward of the segment a second time, up to the "
                     "last tensor needed. The modes selective and budget always use \"false\"",
                 .kind = run::ValueKind::kChoice,
                 .default_value = "true",
                 .choices = {{"true", ""}, {"false", ""}},
                 .label = "re-entrant"},
                {.key = "checkpointing.budget",
                 .help = "for checkpointing.mode=budget: how much of the results of a layer's "
                         "matrix products and attention is kept, as a fraction of their bytes. The "
                         "tensors that take longest to recompute are kept first",
                 .kind = run::ValueKind::kNumber,
                 .default_value = "0.5",
                 .low = 0,
                 .high = 1,
                 .label = "share kept"}},
           .toggles =
               {{.id = "checkpoint-layer",
                 .title = "Checkpoint every layer",
                 .explanation = "recompute layers in backward",
                 .on = {{"checkpointing.mode", true, {"layer"}}},
                 .ways = {{{"checkpointing.mode", "layer"}}},
                 .controls = {"checkpointing.reentrant"}},
                {.id = "checkpoint-k",
                 .title = "Checkpoint every k layers",
                 .explanation = "recompute segments in backward",
                 .on = {{"checkpointing.mode", true, {"every-k"}}},
                 .ways = {{{"checkpointing.mode", "every-k"}}},
                 .controls = {"checkpointing.k", "checkpointing.reentrant"}},
                {.id = "checkpoint-alternate",
                 .title = "Checkpoint every 2nd layer",
                 .explanation = "half the recomputation, but half the memory savings",
                 .on = {{"checkpointing.mode", true, {"alternate"}}},
                 .ways = {{{"checkpointing.mode", "alternate"}}},
                 .controls = {"checkpointing.reentrant"}},
                {.id = "checkpoint-ffn",
                 .title = "Checkpoint feed-forward parts",
                 .explanation = "attention parts are not checkpointed",
                 .on = {{"checkpointing.mode", true, {"ffn"}}},
                 .ways = {{{"checkpointing.mode", "ffn"}}},
                 .controls = {"checkpointing.reentrant"}},
                {.id = "checkpoint-attention",
                 .title = "Checkpoint attention parts",
                 .explanation = "feed-forward parts are not checkpointed",
                 .on = {{"checkpointing.mode", true, {"attention"}}},
                 .ways = {{{"checkpointing.mode", "attention"}}},
                 .controls = {"checkpointing.reentrant"}},
                {.id = "checkpoint-selective",
                 .title = "Checkpoint selectively",
                 .explanation =
                     "keeps attention and every second matrix product, recomputes the rest",
                 .on = {{"checkpointing.mode", true, {"selective"}}},
                 .ways = {{{"checkpointing.mode", "selective"}}}},
                {.id = "checkpoint-budget",
                 .title = "Checkpoint by a budget",
                 .explanation =
                     "keeps the matrix products with the highest cost of recomputation per byte",
                 .on = {{"checkpointing.mode", true, {"budget"}}},
                 .ways = {{{"checkpointing.mode", "budget"}}},
                 .controls = {"checkpointing.budget"}}},
           .rules = {{.when = {{"checkpointing.mode", true, {"ffn", "attention"}},
                               {"model.family", false, {"llama", "gpt2", "vit"}}},
                      .why = "checkpointing.mode=ffn and checkpointing.mode=attention do not "
                             "support the layers of {model}; set checkpointing.mode=layer",
                      .instead = {{"checkpointing.mode", "layer"}}}},
           .implies = {"the model's KV cache is disabled"}},
      .fit = {{.row = "checkpoint-layer"},
              {.row = "checkpoint-alternate"},
              {.row = "checkpoint-ffn"},
              {.row = "checkpoint-selective"}},
      .order = 30,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        const std::string& mode = config.Get("checkpointing.mode");
        Form form{.reentrant = config.Is("checkpointing.reentrant", "true")};
        if (mode == "selective") form.policy = MakeProductsPolicy;
        if (mode == "budget") form.policy = MakeBudgetPolicy(config.Number("checkpointing.budget"));
        if (form.policy) form.reentrant = false;
        form.by_hand = mode == "every-k" || mode == "alternate";
        if (mode == "ffn") return std::make_unique<PartCheckpointing>(form, Part::kFeedForward);
        if (mode == "attention") return std::make_unique<PartCheckpointing>(form, Part::kAttention);
        if (mode != "none") {
          const int k = mode == "every-k" ? static_cast<int>(config.Integer("checkpointing.k")) : 1;
          return std::make_unique<Checkpointing>(form, k, mode == "alternate");
        }
        return nullptr;
      }};
}

}  // namespace vramscope::trainer
