// The formats of text settings. Declarations name a format in SettingDeclaration::format. Internal
// to this folder.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

namespace vramscope::run {

struct TextFormat {
  std::string_view name;      // "names"
  std::string_view expected;  // "expected module names with commas between them, ..."
  // Returns the text in normalised form ("a, b" as "a,b"); kInvalidArgument: it has another format.
  absl::StatusOr<std::string> (*normalized)(std::string_view text);
};

// Null: unknown format.
const TextFormat* FindTextFormat(std::string_view name);

// "q_proj, v_proj" -> {"q_proj", "v_proj"}.
std::vector<std::string> SplitNames(std::string_view text);

}  // namespace vramscope::run
