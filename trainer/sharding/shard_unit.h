// One unit of FullySharded: parameters that are gathered together and whose gradients are
// reduce-scattered together. Mirrors FSDPParamGroup and FSDPParam of PyTorch 2.11.
#pragma once

#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "trainer/models/model.h"
#include "trainer/sharding/fully_sharded.h"
#include "trainer/sharding/side_stream.h"

namespace vramscope::trainer {

class ShardUnit;

enum class ShardState : uint8_t { kIdle, kForward, kBeforeBackward, kAfterBackward };

// A gather in progress.
struct Gathered {
  at::Tensor output;
  OptionalEvent event;
  std::vector<int64_t> splits;
};

// The streams and buffers that all units of a model share.
struct ShardStreams {
  explicit ShardStreams(c10::Device device);
  c10::Device device;
  c10::Stream copy_in, gather, scatter;
  // The buffer of the last all-gather in forward. It is freed when the next unit has copied its
  // data out of the next all-gather's buffer.
  std::optional<Gathered> former;
  OptionalEvent former_event;
  // The input of the last reduce-scatter, which lives until the next one.
  at::Tensor scattered;
  OptionalEvent scattered_event;
  std::vector<ShardUnit*> order;  // units in the order of forward
};

// A parameter of a unit.
struct ShardedParameter {
  Parameter* parameter;
  std::string name;
  std::vector<int64_t> sizes;         // sizes of the whole parameter
  std::vector<int64_t> padded_sizes;  // sizes of one rank's rows, padded
  at::Tensor data;                    // flat, with all elements of padded_sizes; may be on the host
  at::Tensor sharded;                 // leaf: this rank's rows, without padding
  at::Tensor gathered;                // [ranks * elements]; has no memory between uses
  at::Tensor whole;                   // leaf: the parameter as the model uses it
};

class ShardUnit {
 public:
  ShardUnit(c10d::ProcessGroup& group, ShardStreams& streams, const ShardOptions& options,
            bool reshards_after_forward);
  // Takes a parameter that is on the device, and creates this rank's rows of it.
  void Add(Parameter* parameter, const std::string& name);

  // The units to gather ahead when this unit runs, instead of the units that FSDP2 would choose.
  std::vector<ShardUnit*> forward_prefetch, backward_prefetch;

  void BeforeForward();
  void PrefetchForward();
  void AfterForward(bool in_backward);
  void BeforeBackward();
  void AfterBackward();
  void FinishBackward();
  void Gather();
  ShardState state = ShardState::kIdle;  // the unit's phase within the step

 private:
  at::Tensor OnDevice(const ShardedParameter& parameter) const;
  void MakeRoom(ShardedParameter& parameter) const;
  void CopyAlone();
  void CopyOut();
  void WaitForGathered();
  void Reshard();
  void WaitForScattered();
  void PrefetchFormer();
  static void Prefetch(ShardUnit& unit, ShardState as);
  void Scatter(std::vector<size_t> which, std::vector<at::Tensor> gradients);
  void AddGradient(ShardedParameter& parameter, at::Tensor gradient);

  c10d::ProcessGroup& group_;
  ShardStreams& streams_;
  const ShardOptions options_;
  const bool reshards_after_forward_;
  bool whole_ = false;
  std::vector<ShardedParameter> parameters_;
  std::optional<Gathered> result_;
  OptionalEvent scattered_event_;
  OptionalEvent on_host_event_;  // recorded when the gradients are on the host
  // This unit's positions in streams_.order, one for each of its forward passes.
  std::vector<size_t> places_;
};

}  // namespace vramscope::trainer
