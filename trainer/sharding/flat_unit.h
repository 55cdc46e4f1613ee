// One unit of FlatSharded: all its parameters are one flat tensor, which is divided evenly among
// the ranks, as in FlatParamHandle of PyTorch 2.11.
//
// The flat parameter (`flat_`) and the model's tensors (Parameter::tensor) change their data during
// a step. It is this rank's part, then the gathered tensor or its views, then the part again.
#pragma once

#include <torch/csrc/autograd/function.h>

#include <deque>
#include <functional>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "trainer/models/model.h"
#include "trainer/sharding/flat_sharded.h"
#include "trainer/sharding/side_stream.h"

namespace vramscope::trainer {

class FlatUnit;

enum class FlatState : uint8_t { kIdle, kForward, kBeforeBackward, kAfterBackward };

// State that the units of a model share.
struct FlatShared {
  FlatShared(c10::intrusive_ptr<c10d::ProcessGroup> group, const FlatOptions& options);
  c10::intrusive_ptr<c10d::ProcessGroup> group;
  const FlatOptions options;
  c10::Stream prepare, gather, scatter;
  c10::Stream add_up;  // sums gradients over replicas; without replicas, the computing stream
  // units in the order in which the first forward ran them
  std::vector<FlatUnit*> forward_order;
  // units in the order in which they finished forward; cleared after backward
  std::vector<FlatUnit*> backward_order;
  bool first_backward_is_done = false;
  bool reduces = true;  // false: gradients are accumulated unsharded (no_sync)
  // one event for each freed unit that the GPU may still be using
  std::deque<OptionalEvent> let_go;
};

// A parameter of a unit.
struct FlatPart {
  Parameter* parameter;
  std::vector<int64_t> sizes;  // sizes of the whole parameter
  // Where the rank's part contains elements of this parameter. `count` is 0 if it contains none.
  int64_t begin = 0, count = 0;
  at::Tensor sharded;  // leaf: the slice that an optimizer updates
  at::Tensor view;     // view of the gathered tensor, until backward has left the unit
};

class FlatUnit {
 public:
  // `path`: the path of the unit's module. `is_model`: the unit has all parameters that are in no
  // other unit, and remains gathered from forward to backward.
  FlatUnit(FlatShared& shared, std::string path, bool is_model);
  ~FlatUnit();
  FlatUnit(const FlatUnit&) = delete;
  FlatUnit& operator=(const FlatUnit&) = delete;

  // Flattens `parameters`, which are on the device, and keeps only this rank's part of them.
  void Flatten(const std::vector<Parameter*>& parameters);
  // Call before the very first forward. Allocates the storage for the gathered tensor.
  void MakeRoom();
  // Drops the previous step's flat gradient if no parameter has a gradient any more.
  void DropGradientsWithoutOwner();
  // Returns the tensors in the order in which an optimizer gets them.
  std::vector<at::Tensor> TrainedTensors() const;
  std::vector<at::Tensor> Gradients() const;

  // `entering`: the unit's inputs that need a gradient.
  void BeforeForward(const std::vector<at::Tensor>& entering);
  // Returns false and changes nothing if this forward is a recomputation.
  bool AfterForward();
  void BeforeBackward();
  void FinishBackward();

  FlatState state = FlatState::kIdle;
  // The units before and after this unit also set and read these flags.
  bool prefetched = false, needs_forward = false, needs_backward = false;
  bool ran_before_backward = false;

 private:
  void KeepOnHost(at::Tensor local);
  void ZeroWhatHasNoOwner();
  bool BringPart();
  void Unshard();
  void Gather();
  bool IsGathered() const;
  void UseGathered();
  void UseViews();
  void UseSharded();
  void UseShardedParameters();
  void UseShardedGradients();
  void UseWholeGradients();
  void Reshard(bool lets_go);
  void ReshardInBackward();
  void Prefetch();
  FlatUnit* NextToPrefetch() const;
  void WatchBackward(const std::vector<at::Tensor>& entering);
  void AfterBackward();
  void Scatter();
  void PrepareGradient();
  at::Tensor PaddedShard(const at::Tensor& shard) const;

  FlatShared& shared_;
  const std::string path_;
  const bool is_model_;
  std::vector<FlatPart> parts_;
  // number of elements of each piece of the flat tensor; a piece is a parameter or padding
  std::vector<int64_t> splits_;
  std::vector<bool> is_padding_;  // one flag for each of `splits_`
  // number of elements of the flat tensor, without the zeros that PaddedShard() appends
  int64_t elements_ = 0;
  at::Tensor flat_;   // the flat parameter, a leaf of autograd's graph; see above
  at::Tensor local_;  // this rank's part
  // this rank's part in the type in which units are gathered, if its own type differs
  at::Tensor narrow_;
  at::Tensor gathered_;  // [ranks * part]; has no memory between uses
  // temporary copy on the device, if this rank's part is kept on the host
  at::Tensor here_;
  at::Tensor host_gradient_;  // host memory for gradients
  // the scattered gradient of this backward, or of earlier ones, to which this backward's is added
  at::Tensor saved_gradient_;
  bool skipped_sharded_ = false;  // the model uses the gathered tensor from forward to backward
  bool scattered_ = false;        // the gradients were scattered in this backward
  // accumulates the gradient of `flat_`; null if it has no hook
  std::shared_ptr<torch::autograd::Node> accumulator_;
  uintptr_t accumulator_hook_ = 0;
  bool watches_entering_ = false;
  static constexpr size_t kNowhere = SIZE_MAX;
  size_t place_in_forward_ = kNowhere, place_in_backward_ = kNowhere;
};

}  // namespace vramscope::trainer
