// A GPU of the device table as text for the emulated platform: VRAMSCOPE_EMULATED_GPU has one such
// line for each device (emulated/README.md).
//
//   setenv("VRAMSCOPE_EMULATED_GPU", EmulatedGpu(device).c_str(), 1);
#pragma once

#include <string>
#include <string_view>

#include "profiler/run/device_profile.h"

namespace vramscope::run {

// "name=NVIDIA H200;memory_bytes=...;...;bus_bits=5120": one line, without the line break.
std::string EmulatedGpu(const DeviceProfile& device);
// The same text for a separate process: with it, the context grows with the libraries that the
// program uses, if the table has their sizes.
std::string GrowingGpu(const DeviceProfile& device);

// CUDA's name of the GPU. Names in the table distinguish variants that CUDA's names do not: "NVIDIA
// H200 (SXM)", "NVIDIA GeForce RTX 3060 12GB".
std::string CudaName(std::string_view table_name);

}  // namespace vramscope::run
