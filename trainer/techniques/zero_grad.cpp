// Frees the gradients or fills them with zeros, after a step or before the next backward.
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

class ZeroGradOf final : public Technique {
 public:
  ZeroGradOf(bool keeps, bool late) : keeps_(keeps), late_(late) {}
  bool keeps_gradients() const override { return keeps_; }
  bool zeroes_before_backward() const override { return late_; }
  bool repeats() const override { return !late_; }

 private:
  bool keeps_, late_;
};

}  // namespace

TechniqueEntry DeclareTechnique_zero_grad() {
  return {
      .declaration =
          {.id = "zero-grad",
           .group = "Gradients",
           .title = "zero_grad",
           .explanation = "Gradients that are filled with zeros stay in memory during the next "
                          "forward. Gradients that are released (PyTorch's default) use no memory "
                          "when activations peak.",
           .settings = {{.key = "zero_grad",
                         .help = "what happens to the gradients after a step: they are released "
                                 "(none) or filled with zeros",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "none",
                         .choices = {{"none", ""}, {"zero", ""}}},
                        {.key = "zero_grad_when",
                         .help = "\"end\" clears gradients after the step. \"before_backward\" "
                                 "clears them when the next loss has been computed, so gradients "
                                 "stay in memory during the forward pass",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "end",
                         .choices = {{"end", "after the step"},
                                     {"before_backward", "before the next backward"}}}},
           .toggles = {{.id = "zero-grad",
                        .title = "Zero gradients in place",
                        .explanation = "fills gradients with zeros instead of releasing them",
                        .on = {{"zero_grad", true, {"zero"}}},
                        .ways = {{{"zero_grad", "zero"}}}},
                       {.id = "zero-grad-late",
                        .title = "zero_grad before backward",
                        .explanation = "gradients stay through the next forward",
                        .on = {{"zero_grad_when", true, {"before_backward"}}},
                        .ways = {{{"zero_grad_when", "before_backward"}}}}}},
      .order = 61,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        const bool keeps = config.Is("zero_grad", "zero");
        const bool late = config.Is("zero_grad_when", "before_backward");
        if (!keeps && !late) return nullptr;
        return std::make_unique<ZeroGradOf>(keeps, late);
      }};
}

}  // namespace vramscope::trainer
