// The toggles of the catalogue: how each changes a RunConfig, and when it cannot be combined with
// other settings.
//
//   for (const ToggleRow& row : Toggles())
//     if (BlockedBecause(*row.toggle, config).empty()) config = SwitchedOn(*row.toggle, config);
//
// Pure functions; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/catalogue.h"
#include "profiler/run/run_config.h"

namespace vramscope::run {

struct ToggleRow {
  const TechniqueDeclaration* technique;
  const Toggle* toggle;
};
// Returns all toggles, grouped. The groups are in the order of their first toggle in the catalogue.
const std::vector<ToggleRow>& Toggles();
const Toggle* FindToggle(std::string_view id);  // null: unknown id

bool IsOn(const Toggle& toggle, const RunConfig& config);
RunConfig SwitchedOn(const Toggle& toggle, const RunConfig& config);
// Also switches off what depends on the toggle. Switching off 16-bit precision, for example, also
// switches off flash attention, which needs 16 bits.
RunConfig SwitchedOff(const Toggle& toggle, const RunConfig& config);
// Returns why the toggle cannot be combined with other settings, or has no effect; "" otherwise.
std::string BlockedBecause(const Toggle& toggle, const RunConfig& config);

// Returns the text in which a search looks: names, explanation, group, keys, what the technique
// implies, and what the toggle sets. If `row` is null, the text is for the whole technique. It is
// in lower case, with spaces in place of "-" and "_".
std::string SearchText(const TechniqueDeclaration& technique, const Toggle* row);
// Whether the text contains every word: "8-bit" matches "8 bits".
bool HasWords(std::string_view search_text, const std::vector<std::string>& words);

}  // namespace vramscope::run
