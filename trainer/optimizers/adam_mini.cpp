// Adam-mini: Adam with one second moment for each block of elements (Zhang et al. 2024). Each row
// of a matrix is a block; any other tensor is one block. Makes the allocations of the adam-mini
// package for a model whose parameter names do not mention queries and keys.
#include <torch/types.h>

#include <cmath>

#include "trainer/capture/cancel.h"
#include "trainer/optimizers/group.h"
#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-8;

struct State {
  int64_t step = 0;
  at::Tensor moment, mean;
};

class AdamMini final : public Optimizer {
 public:
  AdamMini(const OptimizerConfig& config, std::vector<at::Tensor> parameters)
      : Optimizer(std::move(parameters), config.lr),
        weight_decay_(config.weight_decay),
        states_(parameters_.size()) {}

  void Step() override {
    at::NoGradGuard no_grad;
    Locals locals;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (!parameters_[i].grad().defined()) continue;
      ThrowIfCancelled();
      const OwnerScope owner(StorageKey(parameters_[i]));
      Update(parameters_[i], states_[i], locals);
    }
  }
  std::vector<at::Tensor> StateTensors() const override {
    std::vector<at::Tensor> out;
    for (const State& state : states_) {
      for (const at::Tensor& tensor : {state.moment, state.mean}) {
        if (tensor.defined()) out.push_back(tensor);
      }
    }
    return out;
  }

 private:
  // Variables of the package's step. Each keeps its tensor until it is assigned again.
  struct Locals {
    at::Tensor count, mean, root, size, update;
  };

  void Update(at::Tensor& parameter, State& state, Locals& locals) const {
    const bool rows = parameter.dim() == 2;
    const at::Tensor gradient = parameter.grad();
    if (!state.moment.defined()) {
      if (!rows) {
        locals.count = at::scalar_tensor(static_cast<double>(parameter.numel()), at::kFloat)
                           .to(parameter.device(), /*non_blocking=*/false, /*copy=*/true);
      }
      state.moment = MakeState(parameter, [&] { return at::zeros_like(parameter); });
      const at::Tensor shape = rows ? state.moment.slice(1, 0, 1) : (parameter * parameter).sum();
      state.mean = MakeState(parameter, [&] { return at::zeros_like(shape); });
    }
    if (rows) {
      locals.mean = (gradient * gradient).mean(1, /*keepdim=*/true);
    } else {
      locals.mean = (gradient * gradient).sum();
      locals.mean = locals.mean / static_cast<double>(parameter.numel());
    }
    if (weight_decay_ > 0) parameter.mul_(1 - lr_ * weight_decay_);
    ++state.step;
    state.moment.lerp_(gradient, 1 - kBeta1);
    state.mean.mul_(kBeta2).add_(locals.mean, 1 - kBeta2);
    const auto t = static_cast<double>(state.step);
    locals.root = (state.mean.sqrt() / std::sqrt(1 - std::pow(kBeta2, t))).add_(kEps);
    locals.size = locals.root.reciprocal() * (1 / (1 - std::pow(kBeta1, t)));
    locals.update = state.moment * locals.size;
    locals.update.mul_(lr_);
    parameter.add_(-locals.update);
  }

  const double weight_decay_;
  std::vector<State> states_;
};

}  // namespace

OptimizerEntry DeclareOptimizer_adam_mini() {
  return {
      .declaration =
          {.id = "adam-mini",
           .title = "Adam-mini",
           .explanation =
               "one moment for each trained element, and one number per row; half of Adam's state",
           .implementations = {"loop"},
           .default_weight_decay = 0,
           .state_elements = 1,
           .assumes = {"Adam-mini uses one block per row of a matrix, also for queries and keys. "
                       "torch.optim has no Adam-mini"}},
      .make = [](const OptimizerConfig& config, std::vector<at::Tensor> parameters) {
        return std::make_unique<AdamMini>(config, std::move(parameters));
      }};
}

}  // namespace vramscope::trainer
