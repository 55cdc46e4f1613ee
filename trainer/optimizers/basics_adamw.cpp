#include "trainer/optimizers/basics_adamw.h"

#include <torch/types.h>

#include <cmath>
#include <utility>

#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"

namespace vramscope::trainer {
namespace {

using at::Tensor;

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEps = 1e-8;

// Two operands. Add() and Div() free them after the operation, the left operand first.
struct Temporaries {
  Tensor left, right;
};
Tensor Add(Temporaries x) {
  Tensor result = at::add(x.left, x.right);
  x.left.reset();
  x.right.reset();
  return result;
}
Tensor Div(Temporaries x) {
  Tensor result = at::div(x.left, x.right);
  x.left.reset();
  x.right.reset();
  return result;
}

class BasicsAdamW final : public Optimizer {
 public:
  BasicsAdamW(const OptimizerConfig& config, std::vector<Tensor> parameters)
      : Optimizer(std::move(parameters), config.lr), decay_(config.weight_decay) {
    states_.resize(parameters_.size());
  }

  void Step() override {
    at::NoGradGuard no_grad;
    // The variables of the Python function. Each variable keeps the tensor of one parameter until
    // it gets the next parameter's tensor.
    Tensor gradient, old_m, old_v, m, v;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      Tensor& parameter = parameters_[i];
      if (!parameter.grad().defined()) continue;
      OwnerScope owner(StorageKey(parameter));
      gradient = parameter.grad();
      State& state = states_[i];
      {
        Tensor decay = at::mul(parameter, lr_ * decay_);
        parameter.sub_(decay);
      }
      old_m = LookUp(state.m, gradient);
      old_v = LookUp(state.v, gradient);
      m = Add({at::mul(old_m, kBeta1), at::mul(gradient, 1 - kBeta1)});
      v = Add({at::mul(old_v, kBeta2), Scaled(at::square(gradient), 1 - kBeta2)});
      const double t = ++state.steps;
      const double rate = lr_ * std::sqrt(1 - std::pow(kBeta2, t)) / (1 - std::pow(kBeta1, t));
      {
        Tensor update = Div({at::mul(m, rate), PlusEps(at::sqrt(v))});
        parameter.sub_(update);
      }
      TagStorage(m, trace::Category::kOptimizerState, "optimizer state");
      TagStorage(v, trace::Category::kOptimizerState, "optimizer state");
      state.m = m;
      state.v = v;
    }
    gradient.reset();
    old_m.reset();
    old_v.reset();
    m.reset();
    v.reset();
  }

  std::vector<at::Tensor> StateTensors() const override {
    std::vector<at::Tensor> out;
    for (const State& state : states_) {
      for (const at::Tensor& tensor : {state.m, state.v}) {
        if (tensor.defined()) out.push_back(tensor);
      }
    }
    return out;
  }

 private:
  struct State {
    Tensor m, v;
    int steps = 0;
  };

  // Like dict.get(key, zeros), each call creates the zeros, even if the entry exists.
  static Tensor LookUp(const Tensor& entry, const Tensor& like) {
    Tensor zeros = at::zeros_like(like);
    return entry.defined() ? entry : zeros;
  }
  static Tensor Scaled(Tensor x, double factor) {
    Tensor result = at::mul(x, factor);
    x.reset();
    return result;
  }
  static Tensor PlusEps(Tensor x) {
    Tensor result = at::add(x, kEps);
    x.reset();
    return result;
  }

  double decay_;
  std::vector<State> states_;
};

}  // namespace

std::unique_ptr<Optimizer> MakeBasicsAdamW(const OptimizerConfig& config,
                                           std::vector<Tensor> parameters) {
  return std::make_unique<BasicsAdamW>(config, std::move(parameters));
}

}  // namespace vramscope::trainer
