// Findings of `doctor`, and the checks that it runs on a GPU in addition to the driver check.
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

// Returns whether this process runs on the emulated platform. Call it after the driver has been
// probed.
bool OnEmulatedPlatform();

// Makes a few driver calls while vramscope's CUPTI client records them. Checks that records arrive,
// that they use one clock, and that the recorded allocations match the calls.
std::vector<Finding> CheckCupti();

// Allocates GPU memory, and checks that NVML's figures of used memory grow accordingly.
std::vector<Finding> CheckNvml();

// Runs emulated/python/vramscope/doctor.py with the hooks, once as a plan for `device` and once on
// the real GPU. If `python` is "", uses the first interpreter that has PyTorch for CUDA.
std::vector<Finding> CheckPyTorch(const std::string& python,
                                  const std::optional<run::DeviceProfile>& device);

}  // namespace vramscope::cli
