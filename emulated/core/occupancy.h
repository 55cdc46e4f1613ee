// Calculates how many blocks of a kernel fit on a multiprocessor, as CUDA's occupancy functions do.
// PyTorch and cub derive sizes of grids and workspaces from this number. Pure functions.
#pragma once

#include <cstdint>

#include "emulated/core/gpu.h"
#include "emulated/core/kernels.h"

namespace vramscope::emulated {

int BlocksThatFit(const Gpu& gpu, const Architecture& architecture, const KernelFacts& facts,
                  int threads, uint64_t dynamic_shared);

}  // namespace vramscope::emulated
