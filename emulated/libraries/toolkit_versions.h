// Versions of the libraries in each CUDA toolkit, from the numbers of its packages.
#pragma once

#include "emulated/libraries/program_version.h"

namespace vramscope::emulated {

// The toolkit version for which the program was built, with this major version (the soname's: 11,
// 12, 13).
Version CudaVersion(int major);
Version CublasVersion(int major);
Version CufftVersion(int major);
Version CusolverVersion(int major);
Version CusparseVersion(int major);
Version CurandVersion(int major);

}  // namespace vramscope::emulated
