// Adam whose moments are kept in fewer bits than it computes with: in a type of their own, or as
// codes with an fp32 scale for each block. How a library lays a moment out is the library's; what
// is done with it is the same.
//
//   auto adam = std::make_unique<QuantisedAdam>(config, trained, make_moments, plan_update,
//   computes);
//
// `make_moments` is called for each parameter in the first step, in their order. In a plan, which
// computes nothing, a parameter's update is what `plan_update` does: it allocates what the
// library's kernels borrow and launches them (modelled_kernel.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

struct QuantisedMoment {
  at::Tensor codes = {};  // a byte for each element (8 bits) or for two (4); no scale: as they are
  at::Tensor scale = {};  // of each block
  at::Tensor table = {};  // what a code stands for, where each moment has one
  int bits = 8;
  int64_t block = 256;
};

struct QuantisedMoments {
  QuantisedMoment first = {}, second = {};
};

// What an update in place reads and writes: the gradient once; the weight, both moments and their
// scales twice.
uint64_t BytesOfUpdate(const at::Tensor& parameter, const QuantisedMoments& moments);

class QuantisedAdam final : public Optimizer {
 public:
  using MakeMoments = std::function<QuantisedMoments(const at::Tensor& parameter)>;

  using PlanUpdate =
      std::function<void(const at::Tensor& parameter, const QuantisedMoments& moments)>;

  QuantisedAdam(const OptimizerConfig& config, std::vector<at::Tensor> parameters, MakeMoments make,
                PlanUpdate plan_update, bool computes);

  void Step() override;
  std::vector<at::Tensor> StateTensors() const override;

 private:
  struct State {
    int64_t step = 0;
    QuantisedMoments moments;
  };
  void Update(at::Tensor& parameter, State& state) const;

  const double weight_decay_;
  const bool decoupled_;
  const MakeMoments make_;
  const PlanUpdate plan_update_;
  const bool computes_;
  std::vector<State> states_;
};

}  // namespace vramscope::trainer
