// Computes the memory that an NCCL communicator needs on each GPU, with the rules of NCCL's public
// source (2.28: init.cc, channel.cc, transport/p2p.cc). NCCL searches the computer's links for the
// best number of channels. This code does not search: it uses the numbers that NCCL reports for
// each kind of board. Example:
//
//   const CommunicatorMemory memory = MemoryOfCommunicator(8, Peers::kNvlink, {});
//   // NCCL needs between memory.least and memory.most; a plan assumes memory.most
//
// Pure functions.
#pragma once

#include <cstdint>

#include "emulated/core/gpu.h"

namespace vramscope::emulated::nccl {

// The values of NCCL's environment variables NCCL_BUFFSIZE, NCCL_MIN_NCHANNELS (or NCCL_MIN_CTAS)
// and NCCL_MAX_NCHANNELS (or NCCL_MAX_CTAS).
struct MemorySettings {
  uint64_t buffer_bytes = uint64_t{4} << 20;
  int min_channels = 1;
  int max_channels = 64;
};
// Reads the environment variables. Invalid values are replaced by the defaults above.
MemorySettings MemorySettingsFromEnvironment();

struct CommunicatorMemory {
  uint64_t least = 0;  // only rings, with the fewest channels
  uint64_t most = 0;   // rings and trees with all channels
};
CommunicatorMemory MemoryOfCommunicator(int ranks, Peers peers, const MemorySettings& settings);

// The memory of NCCL's kernels, which the first communicator adds to the context. It was measured
// on an H200 (driver 580.159.04, NCCL 2.28.9). It is used for every GPU for which the device table
// has no figure (ContextGrowth::nccl).
inline constexpr uint64_t kKernelBytes = uint64_t{170} << 20;

}  // namespace vramscope::emulated::nccl
