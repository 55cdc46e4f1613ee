// A validation pass after training. It may record autograd's graph, and may keep the logits.
#include <torch/types.h>

#include "trainer/capture/scopes.h"
#include "trainer/models/training_mode.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

constexpr int kBatches = 4;

class Evaluation final : public Technique {
 public:
  Evaluation(bool with_graph, bool keeps_logits)
      : with_graph_(with_graph), keeps_logits_(keeps_logits) {}

  void AfterTraining(const RunContext& run, const ForwardPass& pass) override {
    PhaseScope phase(trace::Phase::kEval);
    EvaluationScope evaluation;
    std::vector<at::Tensor> kept;
    at::Tensor logits, loss;
    for (int i = 0; i < kBatches; ++i) {
      at::AutoGradMode mode(with_graph_);
      loss = pass(i, logits);
      if (run.measured) loss.item<double>();
      if (keeps_logits_) kept.push_back(logits);
    }
  }
  // In a rehearsed run, the libraries' workspaces exist only as allocations of the tape. The
  // evaluation is executed, not played from the tape, and would not find them.
  bool rehearses() const override { return false; }

 private:
  bool with_graph_, keeps_logits_;
};

}  // namespace

TechniqueEntry DeclareTechnique_evaluation() {
  return {.declaration =
              {.id = "evaluation",
               .group = "Evaluation",
               .title = "Evaluation",
               .explanation = "Evaluation runs the model on validation batches. Without no_grad, "
                              "it keeps activations for a backward pass. While a variable still "
                              "refers to the previous loss, the activations of two passes exist at "
                              "once. Logits that are collected on the GPU accumulate.",
               .settings = {{.key = "eval",
                             .help = "evaluation pass after training: \"none\", \"grad\" (with an "
                                     "autograd graph) or \"no_grad\" (without a graph)",
                             .kind = run::ValueKind::kChoice,
                             .default_value = "none",
                             .choices = {{"none", ""}, {"grad", ""}, {"no_grad", ""}}},
                            {.key = "eval_keeps_logits",
                             .help = "collect the logits of all evaluation batches on the GPU",
                             .kind = run::ValueKind::kChoice,
                             .default_value = "false",
                             .choices = {{"false", ""}, {"true", ""}}}},
               .toggles = {{.id = "eval-no-grad",
                            .title = "Evaluate without a graph",
                            .explanation = "under no_grad: nothing is kept",
                            .on = {{"eval", true, {"no_grad"}}},
                            .ways = {{{"eval", "no_grad"}}},
                            .controls = {"eval_keeps_logits"}},
                           {.id = "eval-grad",
                            .title = "Evaluate with a graph",
                            .explanation = "without no_grad, activations are kept as in training",
                            .on = {{"eval", true, {"grad"}}},
                            .ways = {{{"eval", "grad"}}},
                            .controls = {"eval_keeps_logits"}}},
               .rules = {{.when = {{"eval_keeps_logits", true, {"true"}}, {"eval", true, {"none"}}},
                          .why = "eval_keeps_logits has no effect without an evaluation",
                          .refuses = false}}},
          .order = 80,
          .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
            if (config.Is("eval", "none")) return nullptr;
            return std::make_unique<Evaluation>(config.Is("eval", "grad"),
                                                config.Is("eval_keeps_logits", "true"));
          }};
}

}  // namespace vramscope::trainer
