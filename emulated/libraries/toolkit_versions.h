// Versions of the libraries of a CUDA toolkit, as its packages were numbered: facts, one row a
// toolkit.
#pragma once

#include "emulated/libraries/program_version.h"

namespace vramscope::emulated {

// Of the toolkit that the program was built with, of this major (of the soname: 11, 12, 13).
Version CudaVersion(int major);
Version CublasVersion(int major);
Version CufftVersion(int major);
Version CusolverVersion(int major);
Version CusparseVersion(int major);
Version CurandVersion(int major);

}  // namespace vramscope::emulated
