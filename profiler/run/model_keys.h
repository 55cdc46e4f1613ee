// The keys of a config.json: which are known, and which say that the model is one that is not
// planned. A key that nobody looks at would be a wrong figure. Internal to this folder.
#pragma once

#include <absl/status/status.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "profiler/run/model_config.h"

namespace vramscope::run {

// kInvalidArgument names a key that makes it another model; `own` are keys that the model reads.
absl::Status RefuseOtherModels(const nlohmann::json& object,
                               std::span<const std::string_view> own = {});

// The same; else fills `ignored` and `unknown`.
absl::Status TakeOtherKeys(const nlohmann::json& object, ModelConfig& config);

}  // namespace vramscope::run
