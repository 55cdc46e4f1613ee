// Forward passes only: no graph, no gradients, no optimizer.
#include <torch/types.h>

#include "trainer/models/training_mode.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

// model.eval(), torch.no_grad().
class WithoutGraph final : public Held {
 private:
  at::NoGradGuard guard_;
  EvaluationScope evaluation_;
};

class Inference final : public Technique {
 public:
  std::unique_ptr<Held> AroundForward(const RunContext&) override {
    return std::make_unique<WithoutGraph>();
  }
  bool trains() const override { return false; }
  bool repeats() const override { return false; }
};

}  // namespace

TechniqueEntry DeclareTechnique_inference() {
  return {.declaration =
              {.id = "inference",
               .group = "Evaluation",
               .title = "Inference",
               .explanation = "Forward passes run without an autograd graph. Memory holds the "
                              "weights, the activations of one layer at a time, and the logits.",
               .settings = {{.key = "mode",
                             .help = "\"train\" runs forward, backward and optimizer. "
                                     "\"inference\" runs only forward, under no_grad. \"generate\" "
                                     "generates token by token (generate.tokens)",
                             .kind = run::ValueKind::kChoice,
                             .default_value = "train",
                             .choices = {{"train", ""}, {"inference", ""}, {"generate", ""}}}},
               .toggles = {{.id = "inference",
                            .title = "Inference only",
                            .explanation = "only forward, nothing is kept",
                            .on = {{"mode", true, {"inference"}}},
                            .ways = {{{"mode", "inference"}}}}}},
          .order = 5,
          .place = 81,
          .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
            if (!config.Is("mode", "inference")) return nullptr;
            return std::make_unique<Inference>();
          }};
}

}  // namespace vramscope::trainer
