// The rows of the catalogue that are switched on and off: what each does to a RunConfig, and when
// it can't be combined with the rest.
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
// Grouped, in the order in which groups first appear in the catalogue.
const std::vector<ToggleRow>& Toggles();
const Toggle* FindToggle(std::string_view id);  // null: none of that name

bool IsOn(const Toggle& toggle, const RunConfig& config);
RunConfig SwitchedOn(const Toggle& toggle, const RunConfig& config);
// Whatever goes with it goes too: flash attention with the 16-bit precision it needs.
RunConfig SwitchedOff(const Toggle& toggle, const RunConfig& config);
// Why it can't be switched on (or is without effect) beside the rest; empty: it can.
std::string BlockedBecause(const Toggle& toggle, const RunConfig& config);

// What a search looks at: names, explanation, group, keys and what it implies, then what the row
// sets; null: of the technique as a whole. In lower case, a blank for "-" and "_".
std::string SearchText(const TechniqueDeclaration& technique, const Toggle* row);
// Whether each word is somewhere in it: "8-bit" is found where "8 bits" stands.
bool HasWords(std::string_view search_text, const std::vector<std::string>& words);

}  // namespace vramscope::run
