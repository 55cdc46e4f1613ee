#include "trainer/optimizers/optimizer.h"

#include <torch/torch.h>

#include "trainer/optimizers/adam.h"
#include "trainer/optimizers/sgd.h"

namespace vramscope::trainer {

void Optimizer::ZeroGrad(run::ZeroGrad mode) {
  if (mode == run::ZeroGrad::kNone) {
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

std::unique_ptr<Optimizer> MakeOptimizer(const run::OptimizerConfig& config,
                                         std::vector<at::Tensor> parameters) {
  if (config.name == run::OptimizerName::kSgd) return MakeSgd(config, std::move(parameters));
  return MakeAdam(config, std::move(parameters));
}

}  // namespace vramscope::trainer
