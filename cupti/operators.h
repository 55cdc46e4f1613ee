// The operator in PyTorch's NVTX ranges (operators.cpp).
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope::cupti {

// "aten::mm" for "aten::mm, seq = 3, op_id = 12"; "" for a range of the program itself.
std::string_view OperatorOfRange(std::string_view range);

// The operator that this thread runs, by its number in the history's stacks
// (profiler/program/history_stacks.h); 0: none. For an operator that only allocates the result of
// another operator, returns that other operator. Takes no lock.
uint16_t OperatorHere();
// Appends the names of operators that were not written yet.
bool WriteOperators(int fd);

}  // namespace vramscope::cupti
