// What PyTorch's ranges say (operators.cpp).
#pragma once

#include <string_view>

namespace vramscope::cupti {

// "aten::mm" of "aten::mm, seq = 3, op_id = 12"; "": a range of the program's own.
std::string_view OperatorOfRange(std::string_view range);

}  // namespace vramscope::cupti
