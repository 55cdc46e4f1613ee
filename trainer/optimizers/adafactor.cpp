// Adafactor, after torch/optim/_adafactor.py of PyTorch 2.11: _single_tensor_adafactor (PyTorch's
// default) and _multi_tensor_adafactor. The second moments of a matrix are stored as one row and
// one column, not as a whole matrix. There is no first moment.
#include <torch/types.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "trainer/capture/cancel.h"
#include "trainer/optimizers/group.h"
#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {
namespace {

constexpr double kBeta2Decay = -0.8;
constexpr double kEps2 = 1e-3;
constexpr double kClip = 1;  // the limit of an update's root mean square ("d" in PyTorch)

struct State {
  at::Tensor step;              // 0-dim fp32 on the CPU
  at::Tensor row_var, col_var;  // state of a matrix
  at::Tensor variance;          // state of a vector
};

double Epsilon(at::ScalarType type) {
  switch (type) {
    case at::kBFloat16:
      return 0.0078125;
    case at::kHalf:
      return 0.0009765625;
    case at::kDouble:
      return std::numeric_limits<double>::epsilon();
    default:
      return std::numeric_limits<float>::epsilon();
  }
}

// Returns the root mean square, which is 0 on a device that computes nothing.
double RootMeanSquare(const at::Tensor& tensor) {
  return tensor.norm(2).item<double>() / std::sqrt(static_cast<double>(tensor.numel()));
}

class Adafactor final : public Optimizer {
 public:
  Adafactor(const OptimizerConfig& config, std::vector<at::Tensor> parameters)
      : Optimizer(std::move(parameters), config.lr),
        foreach_(config.impl == OptimizerImpl::kForeach),
        weight_decay_(config.weight_decay),
        states_(parameters_.size()) {}

  void Step() override {
    at::NoGradGuard no_grad;
    std::vector<size_t> indices;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (!parameters_[i].grad().defined()) continue;
      indices.push_back(i);
      if (!states_[i].step.defined()) states_[i] = MakeStates(parameters_[i]);
    }
    // As in PyTorch, the type of the first parameter with a gradient determines all epsilons.
    if (indices.empty()) return;
    eps1_ = Epsilon(parameters_[indices.front()].scalar_type());
    if (!foreach_) {
      for (size_t i : indices) {
        ThrowIfCancelled();
        Single(i);
      }
      Forget();
      return;
    }
    for (const std::vector<size_t>& group : Groups(indices)) {
      ThrowIfCancelled();
      Multi(group);
    }
    ReleaseList(updates_);
  }

  std::vector<at::Tensor> StateTensors() const override {
    std::vector<at::Tensor> out;
    for (const State& state : states_) {
      for (const at::Tensor& tensor : {state.step, state.row_var, state.col_var, state.variance}) {
        if (tensor.defined()) out.push_back(tensor);
      }
    }
    return out;
  }

 private:
  static State MakeStates(const at::Tensor& parameter) {
    const at::Tensor gradient = parameter.grad();
    State state;
    state.step = at::zeros({}, at::TensorOptions().dtype(at::kFloat));
    if (gradient.dim() > 1) {
      const auto factor = [&](int64_t dim) {
        std::vector<int64_t> shape = gradient.sizes().vec();
        shape[static_cast<size_t>(gradient.dim() + dim)] = 1;
        return MakeState(parameter, [&] { return gradient.new_zeros(shape); });
      };
      state.row_var = factor(-1);
      state.col_var = factor(-2);
    } else {
      state.variance = MakeState(parameter, [&] { return at::zeros_like(gradient); });
    }
    return state;
  }

  // Groups parameters of equal type, in order of first appearance. Matrices and other tensors are
  // in separate groups.
  std::vector<std::vector<size_t>> Groups(const std::vector<size_t>& indices) const {
    std::vector<std::pair<std::pair<at::ScalarType, bool>, std::vector<size_t>>> groups;
    std::vector<at::Tensor> tensors;
    for (size_t i : indices) tensors.push_back(parameters_[i]);
    for (const std::vector<size_t>& same : GroupByDtype(tensors)) {
      for (size_t at : same) {
        const std::pair key{tensors[at].scalar_type(), tensors[at].dim() > 1};
        auto it = std::find_if(groups.begin(), groups.end(),
                               [&](const auto& group) { return group.first == key; });
        if (it == groups.end()) it = groups.insert(it, {key, {}});
        it->second.push_back(indices[at]);
      }
    }
    std::vector<std::vector<size_t>> out;
    for (auto& group : groups) out.push_back(std::move(group.second));
    return out;
  }

  struct Rates {
    double one_minus_beta2, alpha;
  };
  Rates RatesOf(const at::Tensor& parameter, const at::Tensor& step) const {
    const double t = step.item<float>();
    const double rho = std::min(lr_, 1 / std::sqrt(t));
    return {std::pow(t, kBeta2Decay), std::max(kEps2, RootMeanSquare(parameter)) * rho};
  }

