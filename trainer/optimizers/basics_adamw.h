// The AdamW of the basics model's training script: written out per parameter, state replaced in
// every step instead of updated in place, weight decay first. Lifetimes are those of its Python.
#pragma once

#include <memory>
#include <vector>

#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

// Betas 0.9 and 0.999, eps 1e-8; learning rate and weight decay from `config`.
std::unique_ptr<Optimizer> MakeBasicsAdamW(const OptimizerConfig& config,
                                           std::vector<at::Tensor> parameters);

}  // namespace vramscope::trainer
