// torch.distributed.optim.ZeroRedundancyOptimizer (ZeRO-1): whole parameters are dealt out to the
// ranks, each steps its own and sends them to all others.
//
//   auto optimizer = MakeZeroRedundancy(group, make_adamw, trained);
//   optimizer->Step();                  // state for the parameters of this rank alone
//
// For devices that compute nothing: what other ranks step is not computed.
//
// On the loop's thread.
#pragma once

#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

// The largest first, each to the rank that has least: what each rank steps, in this order.
std::vector<std::vector<at::Tensor>> DealOut(const std::vector<at::Tensor>& parameters, int ranks);

// `make`: of the parameters that are a rank's own.
std::unique_ptr<Optimizer> MakeZeroRedundancy(c10::intrusive_ptr<c10d::ProcessGroup> group,
                                              MakeOptimizerOf make,
                                              std::vector<at::Tensor> parameters);

}  // namespace vramscope::trainer
