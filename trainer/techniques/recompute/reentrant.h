// Gradient checkpointing: only the inputs of a segment of layers are kept, and backward runs the
// segment again. This is torch.utils.checkpoint's re-entrant form, the default of Hugging Face's
// gradient_checkpointing_enable(). The first run has no graph. The second run restores
// random-number generators and autocast, and has a graph, on which a nested backward then runs.
//
//   model->layer_runner = MakeCheckpointRunner({.layers_per_segment = 1, .device = device});
//
// If the segment's input requires no gradient, nothing in the segment is trained (see
// Model::inputs_require_grad).
#pragma once

#include <c10/core/Device.h>

#include "trainer/models/model.h"

namespace vramscope::trainer {

struct CheckpointOptions {
  int layers_per_segment = 1;
  c10::Device device = c10::Device(c10::kCPU);
  // Who keeps shared values without gradients (masks). True: a closure keeps them until the graph
  // is freed. False: the graph node keeps them until it has run, like arguments of the checkpointed
  // call, and saved-tensor hooks get them.
  bool closes_over = false;
};

LayerRunner MakeCheckpointRunner(const CheckpointOptions& options);

}  // namespace vramscope::trainer
