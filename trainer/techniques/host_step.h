// An optimizer of torch.optim that steps on the host, in plans, which leave its computing out.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "profiler/run/run_config.h"
#include "trainer/capture/host_work.h"
#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

// How long it would take: weights, gradients and state are read, weights and state written, at a
// rate that is assumed.
int64_t HostStepNs(const run::RunConfig& config, const std::vector<at::Tensor>& parameters);
// What a plan says of that.
std::string HostStepAssumption();

// Shards whose optimizer steps on the host, where nothing computes in a plan but time passes.
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
