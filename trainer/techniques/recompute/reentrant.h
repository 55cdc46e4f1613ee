// Gradient checkpointing: only the inputs of a segment of layers are kept, and backward runs the
// segment again. This is torch.utils.checkpoint's re-entrant form, the default of Hugging Face's
// gradient_checkpointing_enable(). The first run records no graph. The second run restores the
// random-number generators and autocast, and records a graph, on which a nested backward then runs.
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
  // What keeps shared values without gradients (masks) alive. True: a closure, until the graph is
  // freed. False: the graph node, until it has run; like arguments of the checkpointed call, they
  // are then passed to saved-tensor hooks.
  bool closes_over = false;
};

LayerRunner MakeCheckpointRunner(const CheckpointOptions& options);

}  // namespace vramscope::trainer
