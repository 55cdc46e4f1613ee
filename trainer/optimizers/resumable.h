// An optimizer whose load_state_dict() is planned.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace vramscope::trainer {

class Resumable {
 public:
  virtual ~Resumable() = default;
  // A tensor of the state after a step, in the order of Optimizer::StateTensors().
  struct SavedTensor {
    at::Tensor parameter;
    bool counter = false;  // a number in fp32; else as the parameter
    bool stays = false;    // where the file was loaded to; else it goes beside the parameter
  };
  virtual std::vector<SavedTensor> SavedState() const = 0;
  // In that order.
  virtual void LoadState(std::vector<at::Tensor> tensors) = 0;
};

}  // namespace vramscope::trainer
