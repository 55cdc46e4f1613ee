// The durations of work on a GPU, from the rates of the device table and the share of these rates
// that kernels reach. Pure functions. The constants are shares of a GPU's own rates, or clocks of a
// multiprocessor. They were measured on an H200 (driver 580.159.04, PyTorch 2.11 with CUDA 13.0)
// and are used for all GPUs.
#pragma once

#include <cstdint>

#include "emulated/core/api.h"
#include "emulated/core/gpu.h"
#include "emulated/core/kernels.h"

namespace vramscope::emulated {

// What a launch does, as far as its kernel and parameters show. Unknown values are 0.
struct LaunchWork {
  double bytes = 0;  // read and written, counting repeated accesses
  // Number of blocks, if there are so few that they limit the rate; each moves the same share of
  // the bytes. 0: no limit.
  double blocks = 0;
  // Clocks of a multiprocessor spent on issuing instructions, summed over all multiprocessors.
  double clocks = 0;
  // Number of threads that each go through their bytes serially; 0: no bottleneck.
  double serial_threads = 0;
  double serial_s = 0;  // time of serial steps, added to the other times
  // Tiles of a fused kernel: each runs on one multiprocessor, at `share` of its arithmetic rate.
  double tiles = 0, tile_flops = 0, share = 1;
  Precision precision = Precision::kFp32;
};
VRAMSCOPE_EMULATED_API int64_t LaunchDuration(const Gpu& gpu, const LaunchWork& work);

// Clocks of a multiprocessor for the random number that decides whether dropout drops an element.
inline constexpr double kClocksOfRandomNumber = 0.5;

// The duration of a kernel of which only the launch is known. Every thread is assumed to move 48
// bytes (four elements, each with two reads and one write of 4 bytes).
inline constexpr double kBytesPerThread = 48;
VRAMSCOPE_EMULATED_API int64_t KernelDuration(const Gpu& gpu, uint64_t blocks, uint64_t threads);
// The duration of a library's call whose work is known.
VRAMSCOPE_EMULATED_API int64_t WorkDuration(const Gpu& gpu, double flops, Precision precision,
                                            uint64_t bytes);
// The duration of a matrix product; `flops`: all its operations.
VRAMSCOPE_EMULATED_API int64_t ProductDuration(const Gpu& gpu, const MatrixProduct& product,
                                               double flops, Precision precision, uint64_t bytes);

enum class CopyPath { kOnGpu, kPinned, kPageable };
VRAMSCOPE_EMULATED_API int64_t CopyDuration(const Gpu& gpu, uint64_t bytes, CopyPath path);
VRAMSCOPE_EMULATED_API int64_t FillDuration(const Gpu& gpu, uint64_t bytes);

}  // namespace vramscope::emulated
