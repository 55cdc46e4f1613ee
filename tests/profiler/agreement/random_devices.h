// Recordings of several independent devices with the same addresses. Each device has its own
// allocator model, and all models have the same first address. So addresses, pages of expandable
// segments and private pools have equal numbers on all devices.
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
  bool expandable = true;  // every second device has expandable segments
  bool all_alike = false;  // with `expandable`: all devices have such segments (alloc_conf)
  // The memory of each device; 0: no limit. With a limit, allocations may be retried and may fail.
  uint64_t device_memory_bytes = 0;
  bool older = true;                   // the recording begins in the middle of the run
  uint32_t streams = 2, mempools = 2;  // mempool 0 is the default pool
};

struct RandomDevices {
  std::shared_ptr<const trace::Trace> trace;
  std::vector<trace::Event> events;  // the emitted events
};

RandomDevices MakeRandomDevices(const RandomDevicesOptions& options);

}  // namespace vramscope::agreement
