// Activation checkpointing in torch.utils.checkpoint's non-re-entrant form: the graph is made in
// the first run, what its nodes save is not kept; the first node of a segment that backward comes
// to runs the segment again, up to the last tensor that is needed, and no further.
//
//   model->layer_runner = MakeFrameRunner({.layers_per_segment = 1, .device = device}, {});
//
// With a policy, outputs of the operators that it names are kept, and handed on in the second run
// in place of being computed: torch.utils.checkpoint.create_selective_checkpoint_contexts.
#pragma once

#include <ATen/core/ivalue.h>

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "trainer/techniques/recompute/reentrant.h"

namespace vramscope::trainer {

// Of one run of a segment: asked for each operator in turn ("aten::mm"), in both runs alike.
class OpPolicy {
 public:
  OpPolicy() = default;
  virtual ~OpPolicy() = default;
  OpPolicy(const OpPolicy&) = delete;
  OpPolicy& operator=(const OpPolicy&) = delete;
  // `arguments`: what the operator is called with.
  virtual bool Keeps(std::string_view op, std::span<const c10::IValue> arguments) = 0;
};
// Of a segment; `first`: of its stack.
using MakeOpPolicy = std::function<std::unique_ptr<OpPolicy>(bool first)>;

// torchtitan's list (torchtitan/distributed/activation_checkpoint.py): attention in one operator,
// and every second matrix product.
std::unique_ptr<OpPolicy> MakeProductsPolicy(bool first);
// Of the outputs of products and attention those that cost most to compute again, as many as take
// `share` of their bytes: a knapsack for a segment, solved from the first one's, which keeps none.
MakeOpPolicy MakeBudgetPolicy(double share);

LayerRunner MakeFrameRunner(const CheckpointOptions& options, MakeOpPolicy policy);

}  // namespace vramscope::trainer
