// Adam that stores its moments in fewer bits than it computes with: in another type, or as
// codes with an fp32 scale for each block. Libraries differ only in how they store moments.
//
//   auto adam = std::make_unique<QuantisedAdam>(config, trained, make_moments, plan_update,
//   computes);
//
// The first step calls `make_moments` for each parameter in order. In a plan, which computes
// nothing, `plan_update` replaces a parameter's update: the function allocates the temporaries of
// the library's kernels and launches modelled kernels (modelled_kernel.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {

struct QuantisedMoment {
  // one byte per element (8 bits) or per two elements (4 bits); without scales: the plain values
  at::Tensor codes = {};
  at::Tensor scale = {};  // the scale of each block
  at::Tensor table = {};  // value of each code, if each moment has a table
  int bits = 8;
  int64_t block = 256;
};

struct QuantisedMoments {
  QuantisedMoment first = {}, second = {};
};

// Bytes that an in-place update reads and writes: the gradient is read; the weight, both moments
// and their scales are read and written.
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
