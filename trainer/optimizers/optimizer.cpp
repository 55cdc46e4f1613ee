#include "trainer/optimizers/optimizer.h"

#include <torch/types.h>

namespace vramscope::trainer {

void Optimizer::ZeroGrad(ZeroGradMode mode) {
  if (mode == ZeroGradMode::kNone) {
    for (const at::Tensor& parameter : parameters_) parameter.mutable_grad() = at::Tensor();
    return;
  }
  at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters_) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  if (!gradients.empty()) at::_foreach_zero_(gradients);
}

std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerConfig& config,
                                         std::vector<at::Tensor> parameters) {
  for (const OptimizerEntry& entry : AllOptimizers()) {
    if (entry.declaration.id == config.name) return entry.make(config, std::move(parameters));
  }
  return nullptr;
}

}  // namespace vramscope::trainer
