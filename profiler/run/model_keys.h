// The keys of a config.json: which are known, and which belong to models that are not planned.
// Ignoring an unknown key could give a wrong figure. Internal to this folder.
#pragma once

#include <absl/status/status.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "profiler/run/model_config.h"

namespace vramscope::run {

// kInvalidArgument names a key that makes it another model; `own` are keys that the family reads.
absl::Status RefuseOtherModels(const nlohmann::json& object,
                               std::span<const std::string_view> own = {});

// Likewise; if successful, fills `ignored` and `unknown`.
absl::Status TakeOtherKeys(const nlohmann::json& object, ModelConfig& config);

}  // namespace vramscope::run
