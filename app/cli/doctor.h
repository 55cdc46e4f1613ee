// Findings of `doctor`, and what it asks of a GPU beyond its driver.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/run/device_profile.h"

namespace vramscope::cli {

enum class State { kPass, kSkip, kFail };

struct Finding {
  State state;
  std::string what, detail;
};

// Whether this process is on the emulated platform; after the driver has been probed.
bool OnEmulatedPlatform();

// A few calls of the driver under our CUPTI client: records come, on one clock, and allocations are
// those that were made.
std::vector<Finding> CheckCupti();

// What NVML says of the card's memory, when this process has taken some of it and given it back.
std::vector<Finding> CheckNvml();

// emulated/python/vramscope/doctor.py under the hooks, planned (`device`) and for real. `python`:
// "" for the first interpreter that has PyTorch for CUDA.
std::vector<Finding> CheckPyTorch(const std::string& python,
                                  const std::optional<run::DeviceProfile>& device);

}  // namespace vramscope::cli