  void Single(size_t i) {
    at::Tensor parameter = parameters_[i];
    const at::Tensor gradient = parameter.grad();
    State& state = states_[i];
    state.step += 1;
    const Rates rates = RatesOf(parameter, state.step);
    if (weight_decay_ != 0) parameter.mul_(1 - lr_ * weight_decay_);
    // As in Python, each variable keeps its tensor until a new one is assigned.
    if (gradient.dim() > 1) {
      row_mean_ = at::norm(gradient, 2, {-1}, /*keepdim=*/true).square_().div_(gradient.size(-1));
      state.row_var.lerp_(row_mean_, rates.one_minus_beta2);
      col_mean_ = at::norm(gradient, 2, {-2}, /*keepdim=*/true).square_().div_(gradient.size(-2));
      state.col_var.lerp_(col_mean_, rates.one_minus_beta2);
      var_estimate_ = at::matmul(state.row_var, state.col_var);
      var_estimate_.div_(state.row_var.mean({-2}, /*keepdim=*/true).clamp_min_(eps1_));
    } else {
      grad_squared_ = gradient * gradient;
      state.variance.lerp_(grad_squared_, rates.one_minus_beta2);
      var_estimate_ = state.variance.clone();
    }
    update_ = var_estimate_.clamp_min_(eps1_ * eps1_).rsqrt_();
    update_.mul_(gradient);
    const double denominator = std::max(1.0, RootMeanSquare(update_) / kClip);
    parameter.add_(update_, -rates.alpha / denominator);
  }
  void Forget() {
    row_mean_.reset();
    col_mean_.reset();
    var_estimate_.reset();
    grad_squared_.reset();
    update_.reset();
  }

  void Multi(const std::vector<size_t>& group) {
    const std::vector<at::Tensor> parameters = Pick(parameters_, group);
    std::vector<at::Tensor> gradients, rows, columns, variances;
    std::vector<Rates> rates;
    for (size_t i : group) {
      gradients.push_back(parameters_[i].grad());
      states_[i].step += 1;
      rows.push_back(states_[i].row_var);
      columns.push_back(states_[i].col_var);
      variances.push_back(states_[i].variance);
    }
    for (size_t i : group) rates.push_back(RatesOf(parameters_[i], states_[i].step));
    std::vector<at::Scalar> weights;
    for (const Rates& r : rates) weights.emplace_back(r.one_minus_beta2);
    if (weight_decay_ != 0) at::_foreach_mul_(parameters, 1 - lr_ * weight_decay_);
    // the previous group's updates live until this group's updates are complete
    std::vector<at::Tensor> updates;
    if (gradients.front().dim() > 1) {
      Factor(gradients, rows, weights, -1);
      Factor(gradients, columns, weights, -2);
      for (size_t i = 0; i < rows.size(); ++i) updates.push_back(at::matmul(rows[i], columns[i]));
      std::vector<at::Tensor> means;
      for (const at::Tensor& row : rows) means.push_back(row.mean({-2}, /*keepdim=*/true));
      at::_foreach_clamp_min_(means, eps1_);
      at::_foreach_div_(updates, means);
      ReleaseList(means);
    } else {
      std::vector<at::Tensor> squares = at::_foreach_mul(gradients, gradients);
      at::_foreach_lerp_(variances, squares, weights);
      ReleaseList(squares);
      for (const at::Tensor& variance : variances) updates.push_back(variance.clone());
    }
    at::_foreach_clamp_min_(updates, eps1_ * eps1_);
    at::_foreach_rsqrt_(updates);
    at::_foreach_mul_(updates, gradients);
    ReleaseList(updates_);
    updates_ = std::move(updates);
    std::vector<at::Scalar> alphas;
    for (size_t i = 0; i < updates_.size(); ++i) {
      alphas.emplace_back(-rates[i].alpha / std::max(1.0, RootMeanSquare(updates_[i]) / kClip));
    }
    at::_foreach_mul_(updates_, alphas);
    at::_foreach_add_(parameters, updates_);
  }
  static void Factor(const std::vector<at::Tensor>& gradients, std::vector<at::Tensor>& factors,
                     const std::vector<at::Scalar>& weights, int64_t dim) {
    std::vector<at::Tensor> means;
    std::vector<at::Scalar> sizes;
    for (const at::Tensor& gradient : gradients) {
      means.push_back(at::norm(gradient, 2, {dim}, /*keepdim=*/true));
      sizes.emplace_back(gradient.size(dim));
    }
    at::_foreach_mul_(means, means);
    at::_foreach_div_(means, sizes);
    at::_foreach_lerp_(factors, means, weights);
    ReleaseList(means);
  }

  const bool foreach_;
  const double weight_decay_;
  double eps1_ = 0;
  std::vector<State> states_;
  at::Tensor row_mean_, col_mean_, var_estimate_, grad_squared_, update_;  // variables of Single()
  std::vector<at::Tensor> updates_;                                        // variables of Multi()
};

}  // namespace

OptimizerEntry DeclareOptimizer_adafactor() {
  return {.declaration = {.id = "adafactor",
                          .title = "Adafactor",
                          .explanation = "keeps one row and one column of second moments for each "
                                         "matrix, and no first moment",
                          .implementations = {"loop", "foreach"},
                          .default_weight_decay = 0,
                          .state_elements = -1},
          .make =
              [](const OptimizerConfig& config, std::vector<at::Tensor> parameters) {
                return std::make_unique<Adafactor>(config, std::move(parameters));
              },
          .multiplies = true};
}

}  // namespace vramscope::trainer
