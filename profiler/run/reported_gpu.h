// The GPU on which a program ran, as reported by its driver. The device table adds more figures.
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

// Fields of cudaDeviceProp; an empty name: unknown.
struct ReportedGpu {
  std::string name;
  uint64_t memory_bytes = 0;
  uint32_t sm_count = 0;
  uint32_t compute_capability = 0;  // 89 for 8.9
};

// Returns the table's entry for the same chip (compute capability, multiprocessors) whose memory
// differs by at most 5 %. Prefers an entry with the same name, then the nearest memory size.
std::optional<DeviceProfile> TableEntryOf(const ReportedGpu& gpu);

// Returns TableEntryOf() with the GPU's own name and memory. If the GPU is not in the table, it has
// no key, rates or context. Its cuBLAS workspace is then taken from any GPU in the table with the
// same compute capability, by which PyTorch chooses the workspace.
DeviceProfile ProfileOf(const ReportedGpu& gpu);

}  // namespace vramscope::run
