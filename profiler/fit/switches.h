// Finds switches (toggles, arguments) that make a program fit. Used for programs, which have no
// configuration keys and can only be planned as a whole.
//
//   ASSIGN_OR_RETURN(SwitchesFitted fitted, FitSwitches({.start = planned, .budget = bytes,
//       .switches = {{.name = "bf16", .changes = run::Changes::kRounding}}, .plan = plans}));
//
// Every proposed combination was planned; savings are not added up. No switch of a proposal can be
// left out: without it, the plan does not fit, or the others are expected to save far too little.
// The expected saving of a switch only determines which sets are planned, and in which order.
// FitSwitches() blocks, and calls `plan` on the caller's thread.
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
  std::string name;   // switches of the same name exclude each other
  std::string value;  // "": no value
  run::Changes changes = run::Changes::kNothing;
  bool slow = false;                      // tried after all other switches
  std::optional<uint64_t> expected = {};  // estimated saving in bytes; nullopt: unknown
  // The only kind of memory that the switch reduces ("cached": reserved, but not allocated), or ""
  // for several or unknown kinds. Among switches of one kind, only the largest saving counts.
  std::string reduces_only = {};
};
using SwitchSet = std::vector<size_t>;  // ascending indexes in SwitchSearch::switches

struct SwitchProposal {
  SwitchSet set;
  run::Changes changes = run::Changes::kNothing;  // the largest change of any switch
  Planned planned;
};

struct SwitchSearch {
  Planned start;  // the plan without any switch
  uint64_t budget = 0;
  std::vector<Switch> switches;
  std::function<bool(size_t, size_t)> excluded;  // further pairs that exclude each other
  // Plans all sets and returns the results in order. A returned error ends the search. A plan that
  // fails is reported in its result instead.
  std::function<absl::StatusOr<std::vector<Planned>>(const std::vector<SwitchSet>&)> plan;
  size_t proposals = 3;
  size_t at_once = 2;  // plans that `plan` runs in parallel
  std::chrono::milliseconds patience{60'000};
};

struct SwitchesFitted {
  // Sets that fit, sorted by their change to the training, then by time. No set contains another.
  // If none fits, contains only the set that needs the least memory. Empty if the program fits
  // without a switch.
  std::vector<SwitchProposal> proposals;
  std::vector<SwitchProposal> singles;  // all sets of one switch that were planned
  int plans = 0;
  bool cut_short = false;  // the time was up; there may be more proposals
};

absl::StatusOr<SwitchesFitted> FitSwitches(const SwitchSearch& search);

}  // namespace vramscope::fit
