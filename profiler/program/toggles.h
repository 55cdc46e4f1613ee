// Techniques that are switched on a program from outside (emulated/python/vramscope/toggles): what
// there is, which were chosen, and what a planned program's process says of them.
//
//   ASSIGN_OR_RETURN(std::vector<Toggle> all, ReadToggles(platform));
//   ASSIGN_OR_RETURN(std::vector<ToggleChoice> chosen, ChooseToggles(all, {"bf16", "lora=16"}));
//   Launch(platform, {.command = ..., .toggles = ToggleVariable(chosen)});
//   for (const ToggleReport& report : run.about.toggles) Show(report);
//
// Pure but for reading the catalogue; thread-safe.
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

// A declaration. It is made in Python; the build writes all of them into the catalogue.
struct Toggle {
  std::string name, label, group, explains;
  std::string changes;              // of the training: "nothing", "rounding", "training"
  std::vector<std::string> values;  // that it takes; none: see value_kind
  std::string value_kind;           // "N", "RANK"; "": one of values, or no value
  std::string default_value;        // "": none
  bool needs_value = false;         // there is no default
  bool slow = false;                // to run: a search looks at it last
  bool before_torch = false;        // PyTorch reads it when it is imported
  std::vector<std::string> excludes;
  // What it may take less of, in parts of what there is at the peak: categories by their names,
  // "cached" for what the allocator holds and nobody uses. A guess, by which a search is ordered.
  std::map<std::string, double> reduces;
  std::string reduces_in;  // "eval", "optimizer": of a peak in that phase alone; "": of any
  bool takes_value() const { return !values.empty() || !value_kind.empty(); }
};

struct ToggleChoice {
  std::string name;
  std::optional<std::string> value;
  friend bool operator==(const ToggleChoice&, const ToggleChoice&) = default;
};
// "lora=16", as --toggle takes it.
std::string TextOf(const ToggleChoice& choice);

struct ToggleChange {
  std::string text;   // a line or an argument to write
  std::string where;  // "train.py:12", "environment"; "": not known
};

// What a process says of a toggle, whether it was chosen or only looked for.
struct ToggleReport {
  std::string name, value;  // "": none
  bool on = false;
  uint64_t reached = 0;                // places where it was applied, or would have been
  std::string why;                     // nowhere: why
  std::string overridden;              // applied, and without effect: why
  std::vector<std::string> proposals;  // values that are worth a plan; "": without one
  std::vector<double> shares;          // of each, how much of Toggle::reduces; none: all of it
  std::vector<ToggleChange> changes;
  bool applies() const { return reached > 0 && overridden.empty(); }
};

// kNotFound: the platform has no catalogue; kDataLoss: it is none.
absl::StatusOr<std::vector<Toggle>> ReadToggles(const Platform& platform);
absl::StatusOr<std::vector<Toggle>> ParseToggles(std::string_view json);

// Null: there is none of that name.
const Toggle* FindToggle(const std::vector<Toggle>& all, std::string_view name);

// NAME or NAME=VALUE each. kInvalidArgument says what is allowed: a name or a value that there is
// not, one twice, two that exclude each other.
absl::StatusOr<std::vector<ToggleChoice>> ChooseToggles(const std::vector<Toggle>& all,
                                                        const std::vector<std::string>& texts);
// Why the two don't go together; "": they do.
std::string WhyExcluded(const std::vector<Toggle>& all, std::string_view a, std::string_view b);

// As the hooks read it. Of none: all are looked for.
std::string ToggleVariable(const std::vector<ToggleChoice>& choices);

// A JSON list of what a process says of them. It is the program's: caps, no trust; what is no
// report is left out.
std::vector<ToggleReport> ParseToggleReports(std::string_view list);

}  // namespace vramscope::program
