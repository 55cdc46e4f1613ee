#include "profiler/fit/switches.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/fit/leave_out.h"

namespace vramscope::fit {
namespace {

using Clock = std::chrono::steady_clock;
using run::Changes;

constexpr Changes kLevels[] = {Changes::kNothing, Changes::kRounding, Changes::kTraining};
constexpr std::string_view kCached = "cached";  // Switch::reduces_only
constexpr double kWorth = 0.002;       // fraction of the budget; smaller savings do not count
constexpr double kDoubt = 1.25;        // factor by which switches may save more than expected
constexpr double kFar = 1.5;           // the same factor where a wrong guess costs more than a plan
constexpr double kSearchShare = 0.75;  // of the patience
constexpr size_t kMostOthers = 6;      // maximum number of searches for other proposals

// One search. It adds switches, largest saving first, until the program fits.
struct Way {
  Changes level = Changes::kNothing;
  std::set<std::string> without = {};  // names of switches that are not used
  SwitchSet set = {};
  Planned planned = {};
  std::vector<size_t> left = {};  // switches to try, in this order
  SwitchSet next = {};            // the set to plan next
  bool by_one = false;            // true: adding several switches at once did not help
  bool done = false;
};

class Search {
 public:
  explicit Search(const SwitchSearch& search) : s_(search) {}

  absl::StatusOr<SwitchesFitted> Run() {
    if (Fits(s_.start)) return SwitchesFitted{};
    if (const absl::Status status = Singles(); !status.ok()) return status;
    std::vector<Way> ways;
    for (const Changes level : kLevels) {
      if (Fitting() >= s_.proposals && Fit().front().changes <= level) break;
      ways.push_back(WayOf(level, {}));
    }
    if (const absl::Status status = Descend(ways); !status.ok()) return status;
    if (const absl::Status status = Reduce(); !status.ok()) return status;
    if (const absl::Status status = Others(); !status.ok()) return status;
    if (const absl::Status status = ReduceSmallest(); !status.ok()) return status;
    return Result();
  }

 private:
  // Returns whether half of another round of plans can be done in time. A round is assumed to take
  // as long as the longest so far. If `leaves_time`, time is left for leaving switches out of
  // proposals.
  bool InTime(bool leaves_time = false) {
    const auto patience = leaves_time ? s_.patience * kSearchShare : s_.patience;
    const bool in_time = Clock::now() + longest_ / 2 < begin_ + patience;
    cut_short_ |= !in_time;
    return in_time;
  }
  bool Fits(const Planned& planned) const { return planned.FitsInto(s_.budget); }

  absl::Status Plan(std::vector<SwitchSet> sets) {
    std::sort(sets.begin(), sets.end());
    sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
    std::erase_if(sets,
                  [&](const SwitchSet& set) { return set.empty() || planned_.contains(set); });
    if (sets.empty()) return absl::OkStatus();
    const Clock::time_point begin = Clock::now();
    absl::StatusOr<std::vector<Planned>> planned = s_.plan(sets);
    longest_ = std::max(longest_, Clock::now() - begin);
    if (!planned.ok()) return planned.status();
    for (size_t i = 0; i < sets.size(); ++i) planned_[sets[i]] = (*planned)[i];
    return absl::OkStatus();
  }

