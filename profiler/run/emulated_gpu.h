// Describes a GPU as a line of text for the emulated platform. VRAMSCOPE_EMULATED_GPU has one such
// line for each device (emulated/README.md).
//
//   setenv("VRAMSCOPE_EMULATED_GPU", EmulatedGpu(device).c_str(), 1);
#pragma once

#include <string>
#include <string_view>

#include "profiler/run/device_profile.h"

namespace vramscope::run {

// Returns "name=NVIDIA H200;memory_bytes=...;...;bus_bits=5120", without a line break.
std::string EmulatedGpu(const DeviceProfile& device);
// Returns the text for a separate process. The text includes the context's growth, so that the
// context grows with each library that the program uses.
std::string GrowingGpu(const DeviceProfile& device);

// Returns CUDA's name of the GPU. Names in the table distinguish more variants than CUDA's names:
// "NVIDIA H200 (SXM)", "NVIDIA GeForce RTX 3060 12GB".
std::string CudaName(std::string_view table_name);

}  // namespace vramscope::run
