// Tells which keys of a config.json are supported, and which belong to models that vramscope cannot
// plan: if a plan ignored such a key, its figures could be wrong. Internal to this folder.
#pragma once

#include <absl/status/status.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "profiler/run/model_config.h"

namespace vramscope::run {

// kInvalidArgument: a key belongs to a kind of model that vramscope cannot plan; the message names
// the key. `own`: keys that the family itself reads, which are allowed.
absl::Status RefuseOtherModels(const nlohmann::json& object,
                               std::span<const std::string_view> own = {});

// Makes the same check with an empty `own`. On success, fills config.ignored and config.unknown.
absl::Status TakeOtherKeys(const nlohmann::json& object, ModelConfig& config);

}  // namespace vramscope::run
