// What each device of a recording of several has. Internal to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::explain {

// What a device has of memory, event by event; cheaper than curves of every category.
class DeviceMemory {
 public:
  DeviceMemory(const trace::Trace& trace, uint8_t device) : trace_(trace), device_(device) {}
  // After the next event; events in their order. False: nothing has changed.
  bool Next(trace::EventIndex event);
  uint64_t allocated() const { return allocated_; }
  uint64_t reserved() const { return reserved_; }

 private:
  const trace::Trace& trace_;
  const uint8_t device_;
  uint64_t allocated_ = 0, reserved_ = 0;
};

// Most that each device had reserved, by device.
std::array<uint64_t, 256> PeakReserved(const trace::Trace& trace);

// " on cuda:1" of a trace with several devices, else "".
std::string OnDevice(const trace::Trace& trace, uint8_t device);

}  // namespace vramscope::explain
