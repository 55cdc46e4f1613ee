// What runs an operator that has no kernel of ours for the CUDA key: its Meta kernel works out
// shapes, strides and views on twins of the arguments (same pointer, device meta), and the memory
// it asks for comes from the planned GPU.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/stack.h>

namespace vramscope::trainer::plan {

void RegisterFallback();

void Fallback(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

}  // namespace vramscope::trainer::plan
