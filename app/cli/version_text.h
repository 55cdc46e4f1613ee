// What `vramscope --version` prints.
#pragma once

#include <string>

namespace vramscope::cli {

// Names every part on which the program's behaviour depends: its commit, the trace formats it reads
// and writes, the loaded Qt, and the LibTorch version of the worker.
std::string VersionText();

}  // namespace vramscope::cli
