// What each device of a recording of several has. Internal to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::explain {

// Most that each device had reserved, by device.
std::array<uint64_t, 256> PeakReserved(const trace::Trace& trace);

// " on cuda:1" of a trace with several devices, else "".
std::string OnDevice(const trace::Trace& trace, uint8_t device);

}  // namespace vramscope::explain
