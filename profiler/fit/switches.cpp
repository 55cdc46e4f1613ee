#include "profiler/fit/switches.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace vramscope::fit {
namespace {

using Clock = std::chrono::steady_clock;
using run::Changes;

constexpr Changes kLevels[] = {Changes::kNothing, Changes::kRounding, Changes::kTraining};
constexpr double kWorth = 0.002;  // fraction of the budget; smaller savings do not count
constexpr double kDoubt = 1.25;   // factor by which switches may save more than expected

// One search. It adds switches, largest saving first, until the program fits.
struct Way {
  Changes level = Changes::kNothing;
  std::string without = {};  // name of an excluded switch; "": none
  SwitchSet set = {};
  Planned planned = {};
  std::vector<size_t> left = {};  // switches to try, in this order
  SwitchSet next = {};            // the set to plan next
  bool by_one = false;            // true: adding several switches at once did not help
  bool done = false;
};

class Search {
 public:
  explicit Search(const SwitchSearch& search) : s_(search), end_(Clock::now() + search.patience) {}

  absl::StatusOr<SwitchesFitted> Run() {
    if (const absl::Status status = Singles(); !status.ok()) return status;
    std::vector<Way> ways;
    for (const Changes level : kLevels) {
      if (Fitting() >= s_.proposals && Fit().front().changes <= level) break;
      ways.push_back(WayOf(level, ""));
    }
    if (const absl::Status status = Descend(ways); !status.ok()) return status;
    // Searches for alternatives without a switch, for each switch in the proposals so far.
    for (size_t i = 0; Fitting() < s_.proposals && i < s_.switches.size() && InTime(); ++i) {
      if (!Used(i)) continue;
      std::vector<Way> others = {WayOf(Changes::kTraining, s_.switches[i].name)};
      if (const absl::Status status = Descend(others); !status.ok()) return status;
    }
    if (const absl::Status status = Further(); !status.ok()) return status;
    return Result();
  }

