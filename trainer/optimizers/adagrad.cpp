// Adagrad: the sum of all squared gradients for each element (Duchi et al. 2011), with the
// allocations of torch.optim.Adagrad. torch.optim.Adagrad allocates the sums in its constructor,
// not in the first step.
#include <torch/types.h>

#include "trainer/capture/cancel.h"
#include "trainer/optimizers/group.h"
#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {
namespace {

constexpr double kEps = 1e-10;

class Adagrad final : public Optimizer {
 public:
  Adagrad(const OptimizerConfig& config, std::vector<at::Tensor> parameters)
      : Optimizer(std::move(parameters), config.lr),
        weight_decay_(config.weight_decay),
        foreach_(config.impl == OptimizerImpl::kForeach) {
    at::NoGradGuard no_grad;
    for (const at::Tensor& parameter : parameters_) {
      sums_.push_back(MakeState(parameter, [&] { return at::full_like(parameter, 0.0); }));
    }
  }

  void Step() override {
    at::NoGradGuard no_grad;
    std::vector<at::Tensor> gradients, parameters, sums;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (!parameters_[i].grad().defined()) continue;
      parameters.push_back(parameters_[i]);
      gradients.push_back(parameters_[i].grad());
      sums.push_back(sums_[i]);
    }
    if (!foreach_) return OneByOne(parameters, gradients, sums);
    for (const std::vector<size_t>& group : GroupByDtype(parameters)) {
      ThrowIfCancelled();
      InLists(Pick(parameters, group), Pick(gradients, group), Pick(sums, group));
    }
  }

  std::vector<at::Tensor> StateTensors() const override { return sums_; }

 private:
  // torch/optim/adagrad.py, _single_tensor_adagrad.
  void OneByOne(std::vector<at::Tensor>& parameters, std::vector<at::Tensor>& gradients,
                std::vector<at::Tensor>& sums) const {
    at::Tensor deviation;  // a variable of the Python loop, replaced at the next parameter
    at::Tensor gradient;
    for (size_t i = 0; i < parameters.size(); ++i) {
      ThrowIfCancelled();
      gradient = gradients[i];
      if (weight_decay_ != 0) gradient = gradient.add(parameters[i], weight_decay_);
      sums[i].addcmul_(gradient, gradient, 1);
      deviation = sums[i].sqrt().add_(kEps);
      parameters[i].addcdiv_(gradient, deviation, -lr_);
    }
  }

  // torch/optim/adagrad.py, _multi_tensor_adagrad.
  void InLists(const std::vector<at::Tensor>& parameters, std::vector<at::Tensor> gradients,
               const std::vector<at::Tensor>& sums) const {
    if (weight_decay_ != 0) gradients = at::_foreach_add(gradients, parameters, weight_decay_);
    at::_foreach_addcmul_(sums, gradients, gradients, 1);
    std::vector<at::Tensor> deviations = at::_foreach_sqrt(sums);
    at::_foreach_add_(deviations, kEps);
    std::vector<at::Tensor> numerators;
    if (weight_decay_ != 0) {
      at::_foreach_mul_(gradients, -lr_);
      numerators = std::move(gradients);
    } else {
      numerators = at::_foreach_mul(gradients, -lr_);
    }
    at::_foreach_addcdiv_(parameters, numerators, deviations);
    ReleaseList(numerators);
    ReleaseList(deviations);
  }

  const double weight_decay_;
  const bool foreach_;
  std::vector<at::Tensor> sums_;
};

}  // namespace

OptimizerEntry DeclareOptimizer_adagrad() {
  return {.declaration = {.id = "adagrad",
                          .title = "Adagrad",
                          .explanation = "the sum of squared gradients for each trained element, "
                                         "allocated from the start; half of Adam's state",
                          .implementations = {"loop", "foreach"},
                          .default_weight_decay = 0,
                          .state_elements = 1},
          .make = [](const OptimizerConfig& config, std::vector<at::Tensor> parameters) {
            return std::make_unique<Adagrad>(config, std::move(parameters));
          }};
}

}  // namespace vramscope::trainer
