// How many blocks of a kernel fit on a multiprocessor: CUDA's occupancy calculation. PyTorch and
// cub derive grid and scratch sizes from it. Pure functions.
#pragma once

#include <cstdint>

#include "emulated/core/gpu.h"
#include "emulated/core/kernels.h"

namespace vramscope::emulated {

int BlocksThatFit(const Gpu& gpu, const Architecture& architecture, const KernelFacts& facts,
                  int threads, uint64_t dynamic_shared);

}  // namespace vramscope::emulated
