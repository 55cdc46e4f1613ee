// fully_shard of torch.distributed.fsdp (FSDP2) on each layer and on the model, or on the model
// alone, in its sequence of
// requests: every unit's parameters are rows of one rank, gathered before the unit runs and let go
// after it; gradients are scattered. Plain C++: FSDP2 itself is Python.
//
//   FullySharded sharded(group, model, {...});     // brings the model to the card, unit by unit
//   sharded.BeforeForward();
//   ... layers through sharded.AroundLayers(inner) ...
//   sharded.AfterForward({logits, loss});
//   loss.backward();                               // sharded parameters have gradients
//
// For devices that compute nothing: what the other ranks hold is not there, and parameters are made
// without values.
//
// On the loop's thread and autograd's; goes before the model does.
#pragma once

#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "trainer/models/model.h"

namespace vramscope::trainer {

struct ShardOptions {
  c10::Device device = c10::Device(c10::kCPU);
  bool reshards_after_forward = true;  // false: what is gathered stays until backward is through
  int layers_per_unit = 1;             // 0: the model is the only unit
  // Units that are gathered ahead of the one that runs, as set_modules_to_forward_prefetch and
  // set_modules_to_backward_prefetch have it where they are more than FSDP2's own 0 and 1.
  int forward_prefetch = 0, backward_prefetch = 1;
  bool offloads = false;  // CPUOffloadPolicy: shards and their gradients live in pinned host memory
};

class FullySharded {
 public:
  FullySharded(c10::intrusive_ptr<c10d::ProcessGroup> group, Model& model,
               const ShardOptions& options);
  ~FullySharded();
  FullySharded(const FullySharded&) = delete;
  FullySharded& operator=(const FullySharded&) = delete;

  void BeforeForward();
  // `outputs`: of the model's forward call.
  void AfterForward(const std::vector<at::Tensor>& outputs);
  // Gathers before each layer and lets go after it; the rest is `inner`'s (null: it is called).
  LayerRunner AroundLayers(LayerRunner inner);

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace vramscope::trainer