 private:
  // Whether there is time for half of another round of plans, if it takes as long as the longest so
  // far.
  bool InTime() {
    const bool in_time = Clock::now() + longest_ / 2 < end_;
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

  // Plans single switches that may suffice alone, a few at a time, until enough of them fit. They
  // are sorted by their change to the training, then by expected saving.
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
  bool MayDo(size_t i) const {
    const std::optional<uint64_t>& expected = s_.switches[i].expected;
    constexpr double kLittleDoubt = 1.15;
    return !expected ||
           kLittleDoubt * static_cast<double>(*expected) >= static_cast<double>(Missing(s_.start));
  }
  // Whether another value of the same switch should be tried first, because it saves enough with
  // less surplus.
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

  // The bytes that a switch saves alone: 0 if its plan failed, the expected saving if it was not
  // planned.
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

  Way WayOf(Changes level, const std::string& without) const {
    Way way{.level = level, .without = without, .planned = s_.start};
    for (size_t i = 0; i < s_.switches.size(); ++i)
      if (s_.switches[i].changes <= level && s_.switches[i].name != without && !Failed(i))
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

  // Chooses the next set, which has one more switch, or as many more as are expected to suffice.
  // Ends a search whose switches together are expected to save far too little. The search that
  // allows all changes continues anyway, to show how far it gets.
  void Step(Way& way) const {
    std::erase_if(way.left,
                  [&](size_t i) { return !GoesWith(way.set, i) || (Known(i) && Saves(i) <= 0); });
    way.done = way.done || way.left.empty() || Fits(way.planned);
    if (way.done) return;
    way.next = With(way.set, way.left.front());
    if (way.by_one || !std::ranges::all_of(way.left, [&](size_t i) { return Known(i); })) return;
    const int64_t missing = Missing(way.planned);
    int64_t saves = 0;
    way.next = way.set;
    for (const size_t i : way.left) {
      if (saves >= missing) break;
      if (!GoesWith(way.next, i)) continue;
      way.next = With(way.next, i);
      saves += Saves(i);
    }
    way.done = way.level != Changes::kTraining &&
               kDoubt * static_cast<double>(saves) < static_cast<double>(missing);
  }

  // Advances all searches together step by step, so that their plans run in parallel.
  absl::Status Descend(std::vector<Way>& ways) {
    while (InTime()) {
      std::vector<SwitchSet> next;
      for (Way& way : ways) {
        Step(way);
        if (!way.done) next.push_back(way.next);
      }
      if (next.empty()) break;
      if (const absl::Status status = Plan(next); !status.ok()) return status;
      for (Way& way : ways)
        if (!way.done) Took(way);
    }
    return Prune(ways);
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

  // Removes switches that are not needed to fit.
  absl::Status Prune(const std::vector<Way>& ways) {
    std::vector<SwitchSet> smaller;
    for (const Way& way : ways) {
      if (!Fits(way.planned) || way.set.size() < 2) continue;
      for (size_t i = 0; i < way.set.size(); ++i) {
        // Keeps a switch without which the program probably needs far too much memory.
        const int64_t spare = -Missing(way.planned);
        if (Known(way.set[i]) && Saves(way.set[i]) / 2 > spare) continue;
        SwitchSet set = way.set;
        set.erase(set.begin() + static_cast<ptrdiff_t>(i));
        smaller.push_back(std::move(set));
      }
    }
    return InTime() ? Plan(std::move(smaller)) : absl::OkStatus();
  }

  // If there are too few proposals, adds one switch at a time to the best set that fits.
  absl::Status Further() {
    for (size_t i = 0; Fitting() < s_.proposals && InTime(); ++i) {
      const std::vector<SwitchProposal> fit = Fit();
      if (fit.empty() || i == s_.switches.size()) break;
      if (Saves(i) <= 0 || !GoesWith(fit.front().set, i)) continue;
      if (const absl::Status status = Plan({With(fit.front().set, i)}); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  Changes ChangesOf(const SwitchSet& set) const {
    Changes most = Changes::kNothing;
    for (const size_t i : set) most = std::max(most, s_.switches[i].changes);
    return most;
  }

  // The sets that fit, best first. Leaves out a set that contains another set and is neither faster
  // nor smaller than that one.
  std::vector<SwitchProposal> Fit() const {
    std::vector<SwitchProposal> fit;
    for (const auto& [set, planned] : planned_)
      if (Fits(planned)) fit.push_back({set, ChangesOf(set), planned});
    std::ranges::stable_sort(fit, [](const SwitchProposal& x, const SwitchProposal& y) {
      return std::tuple(x.changes, x.planned.step_ms, x.set.size()) <
             std::tuple(y.changes, y.planned.step_ms, y.set.size());
    });
    std::vector<SwitchProposal> kept;
    for (const SwitchProposal& one : fit) {
      const bool needless = std::ranges::any_of(fit, [&](const SwitchProposal& other) {
        return other.set != one.set && std::ranges::includes(one.set, other.set) &&
               other.planned.step_ms <= one.planned.step_ms &&
               other.planned.needed() <= one.planned.needed();
      });
      if (!needless) kept.push_back(one);
    }
    return kept;
  }
  size_t Fitting() const { return Fit().size(); }
  bool Used(size_t i) const {
    return std::ranges::any_of(Fit(), [&](const SwitchProposal& one) {
      return std::ranges::find(one.set, i) != one.set.end();
    });
  }

  SwitchesFitted Result() const {
    SwitchesFitted out{.proposals = Choose(Fit()),
                       .singles = {},
                       .plans = static_cast<int>(planned_.size()),
                       .cut_short = cut_short_};
    for (size_t i = 0; i < s_.switches.size(); ++i)
      if (const auto at = planned_.find({i}); at != planned_.end())
        out.singles.push_back({{i}, s_.switches[i].changes, at->second});
    if (!out.proposals.empty()) return out;
    const SwitchSet* smallest = nullptr;
    for (const auto& [set, planned] : planned_)
      if (planned.ok() &&
          (smallest == nullptr || planned.needed() < planned_.at(*smallest).needed()))
        smallest = &set;
    if (smallest != nullptr)
      out.proposals.push_back({*smallest, ChangesOf(*smallest), planned_.at(*smallest)});
    return out;
  }

  // Prefers sets that are not supersets of other chosen sets.
  std::vector<SwitchProposal> Choose(const std::vector<SwitchProposal>& fit) const {
    std::vector<SwitchProposal> chosen, more;
    for (const SwitchProposal& one : fit) {
      const bool holds_one = std::ranges::any_of(chosen, [&](const SwitchProposal& other) {
        return std::ranges::includes(one.set, other.set);
      });
      (holds_one ? more : chosen).push_back(one);
    }
    if (chosen.size() > s_.proposals) chosen.resize(s_.proposals);
    for (const SwitchProposal& one : more)
      if (chosen.size() < s_.proposals) chosen.push_back(one);
    std::ranges::stable_sort(chosen, {}, [](const SwitchProposal& one) {
      return std::pair(one.changes, one.planned.step_ms);
    });
    return chosen;
  }

  const SwitchSearch& s_;
  const Clock::time_point end_;
  std::map<SwitchSet, Planned> planned_;
  Clock::duration longest_{};  // duration of the longest round of plans
  bool cut_short_ = false;
};

}  // namespace

absl::StatusOr<SwitchesFitted> FitSwitches(const SwitchSearch& search) {
  return Search(search).Run();
}

}  // namespace vramscope::fit
