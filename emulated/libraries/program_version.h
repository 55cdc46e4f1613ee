// Which versions of NVIDIA's libraries the program was built for. PyTorch branches on them (its
// attention asks for cuDNN's), and one library here stands for all versions of its soname, so the
// answer comes from the program: what the package metadata beside libtorch requires, else
// torch/version.py, else the newest version that was read.
//
//   Version cudnn = ProgramVersion("nvidia-cudnn-cu", {.major = 9, .minor = 10, .patch = 2});
//   cudnn.major * 10000 + cudnn.minor * 100 + cudnn.patch
//
// VRAMSCOPE_EMULATED_VERSIONS="nvidia-cudnn-cu=9.1.0;cuda=12.4" says it for a program without such
// metadata. Thread-safe; the files are read once.
#pragma once

#include <string_view>

namespace vramscope::emulated {

struct Version {
  int major = 0, minor = 0, patch = 0;
};

// `package` is the beginning of a package's name ("nvidia-nccl-cu"); `otherwise` where nothing says
// it. A version of another major than `otherwise`'s is not believed: it cannot be this soname's.
Version ProgramVersion(std::string_view package, Version otherwise);
// Of the CUDA toolkit: 12.4.
Version ProgramCuda(Version otherwise);
// Of the driver, as CUDA writes it (13000): the one of the emulated platform, or a newer one that
// the program's CUDA needs.
int DriverVersion();

// For the tests: what the text of a METADATA file requires, and what a version.py says.
bool RequiredVersion(std::string_view metadata, std::string_view package, Version* version);
bool CudaOfVersionFile(std::string_view text, Version* version);

}  // namespace vramscope::emulated
