// Computes durations of work on a GPU from the rates in the device table, and from the shares of
// these rates that kernels reach. Pure functions. The constants are shares of a GPU's own rates, or
// clocks of a multiprocessor. They were measured on an H200 (driver 580.159.04, PyTorch 2.11 with
// CUDA 13.0) and are used for all GPUs.
#pragma once

#include <cstdint>

#include "emulated/core/api.h"
#include "emulated/core/gpu.h"
#include "emulated/core/kernels.h"

namespace vramscope::emulated {

// The work of a launch, as far as its kernel and its parameters show it. Unknown values are 0.
struct LaunchWork {
  double bytes = 0;  // read and written, counting repeated accesses
  // The number of blocks if there are so few that they limit the rate, otherwise 0. All blocks move
  // equally many bytes.
  double blocks = 0;
  // The clocks that all multiprocessors together spend on issuing instructions.
  double clocks = 0;
  // The number of threads that each read many bytes serially, or 0 if such reading does not limit
  // the rate.
  double serial_threads = 0;
  double serial_s = 0;  // time of serial steps, added to the other times
  // Tiles of a fused kernel. A tile runs on one multiprocessor, at `share` of its arithmetic rate.
  double tiles = 0, tile_flops = 0, share = 1;
  Precision precision = Precision::kFp32;
};
VRAMSCOPE_EMULATED_API int64_t LaunchDuration(const Gpu& gpu, const LaunchWork& work);

// The clocks of a multiprocessor for one random number. Dropout needs one for each element.
inline constexpr double kClocksOfRandomNumber = 0.5;

// Returns the duration of a kernel if nothing except its launch is known. Every thread is assumed
// to move 48 bytes (four elements, each with two reads and one write of 4 bytes).
inline constexpr double kBytesPerThread = 48;
VRAMSCOPE_EMULATED_API int64_t KernelDuration(const Gpu& gpu, uint64_t blocks, uint64_t threads);
// Returns the duration of a library call that does this work.
VRAMSCOPE_EMULATED_API int64_t WorkDuration(const Gpu& gpu, double flops, Precision precision,
                                            uint64_t bytes);
// Returns the duration of a matrix product with `flops` operations in all.
VRAMSCOPE_EMULATED_API int64_t ProductDuration(const Gpu& gpu, const MatrixProduct& product,
                                               double flops, Precision precision, uint64_t bytes);

enum class CopyPath { kOnGpu, kPinned, kPageable };
VRAMSCOPE_EMULATED_API int64_t CopyDuration(const Gpu& gpu, uint64_t bytes, CopyPath path);
VRAMSCOPE_EMULATED_API int64_t FillDuration(const Gpu& gpu, uint64_t bytes);

}  // namespace vramscope::emulated
