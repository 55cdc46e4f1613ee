#pragma once

#include <string_view>

namespace vramscope::fuzz {

// Ends the program where it is not good, as a finding.
void Check(bool good, std::string_view what);

}  // namespace vramscope::fuzz
