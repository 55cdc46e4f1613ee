// Prints what toggles did to a planned program, as text and as JSON, for `plan --toggle`, `toggles`
// and `fit`.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "profiler/fit/fit.h"
#include "profiler/program/program.h"
#include "profiler/program/toggles.h"

namespace vramscope::cli {

// Shortens "/home/me/train.py:12" to "train.py:12".
std::string ShortPlace(const std::string& where);

// "bf16", "lora=16"
std::string NameOf(const program::ToggleReport& report);
// Returns "applied at one place", "already on: the weights are already bfloat16", or similar.
std::string OutcomeText(const program::ToggleReport& report);
// Returns how an applied toggle changed the peak: "the peak is the same: 1.09 GiB allocated, 1.20
// GiB reserved", or the two new figures with their changes.
std::string EffectText(const fit::Planned& without, const fit::Planned& with);
Json EffectJson(const fit::Planned& without, const fit::Planned& with);

// Returns two tables of toggles with reasons. The first lists the toggles that the program already
// uses. The second lists the other toggles that do not apply or were not applied.
std::string ReasonsText(const std::vector<program::ToggleReport>& reports);

// Returns the reports of the toggles that are on. If `all`, returns the reports of all toggles.
Json TogglesJson(const std::vector<program::ToggleReport>& reports, bool all);
// Returns the effects of the toggles that are on, the lines to add to the program, and the command
// that shows what they save. "" if no toggle is on.
std::string TogglesText(const std::vector<program::ToggleReport>& reports);

// Returns the reports about toggles of all processes of a program, joined.
std::vector<program::ToggleReport> ReportsOf(const program::Program& seen);

// Returns the lines of code to add to the program for the applied toggles. Lines for the same place
// in the program follow a heading that names this place.
std::string LinesText(const std::vector<program::ToggleReport>& reports);

// Reports on stderr which of the chosen toggles changed nothing, and why. Returns true if the run
// has the settings of all chosen toggles, even if the program set them.
bool SayUnapplied(const std::vector<program::ToggleReport>& reports);

}  // namespace vramscope::cli
