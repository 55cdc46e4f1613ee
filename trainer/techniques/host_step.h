// How long an optimizer of torch.optim steps on the host, for plans, which leave it out.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "profiler/run/run_config.h"

namespace vramscope::trainer {

// Weights, gradients and state are read, weights and state written, at what PyTorch's own loop over
// tensors reaches on a server.
inline constexpr double kHostStepBytesPerSecond = 20e9;
int64_t HostStepNs(const run::RunConfig& config, const std::vector<at::Tensor>& parameters);

}  // namespace vramscope::trainer
