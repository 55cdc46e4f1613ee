// How a process's CUDA context comes to be what the device table says of it, where that was read
// off such a card.
//
// A program's card grows by it while the program runs (GrowingCard). A run of the loop has it from
// the start, since a warm worker keeps its handles: what ContextOfRun says, which is what the same
// program's context has grown to at its end.
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

// In bytes: all zero where nobody has.
struct ContextGrowth {
  std::string driver;                            // "580.159.04"; empty: not measured
  std::string with;                              // "PyTorch 2.11, CUDA 13.0"
  uint64_t bare = 0;                             // a context in which nothing was launched
  uint64_t kernels = 0;                          // with the first kernel
  uint64_t cublas = 0, cudnn = 0, cusolver = 0;  // with each handle
  uint64_t cufft = 0, nccl = 0;                  // with the first plan, the first communicator
  uint64_t idle = 0;                             // in use on a card that nobody uses
};

// By the device table's key; of an unknown one nothing.
const ContextGrowth& GrowthOf(std::string_view device);

// Of the libraries that `config` uses, where the card's growth was measured: a handle of cuBLAS for
// each of the forward and the backward thread, of cuDNN where there are convolutions, cuSOLVER,
// NCCL. Elsewhere the device table's figure. ResolveDevice() asks it.
uint64_t ContextOfRun(const RunConfig& config, const DeviceProfile& device);

}  // namespace vramscope::run
