// FullyShardedDataParallel of torch.distributed.fsdp (FSDP1), which wraps each layer and the model,
// or only the model. This C++ version of FSDP1's Python code makes the same allocations. A unit's
// parameters are one flat tensor, which is divided evenly among the ranks and gathered before the
// unit runs. Its gradient is one tensor, too, and is reduce-scattered.
//
//   FlatSharded sharded(group, model, {...});      // moves the model to the GPU, unit by unit
//   sharded.BeforeForward(reduces);
//   ... layers through sharded.AroundLayers(inner) ...
//   sharded.AfterForward({logits, loss});
//   loss.backward();                               // sharded.TrainedTensors() have gradients
//
// Only for devices that compute nothing, because the other ranks' data does not exist. Parameters
// are created without values.
//
// Used on the loop's thread and on autograd's thread; must be destroyed before the model.
#pragma once

#include <memory>
#include <optional>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "trainer/models/model.h"

namespace vramscope::trainer {

// Whether backward gathers its next unit before or after the current unit (BackwardPrefetch).
enum class FlatPrefetch : uint8_t { kBeforeUnit, kAfterUnit, kNever };

struct FlatOptions {
  c10::Device device = c10::Device(c10::kCPU);
  bool reshards_after_forward = true;  // FULL_SHARD; false: SHARD_GRAD_OP
  int layers_per_unit = 1;             // 0: the model is the only unit
  bool limits_gathers = true;          // limit_all_gathers: the host waits for units to be freed
  bool prefetches_forward = false;
  FlatPrefetch backward_prefetch = FlatPrefetch::kBeforeUnit;
  // use_orig_params: whether optimizers get this rank's part of each parameter, or a flat tensor.
  bool original_parameters = true;
  // True: each checkpointed segment contains units, as in transformers, and gathers them again for
  // its recomputation. False: each unit contains checkpointed segments.
  bool checkpoints_hold_units = false;
  bool offloads = false;  // CPUOffload: parts and their gradients are in pinned host memory
  // MixedPrecision(param_dtype=...): the type in which units are gathered and gradients scattered.
  // By default, it is the type of the weights.
  std::optional<at::ScalarType> gathered_as = {};
  // HYBRID_SHARD: the ranks that have the same part as this rank. Scattered gradients are also
  // summed over this group. Null without HYBRID_SHARD.
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
