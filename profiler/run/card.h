// The card that a program ran on, as its driver told, and what the device table adds to that.
//
//   const DeviceProfile device = ProfileOf({"NVIDIA H100 80GB HBM3", 85'017'493'504, 132, 90});
//   device.bandwidth_bytes_per_s;  // 3.35e12: the table's h100-sxm
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profiler/run/device_profile.h"

namespace vramscope::run {

// cudaDeviceProp's fields; an empty name: nobody told.
struct Card {
  std::string name;
  uint64_t memory_bytes = 0;
  uint32_t sm_count = 0;
  uint32_t compute_capability = 0;  // 89 for 8.9
};

// The table's entry for the same chip (compute capability, multiprocessors) with as much memory
// within 5 %; of several the one of the same name, then the nearest in memory.
std::optional<DeviceProfile> TableEntryOf(const Card& card);

// That entry, with the card's own name and memory. A card that the table lacks has no key, no rates
// and no context, but the cuBLAS workspace of its compute capability, by which PyTorch chooses it,
// where the table has a card of that.
DeviceProfile ProfileOf(const Card& card);

}  // namespace vramscope::run
