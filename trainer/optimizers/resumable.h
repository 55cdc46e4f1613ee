// An optimizer whose load_state_dict() can be planned.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace vramscope::trainer {

class Resumable {
 public:
  virtual ~Resumable() = default;
  // A state tensor after a step, in the order of Optimizer::StateTensors().
  struct SavedTensor {
    at::Tensor parameter;
    bool counter = false;  // one fp32 number; false: has the parameter's shape
    bool stays = false;    // stays on the file's device; false: moves to the parameter's device
  };
  virtual std::vector<SavedTensor> SavedState() const = 0;
  // `tensors` have the order of SavedState().
  virtual void LoadState(std::vector<at::Tensor> tensors) = 0;
};

}  // namespace vramscope::trainer
