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
constexpr double kWorth = 0.002;  // of the budget: a switch that saves less is none

// One way down: switches are added, those first that save most alone, until it fits.
struct Way {
  Changes level = Changes::kNothing;
  std::string without = {};  // a name that it does without; "": none
  SwitchSet set = {};
  Planned planned = {};
  std::vector<size_t> left = {};  // to be tried, in this order
  bool done = false;
};

class Search {
 public:
  explicit Search(const SwitchSearch& search) : s_(search), end_(Clock::now() + search.patience) {}

  absl::StatusOr<SwitchesFitted> Run() {
    if (const absl::Status status = Singles(); !status.ok()) return status;
    std::vector<Way> ways;
    for (const Changes level : kLevels) ways.push_back(WayOf(level, ""));
    if (const absl::Status status = Descend(ways); !status.ok()) return status;
    // Another way in place of what the ones that were found rest on.
    for (size_t i = 0; Fitting() < s_.proposals && i < s_.switches.size() && InTime(); ++i) {
      if (!Used(i)) continue;
      std::vector<Way> others = {WayOf(Changes::kTraining, s_.switches[i].name)};
      if (const absl::Status status = Descend(others); !status.ok()) return status;
    }
    if (const absl::Status status = Further(); !status.ok()) return status;
    return Result();
  }

 private:
  bool InTime() {
    const bool in_time = Clock::now() < end_;
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
    absl::StatusOr<std::vector<Planned>> planned = s_.plan(sets);
    if (!planned.ok()) return planned.status();
    for (size_t i = 0; i < sets.size(); ++i) planned_[sets[i]] = (*planned)[i];
    return absl::OkStatus();
  }

  absl::Status Singles() {
    std::vector<SwitchSet> quick;
    for (size_t i = 0; i < s_.switches.size(); ++i)
      if (!s_.switches[i].slow) quick.push_back({i});
    return Plan(quick);
  }

  // What a switch saves by itself; of one that was not planned, or failed: nothing.
  int64_t Saves(size_t i) const {
    const auto at = planned_.find({i});
    if (at == planned_.end() || !at->second.ok()) return 0;
    return static_cast<int64_t>(s_.start.needed()) - static_cast<int64_t>(at->second.needed());
  }
  bool Failed(size_t i) const {
    const auto at = planned_.find({i});
    return at != planned_.end() && !at->second.ok();
  }

  Way WayOf(Changes level, const std::string& without) const {
    Way way{.level = level, .without = without, .planned = s_.start};
    for (size_t i = 0; i < s_.switches.size(); ++i)
      if (s_.switches[i].changes <= level && s_.switches[i].name != without && !Failed(i))
        way.left.push_back(i);
    // Slow ones last, and what costs the training nothing before what does among equals.
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

  // All ways a step at a time, so that their plans go side by side.
  absl::Status Descend(std::vector<Way>& ways) {
    while (InTime()) {
      std::vector<SwitchSet> next;
      for (Way& way : ways) {
        while (!way.left.empty() && !GoesWith(way.set, way.left.front()))
          way.left.erase(way.left.begin());
        way.done = way.done || way.left.empty() || Fits(way.planned);
        if (!way.done) next.push_back(With(way.set, way.left.front()));
      }
      if (next.empty()) break;
      if (const absl::Status status = Plan(next); !status.ok()) return status;
      for (Way& way : ways) {
        if (way.done) continue;
        const SwitchSet set = With(way.set, way.left.front());
        way.left.erase(way.left.begin());
        const Planned& planned = planned_.at(set);
        const double worth = static_cast<double>(s_.budget) * kWorth;
        const bool helps =
            planned.ok() && (Fits(planned) || static_cast<double>(planned.needed()) + worth <
                                                  static_cast<double>(way.planned.needed()));
        if (helps) way.set = set, way.planned = planned;
      }
    }
    return Prune(ways);
  }

  // What it fits without goes.
  absl::Status Prune(const std::vector<Way>& ways) {
    std::vector<SwitchSet> smaller;
    for (const Way& way : ways) {
      if (!Fits(way.planned) || way.set.size() < 2) continue;
      for (size_t i = 0; i < way.set.size(); ++i) {
        SwitchSet set = way.set;
        set.erase(set.begin() + static_cast<ptrdiff_t>(i));
        smaller.push_back(std::move(set));
      }
    }
    return InTime() ? Plan(std::move(smaller)) : absl::OkStatus();
  }

  // Fewer than were asked for: what fits, and one switch more, with more to spare.
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

  // Those that fit, the best first; of one that holds another, and is neither faster nor smaller,
  // the other alone.
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

  // Of as many as were asked for none is another with one switch more while there are others.
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
  bool cut_short_ = false;
};

}  // namespace

absl::StatusOr<SwitchesFitted> FitSwitches(const SwitchSearch& search) {
  return Search(search).Run();
}

}  // namespace vramscope::fit
