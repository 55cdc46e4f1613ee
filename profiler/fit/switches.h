// Finds switches that make a program fit. For programs that can only be planned as a whole: they
// have no configuration keys, only switches that can be combined.
//
//   ASSIGN_OR_RETURN(SwitchesFitted fitted, FitSwitches({.start = planned, .budget = bytes,
//       .switches = {{.name = "bf16", .changes = run::Changes::kRounding}}, .plan = plans}));
//
// Savings are not added up: every proposed combination was planned. The expected saving of a switch
// only determines what is planned first, and what is skipped once enough proposals fit. Blocking,
// on the caller's thread; `plan` is called from it.
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
  bool slow = false;                      // tried when nothing else is left
  std::optional<uint64_t> expected = {};  // guess of the bytes that it saves; nullopt: not known
};
using SwitchSet = std::vector<size_t>;  // indexes in the list of switches, ascending

struct SwitchProposal {
  SwitchSet set;
  run::Changes changes = run::Changes::kNothing;  // the largest change of any switch
  Planned planned;
};

struct SwitchSearch {
  Planned start;  // without any switch
  uint64_t budget = 0;
  std::vector<Switch> switches;
  std::function<bool(size_t, size_t)> excluded;  // in addition to switches of the same name
  // Plans all sets and returns the results in order. An error ends the search; a plan that fails
  // is reported in its result.
  std::function<absl::StatusOr<std::vector<Planned>>(const std::vector<SwitchSet>&)> plan;
  size_t proposals = 3;
  size_t at_once = 2;  // plans that `plan` runs in parallel
  std::chrono::milliseconds patience{60'000};
};

struct SwitchesFitted {
  // Sets that fit, those that change the training least first, then the fastest. If none fits:
  // only the smallest.
  std::vector<SwitchProposal> proposals;
  std::vector<SwitchProposal> singles;  // switches that were planned alone, in their order
  int plans = 0;
  bool cut_short = false;  // the time was up; there may be more proposals
};

absl::StatusOr<SwitchesFitted> FitSwitches(const SwitchSearch& search);

}  // namespace vramscope::fit
