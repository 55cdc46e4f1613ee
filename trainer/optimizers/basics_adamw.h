// The AdamW of the basics model's training script. It loops over the parameters, applies weight
// decay first, and makes new state tensors in every step instead of updating them in place. Each
// tensor lives as long as in the script.
#pragma once

#include <memory>
#include <vector>

#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

// Betas 0.9 and 0.999, eps 1e-8; learning rate and weight decay come from `config`.
std::unique_ptr<Optimizer> MakeBasicsAdamW(const OptimizerConfig& config,
                                           std::vector<at::Tensor> parameters);

}  // namespace vramscope::trainer
