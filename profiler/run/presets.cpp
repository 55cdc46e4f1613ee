#include "profiler/run/run_config.h"
#include "resources/embedded_file.h"

namespace vramscope::run {

std::vector<ModelPreset> ModelPresets() {
  std::vector<ModelPreset> presets;
  for (const resources::EmbeddedFile& file : resources::ModelFiles()) {
    presets.push_back({file.name, file.content});
  }
  return presets;
}

}  // namespace vramscope::run
