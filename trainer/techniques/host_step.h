// Models the step of a torch.optim optimizer on the host: it takes time, but computes nothing.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "profiler/run/run_config.h"
#include "trainer/capture/host_work.h"
#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

// Returns how long a step takes at an assumed number of bytes per second. It reads weights,
// gradients and state, and writes weights and state.
int64_t HostStepNs(const run::RunConfig& config, const std::vector<at::Tensor>& parameters);
// Returns a text that states the assumed bytes per second, for the plan's list of assumptions.
std::string HostStepAssumption();

// An optimizer of offloaded shards, whose step runs on the host. It computes nothing, but takes
// time.
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
