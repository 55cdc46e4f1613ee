// Adam as in PyTorch 2.0 and 2.1 (_multi_tensor_adam): two temporary lists are each as large as all
// trained weights. One has the square roots of the second moments, the other these roots + eps.
#include "trainer/optimizers/adam.h"

namespace vramscope::trainer {

OptimizerEntry DeclareOptimizer_adam_2023() {
  return {.declaration = {.id = "adam-2023",
                          .title = "Adam of PyTorch 2.0",
                          .explanation =
                              "two moments; the step makes two temporaries, each as large as all "
                              "weights (in current PyTorch versions, it makes one)",
                          .implementations = {"foreach"},
                          .default_weight_decay = 0,
                          .state_elements = 2,
                          .assumes = {"Adam uses the operators of PyTorch 2.0, but they run in the "
                                      "PyTorch version of this build"}},
          .make = MakeAdam2023};
}

}  // namespace vramscope::trainer
