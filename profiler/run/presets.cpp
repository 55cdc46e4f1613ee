#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "profiler/run/run_config.h"
#include "resources/embedded_file.h"

namespace vramscope::run {
namespace {

constexpr std::pair<std::string_view, uint64_t> kParameters[] = {
    {"bert-base-uncased", 109'483'778},
    {"bigbird-roberta-base", 128'060'930},
    {"distilbert-base-uncased", 66'955'010},
    {"gemma-2-2b", 2'614'341'888},
    {"gemma-2b", 2'506'172'416},
    {"gemma-3-1b", 999'885'952},
    {"mixtral-8x7b", 46'702'792'704},
    {"mt5-base", 582'401'280},
    {"phi-1.5", 1'418'270'720},
    {"phi-2", 2'779'683'840},
    {"phi-3-mini", 3'821'079'552},
    {"qwen3-0.6b", 596'049'920},
    {"vit-3b", 3'012'773'491},
    {"vit-l-16", 303'311'882},
    {"vit-l-16-1000", 304'326'632},
};

uint64_t ParametersOf(std::string_view name) {
  for (const auto& [preset, count] : kParameters)
    if (preset == name) return count;
  return 0;
}

}  // namespace

std::vector<ModelPreset> ModelPresets() {
  std::vector<ModelPreset> presets;
  for (const resources::EmbeddedFile& file : resources::ModelFiles()) {
    const std::string_view name = file.name;
    const bool for_tests = name.starts_with("handmade-") || name.starts_with("nn-");
    presets.push_back({name, file.content, for_tests, ParametersOf(name)});
  }
  std::sort(presets.begin(), presets.end(),
            [](const ModelPreset& a, const ModelPreset& b) { return a.name < b.name; });
  return presets;
}

}  // namespace vramscope::run
