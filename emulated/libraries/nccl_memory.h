// The memory that an NCCL communicator needs on each GPU, by the rules of NCCL's public source
// (2.28: init.cc, channel.cc, transport/p2p.cc). NCCL determines the number of channels by a search
// over the computer's links, which is not repeated here; the numbers are those that NCCL reports
// for each kind of board.
//
//   const CommunicatorMemory memory = MemoryOfCommunicator(8, Peers::kNvlink, {});
//   // between memory.least and memory.most; a plan takes memory.most
//
// Pure functions.
#pragma once

#include <cstdint>

#include "emulated/core/gpu.h"

namespace vramscope::emulated::nccl {

// NCCL_BUFFSIZE, NCCL_MIN_NCHANNELS (NCCL_MIN_CTAS), NCCL_MAX_NCHANNELS (NCCL_MAX_CTAS).
struct MemorySettings {
  uint64_t buffer_bytes = uint64_t{4} << 20;
  int min_channels = 1;
  int max_channels = 64;
};
// Invalid values are replaced by the defaults.
MemorySettings MemorySettingsFromEnvironment();

struct CommunicatorMemory {
  uint64_t least = 0;  // only rings, with the fewest channels
  uint64_t most = 0;   // rings and trees with all channels
};
CommunicatorMemory MemoryOfCommunicator(int ranks, Peers peers, const MemorySettings& settings);

// NCCL's kernels in the context of the first communicator, measured on an H200 (driver 580.159.04,
// NCCL 2.28.9); used for GPUs without their own figure.
inline constexpr uint64_t kKernelBytes = uint64_t{170} << 20;

}  // namespace vramscope::emulated::nccl
