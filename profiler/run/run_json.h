// Reads the text of a run.json as flat (key, text) settings. Keys may be nested, dotted, or both:
//
//   {"model": "gpt2", "optimizer": {"name": "sgd"}, "optimizer.lr": 0.1,
//    "lora.targets": ["q_proj", "v_proj"]}
//
// Names are those of the key table or in camelCase (protobuf's mapping). null leaves a key
// unchanged; a number may be quoted. Internal to this folder.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "profiler/run/config_proto.h"

namespace vramscope::run {

// The settings in the order of the text; their values are not yet checked. Errors are: not JSON,
// not an object, an unknown key, a repeated key, a value of a type that the key cannot have.
// Messages suggest a correction, such as the nearest key.
absl::StatusOr<Settings> SettingsFromJson(std::string_view json);
// The same settings as text, nested, one per line.
std::string JsonFromSettings(const Settings& settings);

}  // namespace vramscope::run
