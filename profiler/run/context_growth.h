// How the CUDA context of a process grows to its size in the device table. Known for GPUs on which
// the growth was measured.
//
// On the emulated GPU of a program, the context grows while the program runs (GrowingGpu). In the
// embedded loop, it has its final size (ContextOfRun) from the start, because a warm worker keeps
// its handles. The final size is the same in both cases.
//
//   if (const ContextGrowth& growth = GrowthOf("h200"); growth.bare > 0) ...
//   device.context_bytes = ContextOfRun(config, device);
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/run/device_profile.h"
#include "profiler/run/run_config.h"

namespace vramscope::run {

// All sizes in bytes; zero if not measured.
struct ContextGrowth {
  std::string driver;                            // "580.159.04"; empty: not measured
  std::string with;                              // "PyTorch 2.11, CUDA 13.0"
  uint64_t bare = 0;                             // a context in which nothing was launched
  uint64_t kernels = 0;                          // added by the first kernel
  uint64_t cublas = 0, cudnn = 0, cusolver = 0;  // added by each handle of the library
  uint64_t cufft = 0, nccl = 0;  // added by the first cuFFT plan, the first NCCL communicator
  uint64_t idle = 0;             // used while no process runs on the GPU
};

// Returns the growth on a device of the device table; `device` may include another memory size. All
// sizes are zero if the growth was not measured.
const ContextGrowth& GrowthOf(std::string_view device);

// Returns the context's size with the libraries that `config` uses: a cuBLAS handle for each of the
// two threads (forward, backward), cuDNN for convolutions, cuSOLVER, NCCL. If the growth was not
// measured, returns the size in the device table. Used by ResolveDevice().
uint64_t ContextOfRun(const RunConfig& config, const DeviceProfile& device);

}  // namespace vramscope::run
