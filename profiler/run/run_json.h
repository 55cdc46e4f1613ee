// The text of a run.json as flat (key, text) settings. Keys are written nested, with dots, or both:
//
//   {"model": "gpt2", "optimizer": {"name": "sgd"}, "optimizer.lr": 0.1,
//    "lora.targets": ["q_proj", "v_proj"]}
//
// Names as in the key table or in camelCase (protobuf's mapping); null leaves a key as it is; a
// number may stand in quotes. Internal to this folder.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "profiler/run/config_proto.h"

namespace vramscope::run {

// Settings in the order of the text; their values are still to be checked. Errors say what to write
// instead: not JSON, not an object, an unknown key (with the nearest), a key that is set twice, a
// value that is of no use for its key whatever it says.
absl::StatusOr<Settings> SettingsFromJson(std::string_view json);
// The same settings as text, nested, one a line.
std::string JsonFromSettings(const Settings& settings);

}  // namespace vramscope::run
