#include "profiler/run/allocator_settings.h"

#include <fmt/format.h>

#include "profiler/run/catalogue.h"

namespace vramscope::run {

std::string AllocConfOf(const RunConfig& config) {
  std::string out = config.alloc_conf;
  for (const TechniqueDeclaration& technique : TheCatalogue().techniques) {
    for (const SettingDeclaration& setting : technique.settings) {
      if (!setting.key.starts_with(kAllocatorKeys)) continue;
      const std::string& value = config.Get(setting.key);
      if (value.empty()) continue;
      out += fmt::format("{}{}:{}", out.empty() ? "" : ",",
                         setting.key.substr(kAllocatorKeys.size()), value);
    }
  }
  return out;
}

}  // namespace vramscope::run
