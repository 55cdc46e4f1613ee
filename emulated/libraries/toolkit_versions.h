// Returns the versions of the libraries in a CUDA toolkit, as in NVIDIA's Python packages.
#pragma once

#include "emulated/libraries/program_version.h"

namespace vramscope::emulated {

// Returns the toolkit version for which the program was built. `major` is that of the soname: 11 to
// 13.
Version CudaVersion(int major);
Version CublasVersion(int major);
Version CufftVersion(int major);
Version CusolverVersion(int major);
Version CusparseVersion(int major);
Version CurandVersion(int major);

}  // namespace vramscope::emulated
