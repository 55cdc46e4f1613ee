#include "trainer/optimizers/adam.h"

#include <torch/types.h>

#include <cmath>
#include <utility>

#include "trainer/capture/cancel.h"
#include "trainer/optimizers/group.h"
#include "trainer/optimizers/resumable.h"

namespace vramscope::trainer {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEps = 1e-8;

struct State {
  at::Tensor step;  // 0-dim fp32: on the CPU, or on the parameter's device when fused
  at::Tensor exp_avg;
  at::Tensor exp_avg_sq;
};

// Lists of the parameters that have a gradient, and of their gradients and state.
struct Work {
  std::vector<at::Tensor> parameters, gradients, exp_avgs, exp_avg_sqs, steps;
};

class Adam final : public Optimizer, public Resumable {
 public:
  Adam(const OptimizerConfig& config, std::vector<at::Tensor> parameters, bool copies_roots = false)
      : Optimizer(std::move(parameters), config.lr),
        impl_(config.impl),
        copies_roots_(copies_roots),
        decoupled_(config.name == "adamw"),
        weight_decay_(config.weight_decay),
        states_(parameters_.size()) {}

  bool TakesScaler() const override { return impl_ == OptimizerImpl::kFused; }
  void SetScaler(ScalerState state) override { scaler_ = std::move(state); }

  void Step() override {
    at::NoGradGuard no_grad;
    Work work = Collect();
    if (work.parameters.empty()) return;
    if (impl_ == OptimizerImpl::kLoop) {
      Loop(work);
      return;
    }
    for (const std::vector<size_t>& group : GroupByDtype(work.parameters)) {
      Work part{Pick(work.parameters, group), Pick(work.gradients, group),
                Pick(work.exp_avgs, group), Pick(work.exp_avg_sqs, group), Pick(work.steps, group)};
      ThrowIfCancelled();
      if (impl_ == OptimizerImpl::kForeach) {
        Foreach(part);
      } else {
        Fused(part);
      }
    }
  }

  std::vector<at::Tensor> StateTensors() const override {
    std::vector<at::Tensor> out;
    for (const State& state : states_) {
      for (const at::Tensor& tensor : {state.step, state.exp_avg, state.exp_avg_sq}) {
        if (tensor.defined()) out.push_back(tensor);
      }
    }
    return out;
  }

  std::vector<SavedTensor> SavedState() const override {
    std::vector<SavedTensor> out;
    for (const at::Tensor& p : parameters_) {
      out.push_back({.parameter = p, .counter = true, .stays = impl_ != OptimizerImpl::kFused});
      out.push_back({.parameter = p});
      out.push_back({.parameter = p});
    }
    return out;
  }
  void LoadState(std::vector<at::Tensor> tensors) override {
    for (size_t i = 0; i < states_.size(); ++i) {
      states_[i] = {tensors[3 * i], tensors[3 * i + 1], tensors[3 * i + 2]};
    }
  }

 private:
  Work Collect() {
    Work work;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const at::Tensor& p = parameters_[i];
      if (!p.grad().defined()) continue;
      State& state = states_[i];
      if (!state.step.defined()) {
        ThrowIfCancelled();
        const auto scalar = at::TensorOptions().dtype(at::kFloat);
        state.step = impl_ == OptimizerImpl::kFused
                         ? MakeState(p, [&] { return at::zeros({}, scalar.device(p.device())); })
                         : MakeState(p, [&] { return at::zeros({}, scalar); });
        state.exp_avg = MakeState(p, [&] { return at::zeros_like(p); });
        state.exp_avg_sq = MakeState(p, [&] { return at::zeros_like(p); });
      }
      work.parameters.push_back(p);
      work.gradients.push_back(p.grad());
      work.exp_avgs.push_back(state.exp_avg);
      work.exp_avg_sqs.push_back(state.exp_avg_sq);
      work.steps.push_back(state.step);
    }
    return work;
  }

  void Loop(Work& work) {
    // Variables of the Python loop. Each keeps its tensor until it is assigned again.
    at::Tensor grad, denominator;
    for (size_t i = 0; i < work.parameters.size(); ++i) {
      ThrowIfCancelled();
      at::Tensor& p = work.parameters[i];
      OwnerScope owner(StorageKey(p));
      grad = work.gradients[i];
      work.steps[i].add_(1);
      if (weight_decay_ != 0) {
        if (decoupled_) {
          p.mul_(1 - lr_ * weight_decay_);
        } else {
          grad = grad.add(p, weight_decay_);
        }
      }
      work.exp_avgs[i].lerp_(grad, 1 - kBeta1);
      work.exp_avg_sqs[i].mul_(kBeta2).addcmul_(grad, grad, 1 - kBeta2);
      const auto [correction1, correction2] = Corrections(work.steps[i]);
      at::Tensor root = work.exp_avg_sqs[i].sqrt();
      at::Tensor quotient = root / std::sqrt(correction2);
      root.reset();
      quotient.add_(kEps);
      denominator = std::move(quotient);
      p.addcdiv_(work.exp_avgs[i], denominator, -lr_ / correction1);
    }
  }

