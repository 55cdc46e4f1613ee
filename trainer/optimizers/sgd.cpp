// Stochastic gradient descent, after torch/optim/sgd.py of PyTorch 2.11: _single_tensor_sgd,
// _multi_tensor_sgd, _fused_sgd. Dampening 0, no Nesterov.
#include <torch/types.h>

#include "trainer/capture/cancel.h"
#include "trainer/optimizers/group.h"
#include "trainer/optimizers/optimizer.h"
#include "trainer/optimizers/resumable.h"

namespace vramscope::trainer {
namespace {

class Sgd final : public Optimizer, public Resumable {
 public:
  Sgd(const OptimizerConfig& config, std::vector<at::Tensor> parameters)
      : Optimizer(std::move(parameters), config.lr),
        impl_(config.impl),
        momentum_(config.momentum),
        weight_decay_(config.weight_decay),
        buffers_(parameters_.size()) {}

  bool TakesScaler() const override { return impl_ == OptimizerImpl::kFused; }
  void SetScaler(ScalerState state) override { scaler_ = std::move(state); }

  void Step() override {
    at::NoGradGuard no_grad;
    std::vector<size_t> indices;
    std::vector<at::Tensor> parameters, gradients;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (!parameters_[i].grad().defined()) continue;
      indices.push_back(i);
      parameters.push_back(parameters_[i]);
      gradients.push_back(parameters_[i].grad());
    }
    if (parameters.empty()) return;
    if (impl_ == OptimizerImpl::kLoop) {
      Loop(indices, parameters, gradients);
      return;
    }
    for (const std::vector<size_t>& group : GroupByDtype(parameters)) {
      ThrowIfCancelled();
      std::vector<size_t> own;
      for (size_t i : group) own.push_back(indices[i]);
      if (impl_ == OptimizerImpl::kForeach) {
        Foreach(own, Pick(parameters, group), Pick(gradients, group));
      } else {
        Fused(own, Pick(parameters, group), Pick(gradients, group));
      }
    }
  }

  std::vector<at::Tensor> StateTensors() const override {
    std::vector<at::Tensor> out;
    for (const at::Tensor& tensor : buffers_) {
      if (tensor.defined()) out.push_back(tensor);
    }
    return out;
  }

  std::vector<SavedTensor> SavedState() const override {
    std::vector<SavedTensor> out;
    if (momentum_ == 0) return out;
    for (const at::Tensor& p : parameters_) out.push_back({.parameter = p});
    return out;
  }
  void LoadState(std::vector<at::Tensor> tensors) override {
    if (momentum_ != 0) buffers_ = std::move(tensors);
  }

 private:
  void Loop(const std::vector<size_t>& indices, std::vector<at::Tensor>& parameters,
            const std::vector<at::Tensor>& gradients) {
    at::Tensor grad;  // kept until the next parameter rebinds it
    for (size_t i = 0; i < parameters.size(); ++i) {
      ThrowIfCancelled();
      OwnerScope owner(StorageKey(parameters[i]));
      grad = gradients[i];
      if (weight_decay_ != 0) grad = grad.add(parameters[i], weight_decay_);
      if (momentum_ != 0) {
        at::Tensor& buffer = buffers_[indices[i]];
        if (!buffer.defined()) {
          buffer = MakeState(parameters[i], [&] { return grad.clone(); });
        } else {
          buffer.mul_(momentum_).add_(grad);
        }
        grad = buffer;
      }
      parameters[i].add_(grad, -lr_);
    }
  }

  void Foreach(const std::vector<size_t>& indices, std::vector<at::Tensor> parameters,
               std::vector<at::Tensor> gradients) {
    if (weight_decay_ != 0) gradients = at::_foreach_add(gradients, parameters, weight_decay_);
    if (momentum_ != 0) {
      std::vector<at::Tensor> buffers = BuffersOf(indices);
      if (AllDefined(buffers)) {
        at::_foreach_mul_(buffers, momentum_);
        at::_foreach_add_(buffers, gradients);
      } else {
        for (size_t i = 0; i < buffers.size(); ++i) {
          if (!buffers[i].defined()) {
            buffers[i] = MakeState(parameters[i], [&] { return gradients[i].clone(); });
          } else {
            buffers[i].mul_(momentum_).add_(gradients[i]);
          }
        }
        Store(indices, buffers);
      }
      ReleaseList(gradients);
      gradients = std::move(buffers);
    }
    at::_foreach_add_(parameters, gradients, -lr_);
    ReleaseList(gradients);
  }

  void Fused(const std::vector<size_t>& indices, std::vector<at::Tensor> parameters,
             std::vector<at::Tensor> gradients) {
    std::vector<at::Tensor> buffers;
    bool first = false;
    if (momentum_ != 0) {
      buffers = BuffersOf(indices);
      first = !AllDefined(buffers);
      if (first) {
        for (size_t i = 0; i < buffers.size(); ++i) {
          buffers[i] = MakeState(parameters[i], [&] { return at::empty_like(gradients[i]); });
        }
        Store(indices, buffers);
      }
    }
    const auto optional = [](const at::Tensor& t) {
      return t.defined() ? std::optional<at::Tensor>(t) : std::nullopt;
    };
    at::_fused_sgd_(parameters, gradients, buffers, weight_decay_, momentum_, lr_,
                    /*dampening=*/0.0, /*nesterov=*/false, /*maximize=*/false, first,
                    optional(scaler_.grad_scale), optional(scaler_.found_inf));
  }

  std::vector<at::Tensor> BuffersOf(const std::vector<size_t>& indices) const {
    return Pick(buffers_, indices);
  }
  void Store(const std::vector<size_t>& indices, const std::vector<at::Tensor>& buffers) {
    for (size_t i = 0; i < indices.size(); ++i) buffers_[indices[i]] = buffers[i];
  }
  static bool AllDefined(const std::vector<at::Tensor>& tensors) {
    for (const at::Tensor& tensor : tensors) {
      if (!tensor.defined()) return false;
    }
    return true;
  }

  OptimizerImpl impl_;
  double momentum_, weight_decay_;
  std::vector<at::Tensor> buffers_;
  ScalerState scaler_;
};

}  // namespace

OptimizerEntry DeclareOptimizer_sgd() {
  return {
      .declaration = {.id = "sgd",
                      .title = "SGD",
                      .explanation =
                          "no state; with momentum, one tensor as large as the trained parameters",
                      .implementations = {"loop", "foreach", "fused"},
                      .default_weight_decay = 0,
                      .state_elements = 0},
      .make = [](const OptimizerConfig& config, std::vector<at::Tensor> parameters) {
        return std::make_unique<Sgd>(config, std::move(parameters));
      }};
}

}  // namespace vramscope::trainer
