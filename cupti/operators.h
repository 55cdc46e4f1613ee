// Finds the running operator from PyTorch's NVTX ranges (operators.cpp).
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope::cupti {

// Returns "aten::mm" for "aten::mm, seq = 3, op_id = 12", or "" for a range of the program itself.
std::string_view OperatorOfRange(std::string_view range);

// Returns the number of the operator that this thread runs (profiler/program/history_stacks.h), or
// 0. If that operator only allocates the result of an operator that called it, returns the number
// of the caller. Takes no lock.
uint16_t OperatorHere();
// Appends the names of operators that were not written yet.
bool WriteOperators(int fd);

}  // namespace vramscope::cupti
