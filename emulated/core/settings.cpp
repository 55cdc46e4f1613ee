#include "emulated/core/settings.h"

#include <cstdio>
#include <cstdlib>

namespace vramscope::emulated {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

Settings SettingsFromEnvironment() {
  Settings settings;
  settings.output = Environment("VRAMSCOPE_EMULATED_OUTPUT");
  settings.log = Environment("VRAMSCOPE_EMULATED_LOG");
  settings.rooms = Environment("VRAMSCOPE_EMULATED_ROOMS");
  const std::string placement = Environment("VRAMSCOPE_EMULATED_PLACEMENT");
  if (placement == "ascending") {
    settings.placement = Placement::kAscending;
  } else if (!placement.empty() && placement != "descending") {
    std::fprintf(stderr,
                 "vramscope: VRAMSCOPE_EMULATED_PLACEMENT is \"%s\": ascending or descending is "
                 "allowed; descending is used\n",
                 placement.c_str());
  }
  const std::string gpus = Environment("VRAMSCOPE_EMULATED_GPU");
  const std::string devices = Environment("VRAMSCOPE_EMULATED_DEVICES");
  std::string problem;
  if (gpus.empty()) {
    problem = "the variable is not set";
  } else {
    settings.gpus = ParseGpus(gpus, std::atoi(devices.c_str()), &problem);
  }
  if (settings.gpus.empty()) {
    std::fprintf(stderr,
                 "vramscope: no GPU to emulate: VRAMSCOPE_EMULATED_GPU: %s; the program sees no "
                 "device\n",
                 problem.c_str());
  }
  return settings;
}

}  // namespace vramscope::emulated
