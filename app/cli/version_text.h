// What `vramscope --version` prints.
#pragma once

#include <string>

namespace vramscope::cli {

// Of every part that decides what the program does: its commit, the trace formats that it reads and
// writes, Qt as it is loaded, LibTorch as the worker was built with.
std::string VersionText();

}  // namespace vramscope::cli
