// Stochastic gradient descent, after torch/optim/sgd.py of PyTorch 2.11: _single_tensor_sgd,
// _multi_tensor_sgd, _fused_sgd. Dampening 0, no Nesterov.
#pragma once

#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

std::unique_ptr<Optimizer> MakeSgd(const run::OptimizerConfig& config,
                                   std::vector<at::Tensor> parameters);

}  // namespace vramscope::trainer
