#include "profiler/run/configuration_kind.h"

#include <absl/status/statusor.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "profiler/run/config_reader.h"
#include "profiler/run/run_json.h"

namespace vramscope::run {

ConfigurationKind KindOfConfiguration(std::string_view text) {
  const absl::StatusOr<nlohmann::json> object = ParseConfigObject(text);
  if (!object.ok()) return ConfigurationKind::kMalformed;
  // A config.json may also have keys of a run.json, but no run.json has the names of a model.
  if (NamesOf(*object).ok()) return ConfigurationKind::kModel;
  const auto any_key = [&](auto matches) {
    return std::ranges::any_of(object->items(),
                               [&](const auto& item) { return matches(item.key()); });
  };
  // Other keys of a device file, such as "name" and "memory", occur in many files.
  if (any_key([](std::string_view key) {
        return key == "multiprocessors" || key == "compute_capability" || key == "like";
      })) {
    return ConfigurationKind::kDevice;
  }
  return any_key(IsRunKey) ? ConfigurationKind::kRun : ConfigurationKind::kUnknown;
}

}  // namespace vramscope::run
