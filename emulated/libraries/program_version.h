// The versions of NVIDIA's libraries for which the program was built. PyTorch checks these versions
// (for example, its attention checks the version of cuDNN), and one library here serves all
// versions of its soname. So the version comes from the program: from the requirements in the
// package metadata next to libtorch, or from torch/version.py. If there is neither, it is the
// newest known version. Example:
//
//   Version cudnn = ProgramVersion("nvidia-cudnn-cu", {.major = 9, .minor = 10, .patch = 2});
//   cudnn.major * 10000 + cudnn.minor * 100 + cudnn.patch
//
// VRAMSCOPE_EMULATED_VERSIONS="nvidia-cudnn-cu=9.1.0;cuda=12.4" sets versions for a program without
// such metadata. Thread-safe; the files are read once.
#pragma once

#include <string_view>

namespace vramscope::emulated {

struct Version {
  int major = 0, minor = 0, patch = 0;
};

// `package` is the beginning of a package's name ("nvidia-nccl-cu"). Returns `otherwise` if no
// version is found. A version whose major number differs from `otherwise` is ignored, because it
// cannot belong to this soname.
Version ProgramVersion(std::string_view package, Version otherwise);
// Returns the version of the CUDA toolkit, such as 12.4.
Version ProgramCuda(Version otherwise);
// Returns the driver version in CUDA's format (13000). It is the emulated platform's version, or a
// newer version if the program's CUDA needs it.
int DriverVersion();

// For tests. Parse the version that a METADATA file requires, and the version in a version.py.
bool RequiredVersion(std::string_view metadata, std::string_view package, Version* version);
bool CudaOfVersionFile(std::string_view text, Version* version);

}  // namespace vramscope::emulated
