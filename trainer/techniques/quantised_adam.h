// Adam that computes in fp32 but stores its moments in fewer bits: in another type, or as codes
// with an fp32 scale for each block. Libraries' optimizers differ only in how they store moments.
//
//   auto adam = std::make_unique<QuantisedAdam>(
//       config, trained, make_moments, plan_update, computes);
//
// The first step calls `make_moments` for each parameter in order. A plan computes nothing. It
// calls `plan_update` for each parameter, which allocates the temporaries of the library's kernels
// and launches modelled kernels (modelled_kernel.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

struct QuantisedMoment {
  // one code (8 bits) or two codes (4 bits) per byte, or, if `scale` is undefined, the values
  at::Tensor codes = {};
  at::Tensor scale = {};  // the scale of each block
  at::Tensor table = {};  // value of each code, if each moment has a table
  int bits = 8;
  int64_t block = 256;
};

struct QuantisedMoments {
  QuantisedMoment first = {}, second = {};
};

// Returns the bytes that an in-place update reads and writes. It reads the gradient, and reads and
// writes the weight, both moments and their scales.
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
