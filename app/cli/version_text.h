// What `vramscope --version` prints.
#pragma once

#include <string>

namespace vramscope::cli {

// Returns the versions on which the program's behaviour depends: its commit, the trace formats that
// it reads and writes, the loaded Qt, and the worker's LibTorch.
std::string VersionText();

}  // namespace vramscope::cli
