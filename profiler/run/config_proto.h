// Converts the serialised RunConfig to and from flat settings (key, text). Keys and values are the
// field paths and values of proto/run.proto. Internal to this folder; uses no protobuf types.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vramscope::run {

using Settings = std::vector<std::pair<std::string, std::string>>;

// Returns the fields that are set in the message, in field order, and then the entries of its
// `settings` map, sorted by key.
absl::StatusOr<Settings> SettingsFromBytes(std::string_view bytes);
std::string BytesFromSettings(const Settings& settings);

// Returns all field paths of the message. A test uses them to check that the key table is complete.
std::vector<std::string> FieldPaths();

}  // namespace vramscope::run
