// Prints what toggles did to a planned program, as text and as JSON, for `plan --toggle`, `toggles`
// and `fit`.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "profiler/fit/fit.h"
#include "profiler/program/toggles.h"

namespace vramscope::cli {

// Shortens "/home/me/train.py:12" to "train.py:12".
std::string ShortPlace(const std::string& where);

// "bf16", "lora=16"
std::string NameOf(const program::ToggleReport& report);
// "applied at one place", "already on: the weights are already bfloat16", ...
std::string OutcomeText(const program::ToggleReport& report);
// What an applied toggle did to the peak: "the peak is the same: 1.09 GiB allocated, 1.20 GiB
// reserved", or both figures with their differences.
std::string EffectText(const fit::Planned& without, const fit::Planned& with);
Json EffectJson(const fit::Planned& without, const fit::Planned& with);

// Two tables with reasons: the toggles that are already on in the program, and the other toggles
// that were not applied or do not apply.
std::string ReasonsText(const std::vector<program::ToggleReport>& reports);

// The reports of the toggles that are on. With `all`, also reports on all other toggles.
Json TogglesJson(const std::vector<program::ToggleReport>& reports, bool all);
// What the toggles that are on did, with the lines to add to the program, and the command that
// shows what they save; "" if none is on.
std::string TogglesText(const std::vector<program::ToggleReport>& reports);

// The lines to add for the toggles that are on and had an effect, each under its place in the
// program.
std::string LinesText(const std::vector<program::ToggleReport>& reports);

// Reports on stderr which toggles that are on changed nothing, and why. Returns true if the run has
// the settings of all chosen toggles, from the toggles or from the program itself.
bool SayUnapplied(const std::vector<program::ToggleReport>& reports);

}  // namespace vramscope::cli
