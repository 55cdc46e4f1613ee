// A card of the device table as the emulated platform is told of it: VRAMSCOPE_EMULATED_CARD has
// one such line for each device (emulated/README.md).
//
//   setenv("VRAMSCOPE_EMULATED_CARD", EmulatedCard(device).c_str(), 1);
#pragma once

#include <string>
#include <string_view>

#include "profiler/run/device_profile.h"

namespace vramscope::run {

// "name=NVIDIA H200;memory_bytes=...;...;bus_bits=5120": one line, without its end.
std::string EmulatedCard(const DeviceProfile& device);
// Likewise, of a process of its own: the context grows with what the program uses, where the table
// says by how much.
std::string GrowingCard(const DeviceProfile& device);

// As CUDA calls the card; the table's names tell variants apart that it does not: "NVIDIA H200
// (SXM)", "NVIDIA GeForce RTX 3060 12GB".
std::string CudaName(std::string_view table_name);

}  // namespace vramscope::run
