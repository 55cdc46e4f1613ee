#include "emulated/core/occupancy.h"

#include <algorithm>

#include "emulated/core/addresses.h"

namespace vramscope::emulated {

int BlocksThatFit(const Gpu& gpu, const Architecture& architecture, const KernelFacts& facts,
                  int threads, uint64_t dynamic_shared) {
  if (threads <= 0 || threads > 1024) {
    return 0;
  }
  constexpr int kWarp = 32, kPartitions = 4;
  const int warps = (threads + kWarp - 1) / kWarp;
  int blocks = std::min(architecture.blocks_per_sm, gpu.max_threads_per_sm / kWarp / warps);
  // A warp gets registers in units of 256, from the quarter of the register file that belongs to
  // its partition.
  const int registers = std::max(facts.registers, 1);
  const int a_warp = static_cast<int>(RoundUp(static_cast<uint64_t>(registers) * kWarp, 256));
  const int warps_by_registers =
      kPartitions * (architecture.registers_per_sm / kPartitions / a_warp);
  blocks = std::min(blocks, warps_by_registers / warps);
  // Since compute capability 8.0 the system reserves 1 KiB of shared memory per block.
  const bool recent = gpu.compute_capability >= 80;
  const uint64_t asked = static_cast<uint64_t>(facts.static_shared) + dynamic_shared;
  if (dynamic_shared > static_cast<uint64_t>(architecture.shared_per_sm)) {
    return 0;
  }
  const uint64_t shared = RoundUp(asked + (recent ? 1024 : 0), recent ? 128 : 256);
  if (shared > 0) {
    blocks = std::min(blocks, static_cast<int>(architecture.shared_per_sm / shared));
  }
  return std::max(blocks, 0);
}

}  // namespace vramscope::emulated
