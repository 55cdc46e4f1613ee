// One unit of FlatSharded: all its parameters in one flat tensor, of which this rank has an even
// part, as FlatParamHandle of PyTorch 2.11.
//
// Where the flat parameter points (`flat_`) and what the model uses (Parameter::tensor) change
// through a step: this rank's part, then views of what was gathered, then the part again.
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

// What the units of a model have in common.
struct FlatShared {
  FlatShared(c10::intrusive_ptr<c10d::ProcessGroup> group, const FlatOptions& options);
  c10::intrusive_ptr<c10d::ProcessGroup> group;
  const FlatOptions options;
  c10::Stream prepare, gather, scatter;
  c10::Stream add_up;  // gradients over replicas; without them the one that computes
  std::vector<FlatUnit*> forward_order;   // as they ran first in the first step's forward
  std::vector<FlatUnit*> backward_order;  // as they left forward, until backward is through
  bool first_backward_is_done = false;
  bool reduces = true;               // false: gradients are added up whole (no_sync)
  std::deque<OptionalEvent> let_go;  // after units have gone, until the host has waited for it
};

// A parameter of a unit.
struct FlatPart {
  Parameter* parameter;
  std::vector<int64_t> sizes;  // of the whole
  // Elements of this rank, where they begin in its part; none: the rank has nothing of it.
  int64_t begin = 0, count = 0;
  at::Tensor sharded;  // leaf: the parameter as an optimizer sees it, a row
  at::Tensor view;     // of what is gathered, from forward until backward has left the unit
};

class FlatUnit {
 public:
  // `path`: of the unit's module. `is_model`: the unit of what is in no other one, which is
  // gathered from forward to backward.
  FlatUnit(FlatShared& shared, std::string path, bool is_model);
  ~FlatUnit();
  FlatUnit(const FlatUnit&) = delete;
  FlatUnit& operator=(const FlatUnit&) = delete;

  // Takes parameters that are on the device; keeps this rank's part of them.
  void Flatten(const std::vector<Parameter*>& parameters);
  // Before the first forward of all: what is gathered gets its place.
  void MakeRoom();
  // Gradients of the step before go when the parameters' have been let go of.
  void DropGradientsWithoutOwner();
  // In the order in which an optimizer gets them.
  std::vector<at::Tensor> TrainedTensors() const;
  std::vector<at::Tensor> Gradients() const;

  // `entering`: what goes into the unit and needs a gradient.
  void BeforeForward(const std::vector<at::Tensor>& entering);
  // False: a layer of it has been run again, which changes nothing.
  bool AfterForward();
  void BeforeBackward();
  void FinishBackward();

  FlatState state = FlatState::kIdle;
  // Read and set as the units before and after this one run.
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
  std::vector<int64_t> splits_;   // elements of the flat tensor: parts and what is between them
  std::vector<bool> is_padding_;  // of `splits_`
  int64_t elements_ = 0;          // of the flat tensor, without what divides it evenly by ranks
  at::Tensor flat_;               // leaf; see above
  at::Tensor local_;              // this rank's part
  at::Tensor narrow_;             // the part as it is gathered, where that is another type
  at::Tensor gathered_;           // [ranks * part]; without memory between uses
  at::Tensor here_;               // the part of a unit that is kept on the host, while it is used
  at::Tensor host_gradient_;      // where gradients go that are kept there
  at::Tensor saved_gradient_;     // scattered in this backward, or before and to be added to
  bool skipped_sharded_ = false;  // the model uses what was gathered in forward until backward
  bool scattered_ = false;        // in this backward
  std::shared_ptr<torch::autograd::Node> accumulator_;  // of `flat_`, while it is watched
  uintptr_t accumulator_hook_ = 0;
  bool watches_entering_ = false;
  static constexpr size_t kNowhere = SIZE_MAX;
  size_t place_in_forward_ = kNowhere, place_in_backward_ = kNowhere;
};

}  // namespace vramscope::trainer
