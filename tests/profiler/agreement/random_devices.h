// Recordings of several devices that share nothing but numbers: every device runs its own model of
// the allocator from the same first address, so that addresses, pages of expandable segments and
// private pools of one device are those of another too.
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
  bool expandable = true;              // of every second device
  bool all_alike = false;              // or of all of them, and the file says so
  uint64_t device_memory_bytes = 0;    // of each; 0: no limit. Else retries and out of memory
  bool older = true;                   // the recording begins in mid-run
  uint32_t streams = 2, mempools = 2;  // a mempool of 0 is the default pool
};

struct RandomDevices {
  std::shared_ptr<const trace::Trace> trace;
  std::vector<trace::Event> events;  // as they were made
};

RandomDevices MakeRandomDevices(const RandomDevicesOptions& options);

}  // namespace vramscope::agreement
