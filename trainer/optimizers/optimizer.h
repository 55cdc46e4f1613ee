// Optimizers with the requests of PyTorch 2.11's own: state made in the first step, temporaries in
// the same order and with the same lifetimes, for each of its three implementations.
//
//   auto optimizer = MakeOptimizer(config, model->Parameters());
//   optimizer->Step();
//   optimizer->ZeroGrad(ZeroGradMode::kNone);
//
// An optimizer is one file of this folder that defines DeclareOptimizer_FILE().
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "profiler/run/declarations.h"

namespace vramscope::trainer {

enum class OptimizerImpl : uint8_t { kLoop, kForeach, kFused };
enum class ZeroGradMode : uint8_t { kNone, kZero };  // let gradients go, or fill them with zeros

struct OptimizerConfig {
  std::string name = "adamw";  // of the catalogue
  OptimizerImpl impl = OptimizerImpl::kForeach;
  double lr = 1e-3;
  double momentum = 0;
  double weight_decay = 0.01;
};

// What a gradient scaler hands to a fused optimizer; undefined tensors: no scaler.
struct ScalerState {
  at::Tensor grad_scale;
  at::Tensor found_inf;
};

class Optimizer {
 public:
  Optimizer(std::vector<at::Tensor> parameters, double lr)
      : parameters_(std::move(parameters)), lr_(lr) {}
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // One update of every parameter that has a gradient. Runs without a graph.
  virtual void Step() = 0;
  // True: the scaler leaves the gradients scaled and passes its state instead.
  virtual bool TakesScaler() const { return false; }
  virtual void SetScaler(ScalerState) {}
  // Lets gradients go, or fills them with zeros (foreach form).
  virtual void ZeroGrad(ZeroGradMode mode);

  // From the next step on.
  virtual void SetLearningRate(double lr) { lr_ = lr; }
  // What state_dict() has of it, parameter by parameter.
  virtual std::vector<at::Tensor> StateTensors() const = 0;

  const std::vector<at::Tensor>& parameters() const { return parameters_; }

 protected:
  std::vector<at::Tensor> parameters_;
  double lr_;
};

// An optimizer of some of the parameters.
using MakeOptimizerOf =
    std::function<std::unique_ptr<Optimizer>(const std::vector<at::Tensor>& parameters)>;

struct OptimizerEntry {
  run::OptimizerDeclaration declaration;
  // `parameters`: those that are trained, in the model's order.
  std::function<std::unique_ptr<Optimizer>(const OptimizerConfig&,
                                           std::vector<at::Tensor> parameters)>
      make;
  // Its step multiplies matrices, for which cuBLAS has a workspace of the thread that steps.
  bool multiplies = false;
};
// What the files of this folder declare, by file name.
const std::vector<OptimizerEntry>& AllOptimizers();

// Of the name that `config` says; null: none is called so.
std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerConfig& config,
                                         std::vector<at::Tensor> parameters);

}  // namespace vramscope::trainer
