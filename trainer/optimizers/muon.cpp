// Muon orthogonalizes each matrix's momentum with five Newton-Schulz steps in 16 bits (Jordan et
// al. 2024). Makes the allocations of torch.optim.Muon, which accepts only matrices. AdamW updates
// the other parameters, as in every script that uses Muon.
#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "trainer/capture/cancel.h"
#include "trainer/optimizers/adam.h"
#include "trainer/optimizers/group.h"

namespace vramscope::trainer {
namespace {

constexpr double kMomentum = 0.95, kEps = 1e-7;
constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;
constexpr int kRounds = 5;

std::vector<at::Tensor> Filtered(const std::vector<at::Tensor>& all, bool matrices) {
  std::vector<at::Tensor> out;
  for (const at::Tensor& tensor : all) {
    if ((tensor.dim() == 2) == matrices) out.push_back(tensor);
  }
  return out;
}

class Muon final : public Optimizer {
 public:
  Muon(const OptimizerConfig& config, std::vector<at::Tensor> parameters)
      : Optimizer(std::move(parameters), config.lr),
        weight_decay_(config.weight_decay),
        matrices_(Filtered(parameters_, true)),
        moments_(matrices_.size()) {
    OptimizerConfig adamw = config;
    adamw.name = "adamw";
    adamw.impl = OptimizerImpl::kForeach;
    std::vector<at::Tensor> others = Filtered(parameters_, false);
    if (!others.empty()) others_ = MakeAdam(adamw, std::move(others));
  }

  void Step() override {
    at::NoGradGuard no_grad;
    for (size_t i = 0; i < matrices_.size(); ++i) {
      if (matrices_[i].grad().defined() && !moments_[i].defined()) {
        moments_[i] = MakeState(matrices_[i], [&] { return at::zeros_like(matrices_[i].grad()); });
      }
    }
    at::Tensor update;  // a variable of the Python loop, replaced at the next matrix
    for (size_t i = 0; i < matrices_.size(); ++i) {
      at::Tensor& parameter = matrices_[i];
      const at::Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      ThrowIfCancelled();
      const OwnerScope owner(StorageKey(parameter));
      moments_[i].lerp_(gradient, 1 - kMomentum);
      update = gradient.lerp(moments_[i], kMomentum);
      update = Orthogonal(update);
      const double rows = static_cast<double>(parameter.size(0));
      const double columns = static_cast<double>(parameter.size(1));
      parameter.mul_(1 - lr_ * weight_decay_);
      parameter.add_(update, -lr_ * std::sqrt(std::max(1.0, rows / columns)));
    }
    update.reset();
    if (others_) others_->Step();
  }
  void SetLearningRate(double lr) override {
    lr_ = lr;
    if (others_) others_->SetLearningRate(lr);
  }
  std::vector<at::Tensor> StateTensors() const override {
    std::vector<at::Tensor> out;
    for (const at::Tensor& moment : moments_) {
      if (moment.defined()) out.push_back(moment);
    }
    if (!others_) return out;
    for (const at::Tensor& tensor : others_->StateTensors()) out.push_back(tensor);
    return out;
  }

 private:
  // torch/optim/_muon.py, _zeropower_via_newtonschulz.
  static at::Tensor Orthogonal(const at::Tensor& matrix) {
    at::Tensor turned = matrix.to(at::kBFloat16);
    const bool tall = matrix.size(0) > matrix.size(1);
    if (tall) turned = turned.t();
    {
      const at::Tensor norm = turned.norm();
      turned.div_(norm.clamp_min(kEps));
    }
    at::Tensor gram, step;
    for (int round = 0; round < kRounds; ++round) {
      gram = at::matmul(turned, turned.t());
      step = at::addmm(gram, gram, gram, kB, kC);
      turned = at::addmm(turned, step, turned, kA);
    }
    return tall ? turned.t() : turned;
  }

  const double weight_decay_;
  std::vector<at::Tensor> matrices_, moments_;
  std::unique_ptr<Optimizer> others_;  // AdamW; null if every parameter is a matrix
};

}  // namespace

OptimizerEntry DeclareOptimizer_muon() {
  return {
      .declaration = {.id = "muon",
                      .title = "Muon",
                      .explanation = "one moment for each matrix, half of Adam's state; for each "
                                     "matrix, the step computes fifteen matrix products in 16 bits",
                      .implementations = {"loop"},
                      .default_weight_decay = 0.1,
                      .state_elements = 1,
                      .assumes = {"Muon updates every matrix, including embeddings; AdamW "
                                  "(foreach) updates the other parameters"}},
      .make =
          [](const OptimizerConfig& config, std::vector<at::Tensor> parameters) {
            return std::make_unique<Muon>(config, std::move(parameters));
          },
      .multiplies = true};
}

}  // namespace vramscope::trainer
