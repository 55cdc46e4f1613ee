// AdamW: Adam with weight decay that is applied to the weights, not to the gradients.
#include "trainer/optimizers/adam.h"

namespace vramscope::trainer {

OptimizerEntry DeclareOptimizer_adamw() {
  return {
      .declaration = {.id = "adamw",
                      .title = "AdamW",
                      .explanation = "two moments for each trained element, in the element's type",
                      .implementations = {"loop", "foreach", "fused"},
                      .default_weight_decay = 0.01,
                      .state_elements = 2},
      .make = MakeAdam};
}

}  // namespace vramscope::trainer
