// Optimizers with the requests of PyTorch 2.11's own: state made in the first step, temporaries in
// the same order and with the same lifetimes, for each of its three implementations.
//
//   auto optimizer = MakeOptimizer(config, model->Parameters());
//   optimizer->Step();
//   optimizer->ZeroGrad(run::ZeroGrad::kNone);
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "profiler/run/run_config.h"

namespace vramscope::trainer {

// What a gradient scaler hands to a fused optimizer; undefined tensors: no scaler.
struct ScalerState {
  at::Tensor grad_scale;
  at::Tensor found_inf;
};

class Optimizer {
 public:
  explicit Optimizer(std::vector<at::Tensor> parameters) : parameters_(std::move(parameters)) {}
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // One update of every parameter that has a gradient. Runs without a graph.
  virtual void Step() = 0;
  // True: the scaler leaves the gradients scaled and passes its state instead.
  virtual bool TakesScaler() const { return false; }
  virtual void SetScaler(ScalerState) {}
  // Lets gradients go, or fills them with zeros (foreach form).
  virtual void ZeroGrad(run::ZeroGrad mode);

  const std::vector<at::Tensor>& parameters() const { return parameters_; }

 protected:
  std::vector<at::Tensor> parameters_;
};

// `parameters`: those that are trained, in the model's order.
std::unique_ptr<Optimizer> MakeOptimizer(const run::OptimizerConfig& config,
                                         std::vector<at::Tensor> parameters);

}  // namespace vramscope::trainer
