// Settings from the environment. They are read when the first library of the platform is loaded. A
// fork of the warm process reads the GPUs and the folder of its run again
// (vramscope_emulated_reread_settings).
//
//   VRAMSCOPE_EMULATED_GPU       one line per GPU (gpu.h)
//   VRAMSCOPE_EMULATED_DEVICES    number of GPUs; the last line is repeated
//   VRAMSCOPE_EMULATED_PLACEMENT  descending (default, as on Linux) or ascending (Windows, WSL)
//   VRAMSCOPE_EMULATED_OUTPUT     folder for platform-<pid>.json
//   VRAMSCOPE_EMULATED_LOG        file, or - for standard error
//   VRAMSCOPE_EMULATED_ROOMS      folder shared by the processes of a run
#pragma once

#include <string>
#include <vector>

#include "emulated/core/addresses.h"
#include "emulated/core/gpu.h"

namespace vramscope::emulated {

struct Settings {
  std::vector<Gpu> gpus;
  Placement placement = Placement::kDescending;
  std::string output;
  std::string log;
  std::string rooms;
};

// Reports errors in the environment on standard error. With an error, the result has no GPUs.
Settings SettingsFromEnvironment();

}  // namespace vramscope::emulated
