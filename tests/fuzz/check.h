#pragma once

#include <string_view>

namespace vramscope::fuzz {

// If the condition is false, ends the program. The fuzzer reports this as a finding.
void Check(bool good, std::string_view what);

}  // namespace vramscope::fuzz
