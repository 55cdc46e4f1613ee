#include "trainer/techniques/host_step.h"

#include <fmt/format.h>

#include <algorithm>

namespace vramscope::trainer {
namespace {

constexpr double kBytesPerSecond = 20e9;

}  // namespace

std::string HostStepAssumption() {
  return fmt::format("the optimizer's step on the host processes {} GB per second",
                     kBytesPerSecond / 1e9);
}

int64_t HostStepNs(const run::RunConfig& config, const std::vector<at::Tensor>& parameters) {
  double bytes = 0;
  for (const at::Tensor& parameter : parameters) {
    bytes += static_cast<double>(parameter.numel()) * static_cast<double>(parameter.element_size());
  }
  double state = 0;
  for (const OptimizerEntry& entry : AllOptimizers()) {
    if (entry.declaration.id == config.Get("optimizer.name")) {
      state = std::max(0.0, entry.declaration.state_elements);
    }
  }
  return static_cast<int64_t>(bytes * (3 + 2 * state) / kBytesPerSecond * 1e9);
}

}  // namespace vramscope::trainer
