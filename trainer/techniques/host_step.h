// An optimizer of torch.optim that steps on the host, in plans, which do not compute the step.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "profiler/run/run_config.h"
#include "trainer/capture/host_work.h"
#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

// The duration of a step: weights, gradients and state are read, weights and state are written, at
// an assumed rate.
int64_t HostStepNs(const run::RunConfig& config, const std::vector<at::Tensor>& parameters);
// The text of this assumption in a plan.
std::string HostStepAssumption();

// For shards whose optimizer steps on the host: in a plan nothing is computed there, but time
// passes.
class HostStep final : public Optimizer {
 public:
  HostStep(const run::RunConfig& config, std::vector<at::Tensor> parameters)
      : Optimizer(std::move(parameters), 0), takes_ns_(HostStepNs(config, parameters_)) {}
  void Step() override { HostWorks(takes_ns_); }
  std::vector<at::Tensor> StateTensors() const override { return {}; }
  void ZeroGrad(ZeroGradMode mode) override {
    if (mode == ZeroGradMode::kNone) Optimizer::ZeroGrad(mode);
  }

 private:
  const int64_t takes_ns_;
};

}  // namespace vramscope::trainer
