#include "emulated/libraries/toolkit_versions.h"

#include <iterator>
#include <string>

#include "emulated/core/assumptions.h"

namespace vramscope::emulated {
namespace {

struct Toolkit {
  Version cuda, cublas, cufft, cusolver, cusparse, curand;
};
// The versions of the libraries in each CUDA toolkit, as in NVIDIA's Python packages (for example
// nvidia-cublas-cu11, nvidia-cublas-cu12, and nvidia-cublas for CUDA 13).
constexpr Toolkit kToolkits[] = {
    {{11, 7, 0}, {11, 10, 3}, {10, 7, 2}, {11, 4, 0}, {11, 7, 4}, {10, 2, 10}},
    {{11, 8, 0}, {11, 11, 3}, {10, 9, 0}, {11, 4, 1}, {11, 7, 5}, {10, 3, 0}},
    {{12, 1, 0}, {12, 1, 3}, {11, 0, 2}, {11, 4, 5}, {12, 1, 0}, {10, 3, 2}},
    {{12, 4, 0}, {12, 4, 5}, {11, 2, 1}, {11, 6, 1}, {12, 3, 1}, {10, 3, 5}},
    {{12, 6, 0}, {12, 6, 4}, {11, 3, 0}, {11, 7, 1}, {12, 5, 4}, {10, 3, 7}},
    {{12, 8, 0}, {12, 8, 4}, {11, 3, 3}, {11, 7, 3}, {12, 5, 8}, {10, 3, 9}},
    {{12, 9, 0}, {12, 9, 1}, {11, 4, 1}, {11, 7, 5}, {12, 5, 10}, {10, 3, 10}},
    {{13, 0, 0}, {13, 1, 0}, {12, 0, 0}, {12, 0, 4}, {12, 6, 3}, {10, 4, 0}},
};

const Toolkit& ToolkitOf(int major) {
  const Version none = {major, 99, 0};
  const Version wanted = ProgramCuda(none);
  // Finds the newest toolkit up to the wanted version. If there is none, finds the oldest one with
  // the wanted major version.
  const Toolkit* best = nullptr;
  for (const Toolkit& toolkit : kToolkits)
    if (toolkit.cuda.major == major && (!best || toolkit.cuda.minor <= wanted.minor))
      best = &toolkit;
  if (best) return *best;
  const Toolkit& newest = *std::prev(std::end(kToolkits));
  Assume("CUDA " + std::to_string(major) +
             " is unknown; its libraries are assumed to have the same versions and "
             "to return the same results as in CUDA " +
             std::to_string(newest.cuda.major) + "." + std::to_string(newest.cuda.minor),
         "versions of NVIDIA's libraries", 0);
  return newest;
}

}  // namespace

Version CudaVersion(int major) { return ToolkitOf(major).cuda; }
Version CublasVersion(int major) { return ToolkitOf(major).cublas; }
Version CufftVersion(int major) { return ToolkitOf(major).cufft; }
Version CusolverVersion(int major) { return ToolkitOf(major).cusolver; }
Version CusparseVersion(int major) { return ToolkitOf(major).cusparse; }
Version CurandVersion(int major) { return ToolkitOf(major).curand; }

}  // namespace vramscope::emulated
