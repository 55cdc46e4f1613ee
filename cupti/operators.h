// What PyTorch's ranges say (operators.cpp).
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope::cupti {

// "aten::mm" of "aten::mm, seq = 3, op_id = 12"; "": a range of the program's own.
std::string_view OperatorOfRange(std::string_view range);

// The operator that this thread is in, by the number that it has in the history's stacks
// (profiler/program/history_stacks.h); 0: none. Of those that only make room for another's result
// the other. Takes no lock.
uint16_t OperatorHere();
// Appends the names of new ones to that file.
bool WriteOperators(int fd);

}  // namespace vramscope::cupti
