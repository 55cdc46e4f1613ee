// Prints what toggles did to a planned program, as text and as JSON, for `plan --toggle`, `toggles`
// and `fit`.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "profiler/program/toggles.h"

namespace vramscope::cli {

// Shortens "/home/me/train.py:12" to "train.py:12".
std::string ShortPlace(const std::string& where);

// The reports of the toggles that are on. With `all`, also whether the other toggles would apply.
Json TogglesJson(const std::vector<program::ToggleReport>& reports, bool all);
// What the toggles that are on did, with the lines to add to the program; "" if none is on.
std::string TogglesText(const std::vector<program::ToggleReport>& reports);

// The lines to add for the toggles that are on and had an effect, each under its place in the
// program.
std::string LinesText(const std::vector<program::ToggleReport>& reports);

// Reports on stderr which toggles that are on had no effect, and why. Returns true if all had an
// effect.
bool SayUnapplied(const std::vector<program::ToggleReport>& reports);

}  // namespace vramscope::cli
