// What a communicator of NCCL takes of each card, by the rules of its public source (2.28: init.cc,
// channel.cc, transport/p2p.cc). How many channels it makes depends on a search over the computer's
// links, which is not repeated here: they are what NCCL reports on boards of each kind.
//
//   const CommunicatorMemory memory = MemoryOfCommunicator(8, Peers::kNvlink, {});
//   // between memory.least and memory.most; a plan takes memory.most
//
// Pure.
#pragma once

#include <cstdint>

#include "emulated/core/card.h"

namespace vramscope::emulated::nccl {

// NCCL_BUFFSIZE, NCCL_MIN_NCHANNELS (NCCL_MIN_CTAS), NCCL_MAX_NCHANNELS (NCCL_MAX_CTAS).
struct MemorySettings {
  uint64_t buffer_bytes = uint64_t{4} << 20;
  int min_channels = 1;
  int max_channels = 64;
};
// Values that NCCL would not take are those of the default.
MemorySettings MemorySettingsFromEnvironment();

struct CommunicatorMemory {
  uint64_t least = 0;  // rings alone, as few channels as NCCL makes
  uint64_t most = 0;   // rings and trees of all channels
};
CommunicatorMemory MemoryOfCommunicator(int ranks, Peers peers, const MemorySettings& settings);

// NCCL's kernels in the first communicator's context, read off an H200 (driver 580.159.04, NCCL
// 2.28.9): for cards whose own figure is not known.
inline constexpr uint64_t kKernelBytes = uint64_t{170} << 20;

}  // namespace vramscope::emulated::nccl
