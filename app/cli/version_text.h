// What `vramscope --version` prints.
#pragma once

#include <string>

namespace vramscope::cli {

// Covers every part that affects the program's behaviour: its commit, the trace formats it reads
// and writes, the loaded Qt, and the LibTorch version of the worker.
std::string VersionText();

}  // namespace vramscope::cli
