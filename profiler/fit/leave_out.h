// Leaves needless members out of a combination (moves or switches), one after the other.
//
//   const auto enough = [&](size_t, const Planned&, const Planned& without) {
//     return without.FitsInto(budget);
//   };
//   ASSIGN_OR_RETURN(LeftOver few, LeaveOut({.order = {2, 0, 1}, .planned = with_all,
//                                            .plan = plans, .enough = enough}));
//
// Every removal is planned together with the earlier removals; savings are not added up. Blocks,
// and calls the given functions on the caller's thread. Internal to this folder.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <vector>

#include "profiler/fit/fit.h"

namespace vramscope::fit {

using Members = std::vector<size_t>;  // ascending

struct LeavingOut {
  std::vector<size_t> order = {};  // the members; the first one is left out first
  Planned planned = {};            // the plan with all members
  size_t at_once = 2;              // plans that `plan` runs in parallel
  // Plans all sets and returns the results in order. A set that cannot be planned has an error in
  // its result.
  std::function<absl::StatusOr<std::vector<Planned>>(const std::vector<Members>&)> plan = {};
  // Returns whether the member can be left out. Not called if the plan without the member failed.
  std::function<bool(size_t member, const Planned& with, const Planned& without)> enough = {};
  std::function<bool()> in_time = [] { return true; };  // asked before each round of plans
};
struct LeftOver {
  Members members;
  Planned planned;   // the plan with these members
  bool done = true;  // false: the time was up before every member was tried
};

absl::StatusOr<LeftOver> LeaveOut(const LeavingOut& from);

}  // namespace vramscope::fit
