// Formats of text settings, by the names that declarations use (SettingDeclaration::format).
// Internal to this folder.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

namespace vramscope::run {

struct TextFormat {
  std::string_view name;      // "names"
  std::string_view expected;  // "expected module names with commas between them, ..."
  // The text in normalised form ("a, b" as "a,b"); kInvalidArgument: not of this format.
  absl::StatusOr<std::string> (*normalized)(std::string_view text);
};

// Null: unknown format.
const TextFormat* FindTextFormat(std::string_view name);

// "q_proj, v_proj" -> {"q_proj", "v_proj"}.
std::vector<std::string> SplitNames(std::string_view text);

}  // namespace vramscope::run