  // Plans each switch that may suffice alone, a few at a time, until enough of them fit. The order
  // is by the change to the training, then by the expected saving.
  absl::Status Singles() {
    std::vector<size_t> order;
    for (size_t i = 0; i < s_.switches.size(); ++i)
      if (!s_.switches[i].slow && MayDo(i)) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](size_t i) {
      return std::tuple(s_.switches[i].changes, OtherValueFirst(i), -Saves(i));
    });
    for (size_t i = 0; i < order.size() && Fitting() < s_.proposals; i += s_.at_once) {
      if (i > 0 && !InTime()) break;
      std::vector<SwitchSet> round;
      for (size_t k = i; k < std::min(order.size(), i + s_.at_once); ++k)
        round.push_back({order[k]});
      if (const absl::Status status = Plan(std::move(round)); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
  int64_t Missing(const Planned& planned) const {
    return static_cast<int64_t>(planned.needed()) - static_cast<int64_t>(s_.budget);
  }
  // Returns the fewest bytes that must be saved. Cached memory does not count, because the
  // allocator releases it before the budget is exceeded.
  int64_t LeastMissing(const Planned& planned) const {
    const uint64_t cached =
        planned.peak > 0 ? planned.reserved - std::min(planned.reserved, planned.peak) : 0;
    return std::max<int64_t>(1, Missing(planned) - static_cast<int64_t>(cached));
  }
  bool MayDo(size_t i) const {
    const std::optional<uint64_t>& expected = s_.switches[i].expected;
    const bool cached = s_.switches[i].reduces_only == kCached;
    const int64_t missing = cached ? Missing(s_.start) : LeastMissing(s_.start);
    constexpr double kLittleDoubt = 1.15;
    return !expected ||
           kLittleDoubt * static_cast<double>(*expected) >= static_cast<double>(missing);
  }
  // Whether another value of the same switch should be tried first, because its saving is closer to
  // what is missing.
  bool OtherValueFirst(size_t i) const {
    const auto enough = [&](size_t k) {
      return static_cast<double>(Saves(k)) >= 1.1 * static_cast<double>(Missing(s_.start));
    };
    for (size_t k = 0; k < s_.switches.size(); ++k) {
      if (k == i || s_.switches[k].name != s_.switches[i].name || !s_.switches[k].expected)
        continue;
      if (enough(k) ? !enough(i) || Saves(k) < Saves(i) : !enough(i) && Saves(k) > Saves(i))
        return true;
    }
    return false;
  }

  // Returns the bytes that a switch saves alone: 0 if its plan failed, and the expected saving if
  // it was not planned.
  int64_t Saves(size_t i) const {
    const auto at = planned_.find({i});
    if (at == planned_.end()) return static_cast<int64_t>(s_.switches[i].expected.value_or(0));
    if (!at->second.ok()) return 0;
    return static_cast<int64_t>(s_.start.needed()) - static_cast<int64_t>(at->second.needed());
  }
  bool Known(size_t i) const { return planned_.contains({i}) || s_.switches[i].expected; }
  bool Failed(size_t i) const {
    const auto at = planned_.find({i});
    return at != planned_.end() && !at->second.ok();
  }

  Way WayOf(Changes level, const std::set<std::string>& without) const {
    Way way{.level = level, .without = without, .planned = s_.start};
    for (size_t i = 0; i < s_.switches.size(); ++i)
      if (s_.switches[i].changes <= level && !without.contains(s_.switches[i].name) && !Failed(i))
        way.left.push_back(i);
    // Slow switches come last. Within both groups, switches are sorted by saving, largest first.
    std::stable_sort(way.left.begin(), way.left.end(), [&](size_t x, size_t y) {
      return std::tuple(s_.switches[x].slow, -Saves(x)) <
             std::tuple(s_.switches[y].slow, -Saves(y));
    });
    return way;
  }

  bool GoesWith(const SwitchSet& set, size_t other) const {
    return std::ranges::none_of(set, [&](size_t one) {
      return s_.switches[one].name == s_.switches[other].name ||
             (s_.excluded && s_.excluded(one, other));
    });
  }
  static SwitchSet With(SwitchSet set, size_t one) {
    set.insert(std::upper_bound(set.begin(), set.end(), one), one);
    return set;
  }

  // Whether `other` and a switch of the set reduce only the same kind of memory.
  bool SavesTheSame(const SwitchSet& set, size_t other) const {
    const std::string& reduces = s_.switches[other].reduces_only;
    return !reduces.empty() && std::ranges::any_of(set, [&](size_t one) {
      return s_.switches[one].reduces_only == reduces;
    });
  }
  // Estimates the bytes that these switches save together from what each saves alone. If several
  // reduce only the same kind of memory, only the largest saving counts.
  int64_t SavesTogether(const SwitchSet& set) const {
    std::map<std::string, int64_t> largest;
    int64_t saves = 0;
    for (const size_t i : set) {
      const std::string& reduces = s_.switches[i].reduces_only;
      if (reduces.empty())
        saves += Saves(i);
      else
        largest[reduces] = std::max(largest[reduces], Saves(i));
    }
    for (const auto& [reduces, most] : largest) saves += most;
    return saves;
  }

  // Chooses the next set: adds one switch, or as many switches as are expected to suffice. Ends a
  // search if its next set contains a set that fits, or if all its switches together are expected
  // to save far too little. In the second case, the search that may use all switches continues, to
  // find how much it can save.
  void Step(Way& way) const {
    std::erase_if(way.left,
                  [&](size_t i) { return !GoesWith(way.set, i) || (Known(i) && Saves(i) <= 0); });
    way.done = way.done || way.left.empty() || Fits(way.planned);
    if (way.done) return;
    way.next = With(way.set, way.left.front());
    if (std::ranges::all_of(way.left, [&](size_t i) { return Known(i); })) Several(way);
    way.done = way.done || HoldsFitting(way.next);
  }
  void Several(Way& way) const {
    const int64_t missing = std::max<int64_t>(1, Missing(way.planned));
    SwitchSet next = way.set;
    int64_t saves = 0;
    for (const size_t i : way.left) {
      if (saves >= missing) break;
      if (!GoesWith(next, i) || SavesTheSame(next, i)) continue;
      next = With(next, i);
      saves += Saves(i);
    }
    way.done = (way.level != Changes::kTraining || !way.without.empty()) &&
               kDoubt * static_cast<double>(saves) < static_cast<double>(LeastMissing(way.planned));
    if (!way.by_one && next.size() > way.set.size()) way.next = std::move(next);
  }

  // Advances all searches together step by step, so that their plans run in parallel.
  absl::Status Descend(std::vector<Way>& ways) {
    for (;;) {
      std::vector<SwitchSet> next;
      for (Way& way : ways) {
        Step(way);
        if (!way.done) next.push_back(way.next);
      }
      if (next.empty() || !InTime(Fitting() > 0)) break;
      if (const absl::Status status = Plan(next); !status.ok()) return status;
      for (Way& way : ways)
        if (!way.done) Took(way);
    }
    return absl::OkStatus();
  }
  void Took(Way& way) const {
    const Planned& planned = planned_.at(way.next);
    const double worth = static_cast<double>(s_.budget) * kWorth;
    const bool helps =
        planned.ok() && (Fits(planned) || static_cast<double>(planned.needed()) + worth <
                                              static_cast<double>(way.planned.needed()));
    if (!helps && way.next.size() > way.set.size() + 1) {
      way.by_one = true;
      return;
    }
    std::erase_if(way.left,
                  [&](size_t i) { return std::ranges::find(way.next, i) != way.next.end(); });
    if (helps) way.set = way.next, way.planned = planned;
  }

  const Planned& PlanOf(const SwitchSet& set) const {
    return set.empty() ? s_.start : planned_.at(set);
  }
  // Whether these switches are expected to save far too little. They are a part of `all`, which
  // fits. If `all` saves more than expected, the part is also expected to save more.
  bool Hopeless(const SwitchSet& set, const SwitchSet& all) const {
    if (planned_.contains(set) || !std::ranges::all_of(all, [&](size_t i) { return Known(i); }))
      return false;
    const auto saved =
        static_cast<double>(s_.start.needed()) - static_cast<double>(PlanOf(all).needed());
    const double more = saved / static_cast<double>(std::max<int64_t>(1, SavesTogether(all)));
    return kFar * std::max(1.0, more) * static_cast<double>(SavesTogether(set)) <
           static_cast<double>(LeastMissing(s_.start));
  }
  // Leaves out switches as long as the set fits or, if `most` is given, needs at most `most` bytes.
  // First tries switches that change the training most; among equal ones, those that save least.
  absl::StatusOr<LeftOver> Needed(const SwitchSet& all, std::optional<uint64_t> most) {
    LeavingOut from{.order = all, .planned = planned_.at(all), .at_once = s_.at_once};
    std::ranges::stable_sort(from.order, [&](size_t x, size_t y) {
      return std::tuple(s_.switches[y].changes, Saves(x)) <
             std::tuple(s_.switches[x].changes, Saves(y));
    });
    from.plan = [this, &all,
                 most](const std::vector<SwitchSet>& sets) -> absl::StatusOr<std::vector<Planned>> {
      std::vector<SwitchSet> hopeful;
      for (const SwitchSet& set : sets)
        if (most || !Hopeless(set, all)) hopeful.push_back(set);
      if (const absl::Status status = Plan(hopeful); !status.ok()) return status;
      std::vector<Planned> planned;
      for (const SwitchSet& set : sets)
        planned.push_back(
            std::ranges::find(hopeful, set) == hopeful.end()
                ? Planned{.error = i18n::Text("not planned: would save far too little memory")}
                : PlanOf(set));
      return planned;
    };
    from.enough = [this, most](size_t, const Planned&, const Planned& without) {
      return most ? without.needed() <= *most : Fits(without);
    };
    from.in_time = [this] { return InTime(); };
    return LeaveOut(from);
  }

  // Leaves needless switches out of the proposals: those without which a proposal still fits.
  absl::Status Reduce() {
    for (;;) {
      const std::vector<SwitchProposal> fit = Chosen();
      const auto next = std::ranges::find_if(fit, [&](const SwitchProposal& one) {
        return one.set.size() > 1 && !reduced_.contains(one.set);
      });
      if (next == fit.end()) return absl::OkStatus();
      const absl::StatusOr<LeftOver> needed = Needed(next->set, std::nullopt);
      if (!needed.ok()) return needed.status();
      if (!needed->done) return absl::OkStatus();
      reduced_.insert(needed->members);
    }
  }
  // If nothing fits, removes switches that save nothing from the set that needs least memory.
  absl::Status ReduceSmallest() {
    if (Fitting() > 0) return absl::OkStatus();
    const SwitchSet* smallest = nullptr;
    for (const auto& [set, planned] : planned_)
      if (planned.ok() &&
          (smallest == nullptr || planned.needed() < planned_.at(*smallest).needed()))
        smallest = &set;
    if (smallest == nullptr) return absl::OkStatus();
    smallest_ = *smallest;
    const auto worth = static_cast<uint64_t>(static_cast<double>(s_.budget) * kWorth);
    const absl::StatusOr<LeftOver> needed =
        Needed(smallest_, planned_.at(smallest_).needed() + worth);
    if (!needed.ok()) return needed.status();
    if (!needed->members.empty()) smallest_ = needed->members;
    return absl::OkStatus();
  }

  // To find other proposals, at least one switch of each known proposal must be left out. Returns
  // the possible sets of names to leave out; those that lose the least saving come first.
  std::vector<std::set<std::string>> Withouts() const {
    std::vector<std::set<std::string>> withouts = {{}};
    for (const SwitchProposal& one : Fit()) {
      std::vector<std::set<std::string>> more;
      for (const std::set<std::string>& without : withouts)
        for (const size_t i : one.set) {
          more.push_back(without);
          more.back().insert(s_.switches[i].name);
        }
      withouts = std::move(more);
    }
    std::ranges::stable_sort(withouts, {}, [&](const std::set<std::string>& without) {
      int64_t saves = 0;
      for (size_t i = 0; i < s_.switches.size(); ++i)
        if (without.contains(s_.switches[i].name)) saves += Saves(i);
      return saves;
    });
    return withouts;
  }
  // If there are too few proposals, searches for others, each time without one set of Withouts().
  absl::Status Others() {
    std::set<std::set<std::string>> tried;
    while (Fitting() > 0 && Fitting() < s_.proposals && tried.size() < kMostOthers) {
      const std::vector<std::set<std::string>> withouts = Withouts();
      std::vector<Way> others;
      for (const std::set<std::string>& without : withouts)
        if (others.size() < s_.at_once && tried.insert(without).second)
          others.push_back(WayOf(Changes::kTraining, without));
      if (others.empty() || !InTime(true)) break;
      if (const absl::Status status = Descend(others); !status.ok()) return status;
      if (const absl::Status status = Reduce(); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  Changes ChangesOf(const SwitchSet& set) const {
    Changes most = Changes::kNothing;
    for (const size_t i : set) most = std::max(most, s_.switches[i].changes);
    return most;
  }

  bool HoldsFitting(const SwitchSet& set) const {
    return std::ranges::any_of(planned_, [&](const auto& one) {
      return Fits(one.second) && std::ranges::includes(set, one.first);
    });
  }
  // Returns the sets that fit and contain no smaller set that fits, best first.
  std::vector<SwitchProposal> Fit() const {
    std::vector<SwitchProposal> fit;
    for (const auto& [set, planned] : planned_) {
      const bool needless = std::ranges::any_of(planned_, [&](const auto& other) {
        return other.first != set && Fits(other.second) && std::ranges::includes(set, other.first);
      });
      if (Fits(planned) && !needless) fit.push_back({set, ChangesOf(set), planned});
    }
    std::ranges::stable_sort(fit, [](const SwitchProposal& x, const SwitchProposal& y) {
      return std::tuple(x.changes, x.planned.step_ms, x.set.size()) <
             std::tuple(y.changes, y.planned.step_ms, y.set.size());
    });
    return fit;
  }
  std::vector<SwitchProposal> Chosen() const {
    std::vector<SwitchProposal> fit = Fit();
    if (fit.size() > s_.proposals) fit.resize(s_.proposals);
    return fit;
  }
  size_t Fitting() const { return Fit().size(); }

  SwitchesFitted Result() const {
    SwitchesFitted out{.proposals = Chosen(),
                       .singles = {},
                       .plans = static_cast<int>(planned_.size()),
                       .cut_short = cut_short_};
    for (size_t i = 0; i < s_.switches.size(); ++i)
      if (const auto at = planned_.find({i}); at != planned_.end())
        out.singles.push_back({{i}, s_.switches[i].changes, at->second});
    if (out.proposals.empty() && !smallest_.empty())
      out.proposals.push_back({smallest_, ChangesOf(smallest_), planned_.at(smallest_)});
    return out;
  }

  const SwitchSearch& s_;
  const Clock::time_point begin_ = Clock::now();
  std::map<SwitchSet, Planned> planned_;
  std::set<SwitchSet> reduced_;  // sets of which no switch can be left out
  SwitchSet smallest_;           // needs the least memory, if nothing fits
  Clock::duration longest_{};    // duration of the longest round of plans
  bool cut_short_ = false;
};

}  // namespace

absl::StatusOr<SwitchesFitted> FitSwitches(const SwitchSearch& search) {
  return Search(search).Run();
}

}  // namespace vramscope::fit
