// Finds the line of the Python program that allocates host memory, for the platform's records of
// host allocations. Example:
//
//   const char* site = CallSite();   // "/home/me/train.py:88 main"
#pragma once

#include <string>
#include <string_view>

#include "cupti/python_api.h"

namespace vramscope::cupti {

// Returns the innermost frame of the calling thread that is not in an installed package or in
// vramscope's hooks. If every frame is in a package or in the hooks, as in a data loader's pinning
// thread, returns the innermost frame. The text is valid until the process ends. Returns null if
// the thread runs no Python, if the interpreter is about to end, if there is no Python in the
// process, or in Python 3.8.
//
// Takes the interpreter's lock, which PyTorch releases around its operators. The caller must hold
// no lock for which a thread that has the interpreter's lock may wait.
const char* CallSite();

// Like CallSite(), but calls the given functions and returns "" instead of null. `hooks` is the
// folder of vramscope's hooks ("/opt/vramscope/python/"), or "".
std::string CallSiteOf(const PythonApi& py, const PythonFrames& frames, std::string_view hooks);

}  // namespace vramscope::cupti
