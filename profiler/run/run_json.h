// Reads the text of a run.json as flat (key, text) settings. Keys may be nested, dotted, or both:
//
//   {"model": "gpt2", "optimizer": {"name": "sgd"}, "optimizer.lr": 0.1,
//    "lora.targets": ["q_proj", "v_proj"]}
//
// Keys are written as in the key table, or in camelCase as in protobuf's JSON. The value null
// leaves a key unchanged. Numbers may be quoted. Internal to this folder.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "profiler/run/config_proto.h"

namespace vramscope::run {

// Returns the settings in the order of the text, without checking their values. Errors: the text is
// not JSON or not an object; a key is unknown or repeated; a value has a type that its key does not
// allow. Messages suggest a correction, such as the nearest key.
absl::StatusOr<Settings> SettingsFromJson(std::string_view json);
// Returns whether a run.json may have this key at its top level: a setting, dotted or in camelCase,
// or a group of settings.
bool IsRunKey(std::string_view key);
// Writes settings as the text of a run.json: nested keys, and one setting per line.
std::string JsonFromSettings(const Settings& settings);

}  // namespace vramscope::run
