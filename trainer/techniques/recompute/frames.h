// Activation checkpointing in torch.utils.checkpoint's non-re-entrant form. The first run creates
// the graph, but tensors that its nodes save are not kept. When backward reaches the first node of
// a segment, that node runs the segment again, up to the last tensor that is needed.
//
//   model->layer_runner = MakeFrameRunner({.layers_per_segment = 1, .device = device}, {});
//
// A policy selects operators whose outputs are kept. The second run reuses these instead of
// computing them: torch.utils.checkpoint.create_selective_checkpoint_contexts.
#pragma once

#include <ATen/core/ivalue.h>

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "trainer/techniques/recompute/reentrant.h"

namespace vramscope::trainer {

// The policy for one run of a segment. It is called for each operator ("aten::mm") in order, and
// must make the same choices in both runs.
class OpPolicy {
 public:
  OpPolicy() = default;
  virtual ~OpPolicy() = default;
  OpPolicy(const OpPolicy&) = delete;
  OpPolicy& operator=(const OpPolicy&) = delete;
  // `arguments`: the operator's arguments.
  virtual bool Keeps(std::string_view op, std::span<const c10::IValue> arguments) = 0;
};
// Makes the policy of a segment. `first`: the segment is the first of its stack.
using MakeOpPolicy = std::function<std::unique_ptr<OpPolicy>(bool first)>;

// torchtitan's list (torchtitan/distributed/activation_checkpoint.py): attention operators, and
// every second matrix product.
std::unique_ptr<OpPolicy> MakeProductsPolicy(bool first);
// Keeps those outputs of products and attention that are most expensive to recompute, up to `share`
// of their bytes. A knapsack solver chooses them from the calls of the first segment, which keeps
// nothing.
MakeOpPolicy MakeBudgetPolicy(double share);

LayerRunner MakeFrameRunner(const CheckpointOptions& options, MakeOpPolicy policy);

}  // namespace vramscope::trainer
