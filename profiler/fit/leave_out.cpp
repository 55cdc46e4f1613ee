#include "profiler/fit/leave_out.h"

#include <algorithm>

namespace vramscope::fit {
namespace {

Members Without(const Members& members, size_t one) {
  Members less = members;
  std::erase(less, one);
  return less;
}

}  // namespace

absl::StatusOr<LeftOver> LeaveOut(const LeavingOut& from) {
  LeftOver out{.members = from.order, .planned = from.planned};
  std::ranges::sort(out.members);
  struct Tried {
    size_t member;
    bool planned;
  };
  std::vector<size_t> open = from.order;
  std::vector<Tried> needed;  // members that cannot be left out
  while (!open.empty()) {
    if (!from.in_time()) {
      out.done = false;
      break;
    }
    const std::vector<size_t> round(
        open.begin(), open.begin() + static_cast<ptrdiff_t>(
                                         std::min(open.size(), std::max<size_t>(1, from.at_once))));
    std::vector<Members> sets;
    for (const size_t member : round) sets.push_back(Without(out.members, member));
    const absl::StatusOr<std::vector<Planned>> planned = from.plan(sets);
    if (!planned.ok()) return planned.status();
    for (size_t i = 0; i < round.size(); ++i) {
      const Planned& without = (*planned)[i];
      open.erase(open.begin());
      if (!without.ok() || !from.enough(round[i], out.planned, without)) {
        needed.push_back({round[i], without.ok()});
        continue;
      }
      // A member that was needed is tried again only in two cases: if the run needs less memory
      // without member i, or if the plan without the needed member failed.
      const bool harmed = without.needed() < out.planned.needed();
      for (const Tried& tried : needed)
        if (harmed || !tried.planned) open.push_back(tried.member);
      std::erase_if(needed, [&](const Tried& tried) { return harmed || !tried.planned; });
      out.members = std::move(sets[i]);
      out.planned = without;
      break;  // the other plans of this round are not used, because they still have this member
    }
  }
  return out;
}

}  // namespace vramscope::fit
