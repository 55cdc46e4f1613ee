// The AdamW of the basics model's training script: a loop over the parameters that replaces the
// state in every step instead of updating it in place, with weight decay first. Tensors live as
// long as in the script's Python code.
#pragma once

#include <memory>
#include <vector>

#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

// Betas 0.9 and 0.999, eps 1e-8; learning rate and weight decay come from `config`.
std::unique_ptr<Optimizer> MakeBasicsAdamW(const OptimizerConfig& config,
                                           std::vector<at::Tensor> parameters);

}  // namespace vramscope::trainer
