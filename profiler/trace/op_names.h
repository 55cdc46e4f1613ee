// What PyTorch calls an operator or an autograd node, from the frame of compiled code that a stack
// has of it: the one spelling, wherever operators are named.
//
//   OperatorName("at::_ops::index_Tensor::call(at::Tensor const&, ...)");           //
//   "aten::index" NodeName("torch::autograd::generated::MmBackward0::apply(variable_list&&)"); //
//   "MmBackward0"
//
// Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace vramscope::trace {

// "" where the frame is no dispatched operator's. Without its overload.
std::string OperatorName(std::string_view function);

// Of an operator's frame: it only hands out storage for the operator around it ("empty",
// "resize_").
bool AsksForStorageOnly(std::string_view function);

// "" where the frame is no node's. AccumulateGrad keeps its namespace, as RecordFunction has it.
std::string_view NodeName(std::string_view function);

}  // namespace vramscope::trace
