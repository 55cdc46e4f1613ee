// What toggles did to a planned program, as text and as JSON: `plan --toggle`, `toggles`, `fit`.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "profiler/program/toggles.h"

namespace vramscope::cli {

// "train.py:12" of "/home/me/train.py:12".
std::string ShortPlace(const std::string& where);

// Of those that are on; `all`: also whether the others would apply.
Json TogglesJson(const std::vector<program::ToggleReport>& reports, bool all);
// What the ones that are on did, with the lines to write; "": none is on.
std::string TogglesText(const std::vector<program::ToggleReport>& reports);

// The lines to write of those that are on and did something, under the places they belong to.
std::string LinesText(const std::vector<program::ToggleReport>& reports);

// Says on stderr which of those that are on did nothing, and why. True: all did something.
bool SayUnapplied(const std::vector<program::ToggleReport>& reports);

}  // namespace vramscope::cli
