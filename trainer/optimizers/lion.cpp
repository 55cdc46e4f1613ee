// Lion keeps one moment and updates all elements by the same amount, up or down (Chen et al. 2023,
// "Symbolic Discovery of Optimization Algorithms", program 1). Betas 0.9 and 0.99. Makes the
// allocations of lion-pytorch.
#include <torch/types.h>

#include "trainer/capture/cancel.h"
#include "trainer/optimizers/group.h"
#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.99;

class Lion final : public Optimizer {
 public:
  Lion(const OptimizerConfig& config, std::vector<at::Tensor> parameters)
      : Optimizer(std::move(parameters), config.lr),
        weight_decay_(config.weight_decay),
        moments_(parameters_.size()) {}

  void Step() override {
    at::NoGradGuard no_grad;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      at::Tensor parameter = parameters_[i];
      const at::Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      ThrowIfCancelled();
      at::Tensor& moment = moments_[i];
      if (!moment.defined()) {
        moment = MakeState(parameter, [&] { return at::zeros_like(parameter); });
      }
      if (weight_decay_ != 0) parameter.mul_(1 - lr_ * weight_decay_);
      at::Tensor old = moment.clone();
      old.mul_(kBeta1);
      at::Tensor update = old.add(gradient, 1 - kBeta1);
      old.reset();
      update.sgn_();
      parameter.add_(update, -lr_);
      moment.mul_(kBeta2).add_(gradient, 1 - kBeta2);
    }
  }

  std::vector<at::Tensor> StateTensors() const override {
    std::vector<at::Tensor> out;
    for (const at::Tensor& tensor : moments_) {
      if (tensor.defined()) out.push_back(tensor);
    }
    return out;
  }

 private:
  const double weight_decay_;
  std::vector<at::Tensor> moments_;
};

}  // namespace

OptimizerEntry DeclareOptimizer_lion() {
  return {
      .declaration = {.id = "lion",
                      .title = "Lion",
                      .explanation = "one moment for each trained element; half of Adam's state",
                      .implementations = {"loop"},
                      .default_weight_decay = 0,
                      .state_elements = 1,
                      .assumes = {"torch.optim has no Lion. The implementation follows the program "
                                  "of Lion's paper, tensor by tensor"}},
      .make = [](const OptimizerConfig& config, std::vector<at::Tensor> parameters) {
        return std::make_unique<Lion>(config, std::move(parameters));
      }};
}

}  // namespace vramscope::trainer
