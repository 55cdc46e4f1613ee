// FullyShardedDataParallel of torch.distributed.fsdp (FSDP1) around each layer and the model, or
// around the model alone, in its sequence of requests: a unit's parameters are one flat tensor, of
// which every rank has an even part; it is gathered before the unit runs, its gradient comes as one
// and is scattered. Plain C++: FSDP1 is Python.
//
//   FlatSharded sharded(group, model, {...});      // brings the model to the card, unit by unit
//   sharded.BeforeForward(reduces);
//   ... layers through sharded.AroundLayers(inner) ...
//   sharded.AfterForward({logits, loss});
//   loss.backward();                               // sharded.TrainedTensors() have gradients
//
// For devices that compute nothing: what the other ranks hold is not there, and parameters are made
// without values.
//
// On the loop's thread and autograd's; goes before the model does.
#pragma once

#include <memory>
#include <optional>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "trainer/models/model.h"

namespace vramscope::trainer {

// When the unit that backward needs next is gathered: BackwardPrefetch.
enum class FlatPrefetch : uint8_t { kBeforeUnit, kAfterUnit, kNever };

struct FlatOptions {
  c10::Device device = c10::Device(c10::kCPU);
  bool reshards_after_forward = true;  // FULL_SHARD; false: SHARD_GRAD_OP
  int layers_per_unit = 1;             // 0: the model is the only unit
  bool limits_gathers = true;          // limit_all_gathers: the host waits for units to go
  bool prefetches_forward = false;
  FlatPrefetch backward_prefetch = FlatPrefetch::kBeforeUnit;
  // use_orig_params: an optimizer gets what a rank has of each parameter; false: flat parameters.
  bool original_parameters = true;
  // A checkpoint calls a unit, as those of transformers do: run again, the unit is gathered anew.
  // False: a unit calls a checkpoint.
  bool checkpoints_hold_units = false;
  bool offloads = false;  // CPUOffload: parts and their gradients live in pinned host memory
  // MixedPrecision(param_dtype=...): what units are gathered and gradients are scattered in; none:
  // in the type of the weights.
  std::optional<at::ScalarType> gathered_as = {};
  // HYBRID_SHARD: ranks that hold the same parts, over which scattered gradients are added up;
  // null: there are none.
  c10::intrusive_ptr<c10d::ProcessGroup> replicas = {};
};

class FlatSharded {
 public:
  FlatSharded(c10::intrusive_ptr<c10d::ProcessGroup> group, Model& model,
              const FlatOptions& options);
  ~FlatSharded();
  FlatSharded(const FlatSharded&) = delete;
  FlatSharded& operator=(const FlatSharded&) = delete;

  std::vector<at::Tensor> TrainedTensors() const;
  // `reduces`: false within no_sync().
  void BeforeForward(bool reduces);
  // `outputs`: of the model's forward call.
  void AfterForward(const std::vector<at::Tensor>& outputs);
  // Gathers before each unit and lets go after it; the rest is `inner`'s (null: it is called).
  LayerRunner AroundLayers(LayerRunner inner);
  // As the method clip_grad_norm_.
  void ClipNorm(double most);

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace vramscope::trainer
