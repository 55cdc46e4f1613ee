// fully_shard of torch.distributed.fsdp (FSDP2), applied to each layer and the model, or only to
// the model. This C++ version of FSDP2's Python code makes the same allocations. Each rank keeps
// some rows of each parameter. A unit's parameters are gathered before the unit runs, and freed
// afterwards. Gradients are reduce-scattered.
//
//   FullySharded sharded(group, model, {...});     // moves the model to the GPU, unit by unit
//   sharded.BeforeForward();
//   ... layers through sharded.AroundLayers(inner) ...
//   sharded.AfterForward({logits, loss});
//   loss.backward();                               // sharded parameters have gradients
//
// Only for devices that compute nothing, because the other ranks' data does not exist. Parameters
// are created without values.
//
// Used on the loop's thread and on autograd's thread; must be destroyed before the model.
#pragma once

#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "trainer/models/model.h"

namespace vramscope::trainer {

struct ShardOptions {
  c10::Device device = c10::Device(c10::kCPU);
  bool reshards_after_forward = true;  // false: gathered tensors remain until backward is done
  int layers_per_unit = 1;             // 0: the model is the only unit
  // The number of units gathered ahead of the running unit. To exceed FSDP2's defaults of 0 and 1,
  // a script calls set_modules_to_forward_prefetch and set_modules_to_backward_prefetch.
  int forward_prefetch = 0, backward_prefetch = 1;
  bool offloads = false;  // CPUOffloadPolicy: shards and their gradients are in pinned host memory
};

class FullySharded {
 public:
  FullySharded(c10::intrusive_ptr<c10d::ProcessGroup> group, Model& model,
               const ShardOptions& options);
  ~FullySharded();
  FullySharded(const FullySharded&) = delete;
  FullySharded& operator=(const FullySharded&) = delete;

  void BeforeForward();
  // `outputs`: the results of the model's forward call.
  void AfterForward(const std::vector<at::Tensor>& outputs);
  // Gathers each unit before it runs, and frees it afterwards. `inner` runs the layers (null: they
  // are called directly).
  LayerRunner AroundLayers(LayerRunner inner);

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace vramscope::trainer
