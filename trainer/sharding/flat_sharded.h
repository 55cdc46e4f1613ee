// FullyShardedDataParallel of torch.distributed.fsdp (FSDP1) around each layer and the model, or
// only around the model, with its sequence of allocations. A unit's parameters are one flat tensor,
// which is divided evenly among the ranks. This tensor is gathered before the unit runs. Its
// gradient, also one tensor, is scattered. FSDP1 is Python code; this is a C++ version.
//
//   FlatSharded sharded(group, model, {...});      // moves the model to the GPU, unit by unit
//   sharded.BeforeForward(reduces);
//   ... layers through sharded.AroundLayers(inner) ...
//   sharded.AfterForward({logits, loss});
//   loss.backward();                               // sharded.TrainedTensors() have gradients
//
// Only for devices that compute nothing: the other ranks' data does not exist, and parameters are
// created without values.
//
// Used on the loop's thread and on autograd's thread; must be destroyed before the model.
#pragma once

#include <memory>
#include <optional>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "trainer/models/model.h"

namespace vramscope::trainer {

// When the unit that backward needs next is gathered (BackwardPrefetch).
enum class FlatPrefetch : uint8_t { kBeforeUnit, kAfterUnit, kNever };

struct FlatOptions {
  c10::Device device = c10::Device(c10::kCPU);
  bool reshards_after_forward = true;  // FULL_SHARD; false: SHARD_GRAD_OP
  int layers_per_unit = 1;             // 0: the model is the only unit
  bool limits_gathers = true;          // limit_all_gathers: the host waits for units to be freed
  bool prefetches_forward = false;
  FlatPrefetch backward_prefetch = FlatPrefetch::kBeforeUnit;
  // use_orig_params: an optimizer gets this rank's part of each parameter; false: flat parameters.
  bool original_parameters = true;
  // True: checkpoints contain units, as in transformers, and gather them again when they run again.
  // False: units contain checkpoints.
  bool checkpoints_hold_units = false;
  bool offloads = false;  // CPUOffload: parts and their gradients are in pinned host memory
  // MixedPrecision(param_dtype=...): the type in which units are gathered and gradients are
  // scattered; nullopt: the type of the weights.
  std::optional<at::ScalarType> gathered_as = {};
  // HYBRID_SHARD: the group of ranks that have the same parts, over which scattered gradients are
  // then summed; null: no HYBRID_SHARD.
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
  // `outputs`: the results of the model's forward call.
  void AfterForward(const std::vector<at::Tensor>& outputs);
  // Gathers each unit before it runs, and frees it afterwards. `inner` runs the layers (null: they
  // are called directly).
  LayerRunner AroundLayers(LayerRunner inner);
  // Does what FSDP1's method clip_grad_norm_ does.
  void ClipNorm(double most);

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace vramscope::trainer
