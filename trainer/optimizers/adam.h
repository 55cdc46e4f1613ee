// Adam and AdamW, after torch/optim/adam.py and adamw.py of PyTorch 2.11: _single_tensor_adam,
// _multi_tensor_adam, _fused_adam. No capturable, no amsgrad. Betas are 0.9 and 0.999, eps is 1e-8.
#pragma once

#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

std::unique_ptr<Optimizer> MakeAdam(const OptimizerConfig& config,
                                    std::vector<at::Tensor> parameters);
// Adam of PyTorch 2.0 and 2.1. Its foreach form has larger temporaries (see adam_2023.cpp).
std::unique_ptr<Optimizer> MakeAdam2023(const OptimizerConfig& config,
                                        std::vector<at::Tensor> parameters);

}  // namespace vramscope::trainer
