// Adam whose moments are kept in fewer bits than it computes with: in a type of their own, or as
// codes with an fp32 scale for each block. How a library lays a moment out is the library's; what
// is done with it is the same.
//
//   auto adam = std::make_unique<QuantisedAdam>(config, trained, make_moments, computes);
//
// `make_moments` is called for each parameter in the first step, in their order. A step asks for
// nothing where nothing computes but what `borrow` asks for: it is one kernel for each parameter,
// in place.
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

class QuantisedAdam final : public Optimizer {
 public:
  using MakeMoments = std::function<QuantisedMoments(const at::Tensor& parameter)>;

  // What a library's step of a parameter asks for and gives back.
  using Borrow = std::function<void(const at::Tensor& parameter, const QuantisedMoments& moments)>;

  QuantisedAdam(const OptimizerConfig& config, std::vector<at::Tensor> parameters, MakeMoments make,
                bool computes, Borrow borrow = nullptr);

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
  const bool computes_;
  const Borrow borrow_;
  std::vector<State> states_;
};

}  // namespace vramscope::trainer
