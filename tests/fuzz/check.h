#pragma once

#include <string_view>

namespace vramscope::fuzz {

// Ends the program if the condition is false, which the fuzzer reports as a finding.
void Check(bool good, std::string_view what);

}  // namespace vramscope::fuzz
