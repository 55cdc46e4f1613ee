// Finds PyTorch's name of an operator or autograd node from a stack frame of compiled code. All
// parts of the project name operators with these functions.
//
//   OperatorName("at::_ops::index_Tensor::call(at::Tensor const&, ...)")
//       -> "aten::index"
//   NodeName("torch::autograd::generated::MmBackward0::apply(variable_list&&)")
//       -> "MmBackward0"
//
// Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace vramscope::trace {

// Returns the operator's name without its overload, or "" for a frame of no dispatched operator.
std::string OperatorName(std::string_view function);

// Whether an operator only allocates storage for the operator that calls it ("empty", "resize_").
bool AsksForStorageOnly(std::string_view function);

// Returns the node's name, or "" for a frame of no node. AccumulateGrad keeps its namespace, as in
// RecordFunction.
std::string_view NodeName(std::string_view function);

}  // namespace vramscope::trace
