// The state of the random-number generators before a segment first runs. It is restored before the
// second run, so that this run draws the same numbers.
//
//   const RandomState before = RandomState::Now(device);  ...  before.Restore(device);
//
// The state is stored in CPU tensors. May be used on any thread.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

namespace vramscope::trainer {

struct RandomState {
  at::Tensor cpu, device;  // device: undefined on the CPU

  static RandomState Now(c10::Device device);
  void Restore(c10::Device where) const;
};

}  // namespace vramscope::trainer
