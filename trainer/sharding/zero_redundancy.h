// torch.distributed.optim.ZeroRedundancyOptimizer (ZeRO-1): each parameter belongs to one rank. A
// rank updates its own parameters and broadcasts them to the other ranks.
//
//   auto optimizer = MakeZeroRedundancy(group, make_adamw, trained);
//   optimizer->Step();                  // state only for the parameters of this rank
//
// Only for devices that compute nothing, because the other ranks' updates do not exist.
//
// Used on the loop's thread.
#pragma once

#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

// Assigns each parameter, beginning with the largest, to the rank with the fewest elements so far.
// Returns each rank's parameters, in order of assignment.
std::vector<std::vector<at::Tensor>> DealOut(const std::vector<at::Tensor>& parameters, int ranks);

// `make`: makes an optimizer for a rank's own parameters.
std::unique_ptr<Optimizer> MakeZeroRedundancy(c10::intrusive_ptr<c10d::ProcessGroup> group,
                                              MakeOptimizerOf make,
                                              std::vector<at::Tensor> parameters);

}  // namespace vramscope::trainer
