// Techniques that are switched on in a program from outside (emulated/python/vramscope/toggles):
// available toggles, chosen toggles, and the report of a process about them.
//
//   ASSIGN_OR_RETURN(std::vector<Toggle> all, ReadToggles(platform));
//   ASSIGN_OR_RETURN(std::vector<ToggleChoice> chosen, ChooseToggles(all, {"bf16", "lora=16"}));
//   Launch(platform, {.command = ..., .toggles = ToggleVariable(chosen)});
//   for (const ToggleReport& report : run.about.toggles) Show(report);
//
// Pure except for reading the catalogue; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::program {

struct Platform;

// A toggle as declared in Python. The build writes all declarations to the catalogue.
struct Toggle {
  std::string name, label, group, explains;
  std::string applies_to;  // which programs it applies to: what follows the words "applies to"
  std::string changes;     // effect on training: "nothing", "rounding", "training"
  std::vector<std::string> values;  // allowed values; empty: see value_kind
  std::string value_kind;           // "N", "RANK[@MODEL]"; "": one of `values`, or no value
  std::string default_value;        // "": none
  bool needs_value = false;         // there is no default
  bool slow = false;                // slow to run: a search tries it last
  bool before_torch = false;        // sets an environment variable that PyTorch reads at its import
  std::vector<std::string> excludes;
  // Keyed by category (or "cached": reserved memory that is not in use). The value is the fraction
  // of that memory at the peak that the toggle may save. These are guesses, and only determine the
  // order of a search.
  std::map<std::string, double> reduces;
  std::string reduces_in;  // "eval", "optimizer": reduces only a peak in that phase; "": any peak
  bool takes_value() const { return !values.empty() || !value_kind.empty(); }
};

struct ToggleChoice {
  std::string name;
  std::optional<std::string> value;
  friend bool operator==(const ToggleChoice&, const ToggleChoice&) = default;
};
// "lora=16", as for --toggle.
std::string TextOf(const ToggleChoice& choice);

struct ToggleChange {
  std::string text;   // a line or an argument to write
  std::string where;  // "train.py:12", "environment"; "": not known
  friend bool operator==(const ToggleChange&, const ToggleChange&) = default;
};

// Drops duplicates, and joins the comma-separated settings of an environment variable, so that all
// changes can be made together.
std::vector<ToggleChange> JoinChanges(const std::vector<ToggleChange>& changes);

// What a toggle did in a program.
enum class ToggleOutcome : uint8_t {
  kApplied,    // the program's calls were changed, or would be if the toggle were on
  kAlreadyOn,  // the program has this setting by itself
  kNoEffect,   // the program undid the change later
  kUnusable,   // the plan includes it, but with it the program would not train as intended
  kNotApplied  // there was nothing to change
};

// A process's report about a toggle that was chosen or only looked for.
struct ToggleReport {
  std::string name, value;  // "": none
  bool on = false;
  uint64_t reached = 0;     // how often it was applied, or could have been
  uint64_t places = 0;      // number of places in the program to which `reached` refers
  bool already_on = false;  // it applied nowhere because the program has this setting
  // In English, as in JSON; see ReasonText().
  std::string why;                     // why it applied nowhere
  std::string overridden;              // why it was applied without effect
  std::string unusable;                // why the program cannot use it
  std::vector<std::string> proposals;  // values that are worth a plan; "": no value
  // The part of Toggle::reduces that each proposal saves. Empty if each proposal saves all of it.
  std::vector<double> shares;
  std::vector<ToggleChange> changes;
  std::string applies_to;  // Toggle::applies_to
  ToggleOutcome outcome() const;
  bool applies() const { return outcome() == ToggleOutcome::kApplied; }
  // Whether the run has the setting, from the toggle or from the program itself.
  bool in_force() const { return applies() || outcome() == ToggleOutcome::kAlreadyOn; }
};

// Returns, translated, why the toggle applied nowhere, had no effect or cannot be used, or "" if it
// applies.
std::string ReasonText(const ToggleReport& report);
// Returns ReasonText() and, if there was nothing to change, what the toggle applies to.
std::string WhyText(const ToggleReport& report);
// Translates a reason from a report, alone or after a name ("lora: ..."), to the language of the
// output.
std::string ReasonText(std::string_view english);

// kNotFound: the platform has no catalogue; kDataLoss: it is invalid.
absl::StatusOr<std::vector<Toggle>> ReadToggles(const Platform& platform);
absl::StatusOr<std::vector<Toggle>> ParseToggles(std::string_view json);

// Returns null if there is no toggle of that name.
const Toggle* FindToggle(const std::vector<Toggle>& all, std::string_view name);

// Each text is NAME or NAME=VALUE. kInvalidArgument: unknown names or values, duplicates, or two
// toggles that exclude each other; the message lists what is allowed.
absl::StatusOr<std::vector<ToggleChoice>> ChooseToggles(const std::vector<Toggle>& all,
                                                        const std::vector<std::string>& texts);
// Returns why toggles `a` and `b` exclude each other, or "" if they do not.
std::string WhyExcluded(const std::vector<Toggle>& all, std::string_view a, std::string_view b);

// Joins the reports of several processes: of each toggle, the report of the process in which it did
// most.
std::vector<ToggleReport> JoinReports(const std::vector<std::vector<ToggleReport>>& processes);

// Formats the choices for the hooks. If there are none, the hooks look for all toggles.
std::string ToggleVariable(const std::vector<ToggleChoice>& choices);

// Parses a process's JSON list of reports. The list is untrusted: its size is capped, and invalid
// entries are left out.
std::vector<ToggleReport> ParseToggleReports(std::string_view list);

}  // namespace vramscope::program
