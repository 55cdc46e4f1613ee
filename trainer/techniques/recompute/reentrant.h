// Gradient checkpointing: only what enters a segment of layers is kept; backward runs the segment
// again. As torch.utils.checkpoint in its re-entrant form, the default of Hugging Face's
// gradient_checkpointing_enable(): the segment runs without a graph, its random numbers and
// autocast are restored for the second run, which is differentiated by a nested backward.
//
//   model->layer_runner = MakeCheckpointRunner({.layers_per_segment = 1, .device = device});
//
// The segment's input must require a gradient, or nothing in it trains: see
// Model::inputs_require_grad.
#pragma once

#include <c10/core/Device.h>

#include "trainer/models/model.h"

namespace vramscope::trainer {

struct CheckpointOptions {
  int layers_per_segment = 1;
  c10::Device device = c10::Device(c10::kCPU);
  // What layers share and no gradient flows through (masks) is kept as a closure keeps it, until
  // the graph goes. Else it is saved as the arguments of a checkpointed call are: until its node is
  // done, and where saved tensors go.
  bool closes_over = false;
};

LayerRunner MakeCheckpointRunner(const CheckpointOptions& options);

}  // namespace vramscope::trainer
