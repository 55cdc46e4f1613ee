// Which switches make a program fit that can only be planned as a whole: no key of a configuration,
// just things that can be switched on, each by itself or together with others.
//
//   ASSIGN_OR_RETURN(SwitchesFitted fitted, FitSwitches({.start = planned, .budget = bytes,
//       .switches = {{.name = "bf16", .changes = run::Changes::kRounding}}, .plan = plans}));
//
// Nothing is added up: every combination that is proposed was planned. What each switch is expected
// to save only says what is planned first, and what need not be planned once enough proposals fit.
// Blocking, on the caller's thread; `plan` is called from it.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/fit/fit.h"
#include "profiler/run/fit_moves.h"

namespace vramscope::fit {

struct Switch {
  std::string name;   // two of one name exclude each other
  std::string value;  // "": it has none
  run::Changes changes = run::Changes::kNothing;
  bool slow = false;                      // looked at where nothing else is left
  std::optional<uint64_t> expected = {};  // bytes that it may save, a guess; none: nobody knows
};
using SwitchSet = std::vector<size_t>;  // of the list of switches, ascending

struct SwitchProposal {
  SwitchSet set;
  run::Changes changes = run::Changes::kNothing;  // the most that any of them changes
  Planned planned;
};

struct SwitchSearch {
  Planned start;  // without any
  uint64_t budget = 0;
  std::vector<Switch> switches;
  std::function<bool(size_t, size_t)> excluded;  // besides those of one name
  // Plans all of them; results in their order. An error ends the search; a plan that fails is its
  // result's error.
  std::function<absl::StatusOr<std::vector<Planned>>(const std::vector<SwitchSet>&)> plan;
  size_t proposals = 3;
  size_t at_once = 2;  // plans that `plan` makes side by side
  std::chrono::milliseconds patience{60'000};
};

struct SwitchesFitted {
  // Those that fit; that change the training less first, of each the fastest first. None fits: the
  // smallest alone.
  std::vector<SwitchProposal> proposals;
  std::vector<SwitchProposal> singles;  // those that were planned by themselves, in their order
  int plans = 0;
  bool cut_short = false;  // the time was up: there may be others
};

absl::StatusOr<SwitchesFitted> FitSwitches(const SwitchSearch& search);

}  // namespace vramscope::fit
