// The line of the Python program whose call into C allocates host memory, for the platform's
// records of such allocations.
//
//   const char* site = CallSite();   // "/home/me/train.py:88 main"
#pragma once

#include <string>
#include <string_view>

#include "cupti/python_api.h"

namespace vramscope::cupti {

// The innermost frame of the calling thread that is neither in an installed package nor in
// vramscope's hooks; if there is none (the thread of a data loader that pins batches), the
// innermost frame. The text is valid until the process ends. Returns null if the thread runs no
// Python, if the interpreter is about to end, if there is no Python in the process, or in
// Python 3.8.
//
// Takes the interpreter's lock, which PyTorch releases around its operators. So the caller must
// hold no lock that a thread with the interpreter's lock may wait for.
const char* CallSite();

// Like CallSite(), but calls the given functions and returns "" instead of null. Files in `hooks`
// ("/opt/vramscope/python/") count as vramscope's; if it is "", no files do.
std::string CallSiteOf(const PythonApi& py, const PythonFrames& frames, std::string_view hooks);

}  // namespace vramscope::cupti
