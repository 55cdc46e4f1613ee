// Recordings of several devices that are independent but share addresses: every device runs its own
// allocator model from the same first address, so that addresses, pages of expandable segments and
// private pools have the same numbers on all devices.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::agreement {

struct RandomDevicesOptions {
  uint64_t seed = 1;
  std::vector<uint8_t> devices = {0, 1};
  int requests = 250;
  bool expandable = true;  // of every second device
  bool all_alike = false;  // or of all devices, as the file states
  uint64_t device_memory_bytes =
      0;  // of each device; 0: no limit. Otherwise with retries and out-of-memory errors
  bool older = true;                   // the recording begins in the middle of the run
  uint32_t streams = 2, mempools = 2;  // a mempool of 0 is the default pool
};

struct RandomDevices {
  std::shared_ptr<const trace::Trace> trace;
  std::vector<trace::Event> events;  // as they were emitted
};

RandomDevices MakeRandomDevices(const RandomDevicesOptions& options);

}  // namespace vramscope::agreement
