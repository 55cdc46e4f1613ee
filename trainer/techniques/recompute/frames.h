// Activation checkpointing in torch.utils.checkpoint's non-re-entrant form. The first run creates
// the graph, but keeps no tensors for backward. When backward reaches a segment, the segment runs
// again, up to the last tensor that is needed.
//
//   model->layer_runner = MakeFrameRunner({.layers_per_segment = 1, .device = device}, {});
//
// A policy selects operators whose outputs are kept. The second run reuses these outputs, as with
// torch.utils.checkpoint.create_selective_checkpoint_contexts.
#pragma once

#include <ATen/core/ivalue.h>

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "trainer/techniques/recompute/reentrant.h"

namespace vramscope::trainer {

// Decides which operators' outputs are kept in one run of a segment.
class OpPolicy {
 public:
  OpPolicy() = default;
  virtual ~OpPolicy() = default;
  OpPolicy(const OpPolicy&) = delete;
  OpPolicy& operator=(const OpPolicy&) = delete;
  // Called for each operator ("aten::mm"), in the order of execution, with the operator's
  // arguments. Returns whether its outputs are kept. Both runs of a segment must get the same
  // answers.
  virtual bool Keeps(std::string_view op, std::span<const c10::IValue> arguments) = 0;
};
// Makes the policy of a segment. `first`: the segment is the first of its stack.
using MakeOpPolicy = std::function<std::unique_ptr<OpPolicy>(bool first)>;

// Keeps the outputs that torchtitan's list selects: the outputs of attention operators and of every
// second matrix product (torchtitan/distributed/activation_checkpoint.py).
std::unique_ptr<OpPolicy> MakeProductsPolicy(bool first);
// Keeps the outputs of products and attention that are most expensive to recompute, up to `share`
// of all their bytes. A solver chooses these outputs from the operators that the first segment
// called. So the first segment keeps nothing.
MakeOpPolicy MakeBudgetPolicy(double share);

LayerRunner MakeFrameRunner(const CheckpointOptions& options, MakeOpPolicy policy);

}  // namespace vramscope::trainer
