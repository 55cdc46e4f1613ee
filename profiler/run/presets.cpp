#include <algorithm>

#include "profiler/run/run_config.h"
#include "resources/embedded_file.h"

namespace vramscope::run {

std::vector<ModelPreset> ModelPresets() {
  std::vector<ModelPreset> presets;
  for (const resources::EmbeddedFile& file : resources::ModelFiles()) {
    presets.push_back({file.name, file.content});
  }
  std::sort(presets.begin(), presets.end(),
            [](const ModelPreset& a, const ModelPreset& b) { return a.name < b.name; });
  return presets;
}

}  // namespace vramscope::run
