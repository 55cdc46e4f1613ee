// The interface of an optimizer whose load_state_dict() can be planned.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace vramscope::trainer {

class Resumable {
 public:
  virtual ~Resumable() = default;
  // Describes a state tensor after a step. SavedState() has the order of StateTensors().
  struct SavedTensor {
    at::Tensor parameter;
    bool counter = false;  // one fp32 number; false: has the parameter's shape
    bool stays = false;    // stays on the file's device; false: moves to the parameter's device
  };
  virtual std::vector<SavedTensor> SavedState() const = 0;
  // `tensors` has one tensor for each element of SavedState(), in the same order.
  virtual void LoadState(std::vector<at::Tensor> tensors) = 0;
};

}  // namespace vramscope::trainer
