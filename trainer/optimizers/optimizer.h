// Optimizers that make the allocations of PyTorch 2.11's loop, foreach and fused implementations.
// State is allocated in the first step. The order and lifetimes of temporaries are PyTorch's.
//
//   auto optimizer = MakeOptimizer(config, trained);   // the trained tensors
//   optimizer->Step();
//   optimizer->ZeroGrad(ZeroGradMode::kNone);
//
// Each optimizer is one file of this folder, which defines DeclareOptimizer_FILE().
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "profiler/run/declarations.h"

namespace vramscope::trainer {

enum class OptimizerImpl : uint8_t { kLoop, kForeach, kFused };
enum class ZeroGradMode : uint8_t { kNone, kZero };  // free gradients, or fill them with zeros

struct OptimizerConfig {
  std::string name = "adamw";  // the name in the catalogue
  OptimizerImpl impl = OptimizerImpl::kForeach;
  double lr = 1e-3;
  double momentum = 0;
  double weight_decay = 0.01;
};

// What a gradient scaler passes to a fused optimizer. Tensors are undefined if there is no scaler.
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

  // Updates every parameter that has a gradient. Records no graph.
  virtual void Step() = 0;
  // Whether the scaler passes its state to the optimizer instead of unscaling the gradients.
  virtual bool TakesScaler() const { return false; }
  virtual void SetScaler(ScalerState) {}
  // Frees the gradients, or fills them with zeros by a foreach operator.
  virtual void ZeroGrad(ZeroGradMode mode);

  // Takes effect in the next step.
  virtual void SetLearningRate(double lr) { lr_ = lr; }
  // Returns the tensors that PyTorch's state_dict() would have, parameter by parameter.
  virtual std::vector<at::Tensor> StateTensors() const = 0;

  const std::vector<at::Tensor>& parameters() const { return parameters_; }

 protected:
  std::vector<at::Tensor> parameters_;
  double lr_;
};

// Makes an optimizer for some of the parameters.
using MakeOptimizerOf =
    std::function<std::unique_ptr<Optimizer>(const std::vector<at::Tensor>& parameters)>;

struct OptimizerEntry {
  run::OptimizerDeclaration declaration;
  // `parameters`: the trained parameters, in the model's order.
  std::function<std::unique_ptr<Optimizer>(const OptimizerConfig&,
                                           std::vector<at::Tensor> parameters)>
      make;
  // Whether the step multiplies matrices. If so, cuBLAS allocates a workspace for its thread.
  bool multiplies = false;
};
// The entries that the files of this folder declare, in order of file name.
const std::vector<OptimizerEntry>& AllOptimizers();

// Makes the optimizer that `config` names. Returns null if the name is unknown.
std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerConfig& config,
                                         std::vector<at::Tensor> parameters);

}  // namespace vramscope::trainer