  void Foreach(Work& work) {
    // PyTorch increases step counters on the CPU by adding a tensor with the value 1. Counters are
    // on the GPU only if they were loaded there.
    if (work.steps.front().is_cpu()) {
      at::_foreach_add_(work.steps, torch::tensor(1.0f), 1.0);
    } else {
      at::_foreach_add_(work.steps, 1);
    }
    std::vector<at::Tensor> gradients = work.gradients;
    if (weight_decay_ != 0) {
      if (decoupled_) {
        at::_foreach_mul_(work.parameters, 1 - lr_ * weight_decay_);
      } else {
        gradients = at::_foreach_add(gradients, work.parameters, weight_decay_);
      }
    }
    at::_foreach_lerp_(work.exp_avgs, gradients, 1 - kBeta1);
    at::_foreach_mul_(work.exp_avg_sqs, kBeta2);
    at::_foreach_addcmul_(work.exp_avg_sqs, gradients, gradients, 1 - kBeta2);
    ReleaseList(gradients);
    std::vector<at::Scalar> step_sizes, roots;
    for (const at::Tensor& step : work.steps) {
      const auto [correction1, correction2] = Corrections(step);
      step_sizes.emplace_back(-lr_ / correction1);
      roots.emplace_back(std::sqrt(correction2));
    }
    std::vector<at::Tensor> denominators = at::_foreach_sqrt(work.exp_avg_sqs);
    at::_foreach_div_(denominators, roots);
    std::vector<at::Tensor> roots_alone;
    if (copies_roots_) {
      roots_alone = std::exchange(denominators, at::_foreach_add(denominators, kEps));
    } else {
      at::_foreach_add_(denominators, kEps);
    }
    at::_foreach_addcdiv_(work.parameters, work.exp_avgs, denominators, step_sizes);
    ReleaseList(denominators);
    ReleaseList(roots_alone);
  }

  void Fused(Work& work) {
    at::_foreach_add_(work.steps, 1);
    const auto scale = Optional(scaler_.grad_scale), found = Optional(scaler_.found_inf);
    const auto update = decoupled_ ? &CallFusedAdamW : &CallFusedAdam;
    update(work, lr_, weight_decay_, scale, found);
    if (found) {
      // A skipped update does not count as a step.
      at::_foreach_sub_(work.steps, std::vector<at::Tensor>(work.steps.size(), *found));
    }
  }

  static std::optional<at::Tensor> Optional(const at::Tensor& t) {
    return t.defined() ? std::optional<at::Tensor>(t) : std::nullopt;
  }

  static void CallFusedAdam(Work& w, double lr, double decay,
                            const std::optional<at::Tensor>& scale,
                            const std::optional<at::Tensor>& found) {
    at::_fused_adam_(w.parameters, w.gradients, w.exp_avgs, w.exp_avg_sqs, {}, w.steps, lr, kBeta1,
                     kBeta2, decay, kEps, /*amsgrad=*/false, /*maximize=*/false, scale, found);
  }

  static void CallFusedAdamW(Work& w, double lr, double decay,
                             const std::optional<at::Tensor>& scale,
                             const std::optional<at::Tensor>& found) {
    at::_fused_adamw_(w.parameters, w.gradients, w.exp_avgs, w.exp_avg_sqs, {}, w.steps, lr, kBeta1,
                      kBeta2, decay, kEps, /*amsgrad=*/false, /*maximize=*/false, scale, found);
  }

  // Returns 1 - beta^step for both moments. `step` is on the CPU.
  static std::pair<double, double> Corrections(const at::Tensor& step) {
    const double t = step.item<float>();
    return {1 - std::pow(kBeta1, t), 1 - std::pow(kBeta2, t)};
  }

  OptimizerImpl impl_;
  bool copies_roots_;
  bool decoupled_;
  double weight_decay_;
  std::vector<State> states_;
  ScalerState scaler_;
};

}  // namespace

std::unique_ptr<Optimizer> MakeAdam(const OptimizerConfig& config,
                                    std::vector<at::Tensor> parameters) {
  return std::make_unique<Adam>(config, std::move(parameters));
}

std::unique_ptr<Optimizer> MakeAdam2023(const OptimizerConfig& config,
                                        std::vector<at::Tensor> parameters) {
  return std::make_unique<Adam>(config, std::move(parameters), true);
}

OptimizerEntry DeclareOptimizer_adam() {
  return {
      .declaration = {.id = "adam",
                      .title = "Adam",
                      .explanation = "two moments for each trained element, in the element's type",
                      .implementations = {"loop", "foreach", "fused"},
                      .default_weight_decay = 0,
                      .state_elements = 2},
      .make = MakeAdam};
}

}  // namespace vramscope::trainer
