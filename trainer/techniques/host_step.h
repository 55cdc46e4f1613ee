// An optimizer of torch.optim that steps on the host. A plan does not compute the step.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "profiler/run/run_config.h"
#include "trainer/capture/host_work.h"
#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

// Returns how long a step takes to read weights, gradients and state and write weights and state,
// at an assumed number of bytes per second.
int64_t HostStepNs(const run::RunConfig& config, const std::vector<at::Tensor>& parameters);
// Returns the text of this assumption, for the plan's list of assumptions.
std::string HostStepAssumption();

// Steps on the host, for offloaded shards. In a plan, it computes nothing, but takes time.
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
