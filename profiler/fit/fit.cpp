#include "profiler/fit/fit.h"

#include <absl/status/status.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <span>

#include "profiler/analysis/analysis.h"
#include "profiler/analysis/step_time.h"
#include "profiler/base/i18n.h"
#include "profiler/fit/leave_out.h"
#include "profiler/fit/limit.h"
#include "profiler/run/check_run.h"
#include "profiler/run/seq.h"

namespace vramscope::fit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostSteps = 8;
constexpr size_t kAtOnce = 4;  // number of plans requested at once
// The fraction of the time limit that the search may use. The rest is for finding the largest batch
// and the longest sequence.
constexpr double kSearchShare = 0.85;
// A move that saves too little memory is still kept if it makes the run faster by more than 1 %, or
// by more than 5 % if it changes rounding or the training.
double AsFast(const Move& move) { return move.changes == run::Changes::kNothing ? 1.01 : 1.05; }
constexpr uint64_t kLittle = 1000;  // savings below 1/kLittle of the budget are negligible
constexpr int kMostBatch = 1 << 14;
constexpr int kMostSeq = 1 << 17;

// A combination of techniques, and the moves that lead to it from the start configuration.
struct Node {
  run::RunConfig config;
  std::vector<Move> moves;
  Planned planned;
};

class Search {
 public:
  Search(const run::RunConfig& start, uint64_t budget, const PlanAll& plan, const Options& options)
      : start_(start), budget_(budget), plan_(plan), options_(options), begin_(Clock::now()) {
    Until(1);
  }

  absl::StatusOr<Fitted> Run() {
    const std::vector<Move> moves = Moves(start_);
    Node first{.config = start_, .moves = {}, .planned = {}};
    if (absl::Status status = PlanFirst(first, moves); !status.ok()) return status;
    if (!first.planned.ok()) return absl::InvalidArgumentError(first.planned.error);

    // There are three searches: with all moves, with moves that change at most rounding, and with
    // moves that leave the training unchanged. The first search usually ends early and leaves its
    // time to the next one.
    std::vector<Node> ends;
    std::vector<bool> cut;  // whether the time limit stopped each search
    constexpr run::Changes kWays[] = {run::Changes::kTraining, run::Changes::kRounding,
                                      run::Changes::kNothing};
    const double used = std::min(kSearchShare, Used());
    double way = 0;
    for (const run::Changes most : kWays) {
      Until(used + (kSearchShare - used) * ++way / static_cast<double>(std::size(kWays)));
      absl::StatusOr<Node> end = Way(first, moves, most);
      if (!end.ok()) return end.status();
      ends.push_back(*std::move(end));
      cut.push_back(Late() && !Fits(ends.back().planned));
    }
    // The remaining time is given to searches that were cut short.
    Until(kSearchShare);
    for (Node& end : ends) {
      if (Late() || Fits(end.planned)) continue;
      absl::StatusOr<Node> further = Way(end, moves, kWays[&end - ends.data()]);
      if (!further.ok()) return further.status();
      end = *std::move(further);
      const auto way = static_cast<size_t>(&end - ends.data());
      cut[way] = cut[way] && Late() && !Fits(end.planned);
    }
    cut_short_ = std::ranges::find(cut, true) != cut.end();
    if (std::ranges::none_of(ends, [&](const Node& end) { return Fits(end.planned); })) {
      deadline_ = begin_ + options_.most_patience;
      absl::StatusOr<Node> further = Descend(ends.front(), moves, true);
      if (!further.ok()) return further.status();
      ends.front() = *std::move(further);
    }
    Until(1);
    return Result(first, std::move(ends), moves);
  }

 private:
  bool Fits(const Planned& planned) const { return planned.FitsInto(budget_); }
  // Sets the deadline to this fraction of the time limit.
  void Until(double share) {
    deadline_ = begin_ + std::chrono::duration_cast<Clock::duration>(options_.patience * share);
  }
  double Used() const {
    return (Clock::now() - begin_) / std::chrono::duration<double>(options_.patience);
  }
  bool Late() const { return Clock::now() > deadline_; }

  // Plans all nodes that are not planned yet, in one call.
  absl::Status PlanNodes(const std::vector<Node*>& nodes) {
    std::vector<run::RunConfig> wanted;
    std::vector<std::string> keys;
    for (const Node* node : nodes) {
      std::string key = run::ToJson(node->config);
      if (known_.contains(key) || std::ranges::find(keys, key) != keys.end()) continue;
      wanted.push_back(UnderBudget(node->config, budget_));
      keys.push_back(std::move(key));
    }
    if (!wanted.empty()) {
      absl::StatusOr<std::vector<Planned>> planned = plan_(wanted);
      if (!planned.ok()) return planned.status();
      if (planned->size() != wanted.size())
        return absl::InternalError(i18n::Text("fewer plans arrived than were requested"));
      for (size_t i = 0; i < keys.size(); ++i) known_[keys[i]] = std::move((*planned)[i]);
      plans_ += static_cast<int>(wanted.size());
    }
    for (Node* node : nodes) {
      node->planned = known_.at(run::ToJson(node->config));
      if (node->planned.ok()) seen_.push_back(*node);
    }
    return absl::OkStatus();
  }

  // Adds moves to `at` until it fits, then removes the moves that turned out to be needless.
  // `most`: the greatest change that a move may make.
  absl::StatusOr<Node> Way(Node at, const std::vector<Move>& moves, run::Changes most) {
    std::vector<Move> allowed;
    std::ranges::copy_if(moves, std::back_inserter(allowed),
                         [&](const Move& move) { return move.changes <= most; });
    absl::StatusOr<Node> end = Descend(std::move(at), allowed);
    if (!end.ok()) return end.status();
    return Pruned(*std::move(end));
  }

  // Plans the run without moves, and with each move alone.
  absl::Status PlanFirst(Node& first, const std::vector<Move>& moves) {
    std::vector<Node> nodes;
    for (const Move& move : moves) {
      absl::StatusOr<run::RunConfig> config = Applied(move, first.config);
      if (move.last_resort || !config.ok()) continue;
      nodes.push_back({.config = *std::move(config), .moves = {move}, .planned = {}});
    }
    std::vector<Node*> pointers = {&first};
    for (Node& node : nodes) pointers.push_back(&node);
    return PlanNodes(pointers);
  }

  // A move that may come next. `before` and `after` are the plans without and with the move, at the
  // node at which the move was last planned.
  struct Candidate {
    const Move* move;
    Planned before = {}, after = {};
    bool known = false;
    std::optional<Node> next = {};  // the current node with the move added, and its plan
    bool possible = true;           // whether it can be applied at the current node
  };

  // Plans these candidates at the current node.
  absl::Status PlanNext(const Node& at, const std::vector<Candidate*>& candidates) {
    std::vector<Node*> nodes;
    const Settings taken = Changed(start_, at.config);
    for (Candidate* each : candidates) {
      absl::StatusOr<run::RunConfig> config = Applied(*each->move, at.config);
      each->possible = config.ok() && !ChangesOneOf(taken, at.config, *config);
      if (!each->possible) continue;
      each->next = Node{.config = *std::move(config), .moves = at.moves, .planned = {}};
      each->next->moves.push_back(*each->move);
      nodes.push_back(&*each->next);
    }
    if (absl::Status status = PlanNodes(nodes); !status.ok()) return status;
    for (Candidate* each : candidates) {
      if (!each->next.has_value()) continue;
      each->before = at.planned;
      each->after = each->next->planned;
      each->known = true;
    }
    return absl::OkStatus();
  }

  // Whether the move would overwrite a setting of an earlier move.
  static bool ChangesOneOf(const Settings& taken, const run::RunConfig& at,
                           const run::RunConfig& next) {
    return std::ranges::any_of(Changed(at, next), [&](const auto& setting) {
      return std::ranges::find(taken, setting.first, &Settings::value_type::first) != taken.end();
    });
  }

  // Estimates the value of a candidate at the current node from its last plan, which may have been
  // made at an earlier node.
  double Worth(const Node& at, const Candidate& candidate) const {
    if (!candidate.possible) return 0;
    if (!candidate.known) return std::numeric_limits<double>::infinity();
    if (!Fits(at.planned)) return Score(at.planned, candidate.before, candidate.after);
    if (candidate.next.has_value() && !Fits(candidate.after)) return 0;
    return candidate.after.ok()
               ? candidate.before.step_ms - candidate.after.step_ms - 0.005 * at.planned.step_ms
               : 0;
  }

  // Returns the best next candidate, or nullptr if there is none. Adding moves seldom raises the
  // value of another move. Therefore, candidates are planned in descending order of their last
  // values, until the best new value is at least as high as the last values of all others. If no
  // value is positive, all are planned again.
  absl::StatusOr<Candidate*> Best(const Node& at, std::vector<Candidate>& candidates) {
    for (Candidate& each : candidates) {
      each.next.reset();
      each.possible = true;
    }
    for (const bool all : {false, true}) {
      for (;;) {
        std::vector<Candidate*> order;
        for (Candidate& each : candidates) order.push_back(&each);
        std::ranges::stable_sort(order, std::greater{},
                                 [&](const Candidate* each) { return Worth(at, *each); });
        if (order.empty()) return nullptr;
        Candidate* best = order.front();
        if (best->next.has_value() && Worth(at, *best) > 0) return best;
        if (Late()) return nullptr;
        std::vector<Candidate*> wanted;
        for (Candidate* each : order) {
          const bool promises = !each->known || Worth(at, *each) > 0 || all;
          if (each->next.has_value() || !each->possible || !promises) continue;
          if (each->known && wanted.size() >= kAtOnce && !all) break;
          wanted.push_back(each);
        }
        if (wanted.empty()) break;
        if (absl::Status status = PlanNext(at, wanted); !status.ok()) return status;
      }
      // All candidates are tried again only if the run still does not fit.
      if (Fits(at.planned)) break;
    }
    return nullptr;
  }

  // Applies moves until the run fits, always the one that saves most memory per added time. Then,
  // unless `enough` is true, applies moves that make the run faster while it still fits.
  absl::StatusOr<Node> Descend(Node at, const std::vector<Move>& moves, bool enough = false) {
    std::vector<Candidate> usual, last;
    for (const Move& move : moves) (move.last_resort ? last : usual).push_back({.move = &move});
    while (at.moves.size() < kMostSteps && !Late() && !(enough && Fits(at.planned))) {
      absl::StatusOr<Candidate*> best = Best(at, usual);
      if (best.ok() && *best == nullptr && !Fits(at.planned)) best = Best(at, last);
      if (!best.ok()) return best.status();
      if (*best == nullptr) break;
      at = *(*best)->next;
    }
    return at;
  }

  // Returns the bytes saved, divided by the relative increase in time. Savings beyond the budget do
  // not count. A move that also makes the step faster is preferred to any move that does not.
  double Score(const Planned& now, const Planned& before, const Planned& after) const {
    if (!after.ok() || after.needed() >= before.needed()) return 0;
    // A run can run out of memory although `needed` is within the budget. The excess then counts as
    // one byte.
    const double over = now.needed() > budget_ ? static_cast<double>(now.needed() - budget_) : 1.0;
    const double saved = std::min(over, static_cast<double>(before.needed() - after.needed()));
    const double cost = after.step_ms - before.step_ms;
    if (cost <= 0) return saved * 1e6 - cost;
    // Relative to the step's time, so that slow and fast GPUs lead to the same choice.
    return saved / (cost / std::max(1e-9, before.step_ms) + 1e-3);
  }

  // Returns an unplanned node with only these moves, or nullopt if they need other moves.
  std::optional<Node> Only(const Node& node, const Members& moves) const {
    Node less{.config = start_, .moves = {}, .planned = {}};
    for (const size_t i : moves) {
      absl::StatusOr<run::RunConfig> config = Applied(node.moves[i], less.config);
      if (!config.ok()) return std::nullopt;
      less.config = *std::move(config);
      less.moves.push_back(node.moves[i]);
    }
    return less;
  }

  // Tries to leave out each move. A move is left out if the node is hardly slower without it, and
  // `enough` accepts the plans with and without it. Moves that change the training most are tried
  // first; among equal ones, those applied last.
  absl::StatusOr<Node> LeaveMovesOut(
      const Node& node, const std::function<bool(const Planned&, const Planned&)>& enough,
      std::function<bool()> in_time) {
    LeavingOut from{.order = {}, .planned = node.planned, .at_once = kAtOnce};
    for (size_t i = node.moves.size(); i-- > 0;) from.order.push_back(i);
    std::ranges::stable_sort(from.order, std::greater{},
                             [&](size_t i) { return node.moves[i].changes; });
    from.plan = [&](const std::vector<Members>& sets) -> absl::StatusOr<std::vector<Planned>> {
      std::vector<std::optional<Node>> nodes;
      for (const Members& moves : sets) nodes.push_back(Only(node, moves));
      std::vector<Node*> pointers;
      for (std::optional<Node>& each : nodes)
        if (each.has_value()) pointers.push_back(&*each);
      if (absl::Status status = PlanNodes(pointers); !status.ok()) return status;
      std::vector<Planned> planned;
      for (const std::optional<Node>& each : nodes)
        planned.push_back(
            each.has_value() ? each->planned
                             : Planned{.error = i18n::Text("other changes depend on this change")});
      return planned;
    };
    from.enough = [&](size_t move, const Planned& with, const Planned& without) {
      return without.step_ms <= with.step_ms * AsFast(node.moves[move]) && enough(with, without);
    };
    from.in_time = std::move(in_time);
    const absl::StatusOr<LeftOver> left = LeaveOut(from);
    if (!left.ok()) return left.status();
    if (left->members.size() == node.moves.size()) return node;
    std::optional<Node> less = Only(node, left->members);
    less->planned = left->planned;
    return *std::move(less);
  }

  // Removes moves from the node as long as the run still fits and is hardly slower.
  absl::StatusOr<Node> Pruned(const Node& node) {
    if (!Fits(node.planned)) return node;
    return LeaveMovesOut(
        node, [&](const Planned&, const Planned& without) { return Fits(without); },
        [&] { return !Late(); });
  }
  // Removes moves that do nothing for the node: without them, it is hardly slower and needs hardly
  // more memory.
  absl::StatusOr<Node> WithoutIdleMoves(const Node& node) {
    return LeaveMovesOut(
        node,
        [&](const Planned& with, const Planned& without) {
          return (Fits(without) || !Fits(with)) &&
                 without.needed() <= with.needed() + budget_ / kLittle;
        },
        [] { return true; });
  }

  // Returns the moves that change the training by at most `most`, sorted by what each saves alone.
  std::vector<const Move*> BySaving(const std::vector<Move>& moves, run::Changes most) const {
    std::vector<std::pair<uint64_t, const Move*>> needs;
    for (const Move& move : moves) {
      if (move.last_resort || move.changes > most) continue;
      const absl::StatusOr<run::RunConfig> config = Applied(move, start_);
      const auto alone = config.ok() ? known_.find(run::ToJson(*config)) : known_.end();
      const bool known = alone != known_.end() && alone->second.ok();
      needs.emplace_back(known ? alone->second.needed() : std::numeric_limits<uint64_t>::max(),
                         &move);
    }
    std::ranges::stable_sort(needs, {}, [](const auto& each) { return each.first; });
    std::vector<const Move*> out;
    for (const auto& [needed, move] : needs) out.push_back(move);
    return out;
  }

  // Adds each of these moves separately to a node that fits. Returns the results that need at least
  // 5 % less memory, sorted by time x memory.
  absl::StatusOr<std::vector<Node>> Roomier(const Node& at, std::span<const Move* const> moves) {
    std::vector<Candidate> candidates;
    for (const Move* move : moves) candidates.push_back({.move = move});
    std::vector<Candidate*> pointers;
    for (Candidate& each : candidates) pointers.push_back(&each);
    if (absl::Status status = PlanNext(at, pointers); !status.ok()) return status;
    std::vector<Node> out;
    for (const Candidate& each : candidates) {
      if (!each.next.has_value() || !each.next->planned.ok() ||
          each.next->planned.needed() + at.planned.needed() / 20 > at.planned.needed()) {
        continue;
      }
      out.push_back(*each.next);
    }
    std::ranges::stable_sort(out, {}, [](const Node& node) {
      return node.planned.step_ms * static_cast<double>(node.planned.needed());
    });
    return out;
  }

  static run::Changes ChangesOf(const Node& node) {
    run::Changes most = run::Changes::kNothing;
    for (const Move& move : node.moves) most = std::max(most, move.changes);
    return most;
  }

  // Removes moves that do nothing. Then applies the others in order, and plans the run after each,
  // to find the effect of each.
  absl::StatusOr<Proposal> Explained(const Node& whole) {
    const absl::StatusOr<Node> useful = WithoutIdleMoves(whole);
    if (!useful.ok()) return useful.status();
    const Node& node = *useful;
    Proposal out{.settings = Changed(start_, node.config),
                 .changes = ChangesOf(node),
                 .steps = {},
                 .config = node.config,
                 .planned = node.planned,
                 .fits = Fits(node.planned)};
    Node at{.config = start_, .moves = {}, .planned = {}};
    std::vector<Node> path = {at};
    for (const Move& move : node.moves) {
      absl::StatusOr<run::RunConfig> config = Applied(move, at.config);
      if (!config.ok()) return config.status();
      at.config = *std::move(config);
      at.moves.push_back(move);
      path.push_back(at);
    }
    std::vector<Node*> pointers;
    for (Node& each : path) pointers.push_back(&each);
    if (absl::Status status = PlanNodes(pointers); !status.ok()) return status;
    for (size_t i = 1; i < path.size(); ++i) {
      out.steps.push_back({path[i].moves.back(), Changed(path[i - 1].config, path[i].config),
                           static_cast<int64_t>(path[i - 1].planned.reserved) -
                               static_cast<int64_t>(path[i].planned.reserved),
                           path[i].planned.step_ms - path[i - 1].planned.step_ms});
    }
    return out;
  }

  // Searches for all limits in parallel. Limits not found before the deadline stay 0.
  absl::Status FindLimits(std::vector<Limit> limits) {
    while (!Late()) {
      std::vector<Node> nodes;
      std::vector<std::pair<Limit*, int>> asked;
      for (Limit& limit : limits) {
        while (!limit.done()) {
          const int value = limit.Next(budget_);
          absl::StatusOr<run::RunConfig> with =
              With({{limit.key, fmt::format("{}", value)}}, limit.proposal->config);
          if (with.ok()) {
            nodes.push_back({.config = *std::move(with), .moves = {}, .planned = {}});
            asked.emplace_back(&limit, value);
            break;
          }
          limit.Saw(value, false, 0);  // the value exceeds a maximum of the model or a technique
        }
      }
      if (nodes.empty()) break;
      std::vector<Node*> pointers;
      for (Node& node : nodes) pointers.push_back(&node);
      const size_t seen = seen_.size();
      if (absl::Status status = PlanNodes(pointers); !status.ok()) return status;
      seen_.resize(seen);  // forgets these plans, which have other batches and sequences
      for (size_t i = 0; i < nodes.size(); ++i) {
        const Planned& planned = nodes[i].planned;
        asked[i].first->Saw(asked[i].second, Fits(planned), planned.ok() ? planned.needed() : 0);
      }
    }
    for (const Limit& limit : limits) {
      if (limit.done()) limit.proposal->*limit.found = limit.low;
    }
    return absl::OkStatus();
  }

  std::vector<Node> Front() const {
    std::vector<Node> sorted = seen_;
    std::ranges::sort(sorted, [](const Node& a, const Node& b) {
      return std::pair(a.planned.step_ms, a.planned.needed()) <
             std::pair(b.planned.step_ms, b.planned.needed());
    });
    std::vector<Node> front;
    uint64_t smallest = std::numeric_limits<uint64_t>::max();
    for (const Node& node : sorted) {
      if (node.planned.needed() >= smallest) continue;
      smallest = node.planned.needed();
      front.push_back(node);
    }
    return front;
  }

  absl::StatusOr<Fitted> Result(const Node& first, std::vector<Node> ends,
                                const std::vector<Move>& moves) {
    Fitted out{.start = first.planned,
               .start_fits = Fits(first.planned),
               .proposals = {},
               .front = {},
               .plans = 0,
               .cut_short = cut_short_};
    // Two proposals are equal if their time and memory differ by at most 1 %. A proposal is dropped
    // if another one is at least as good in time, memory and change to the training.
    const auto near = [](double a, double b) { return std::abs(a - b) <= 0.01 * std::max(a, b); };
    const auto beats = [](const Proposal& other, const Planned& planned, run::Changes changes) {
      return changes >= other.changes && planned.step_ms >= other.planned.step_ms &&
             planned.needed() >= other.planned.needed();
    };
    const auto adds = [&](const Planned& planned, run::Changes changes) {
      return std::ranges::none_of(out.proposals, [&](const Proposal& other) {
        return (near(other.planned.step_ms, planned.step_ms) &&
                near(static_cast<double>(other.planned.needed()),
                     static_cast<double>(planned.needed()))) ||
               beats(other, planned, changes);
      });
    };
    const auto propose = [&](const std::vector<Node>& nodes) -> absl::Status {
      for (const Node& node : nodes) {
        if (out.proposals.size() >= static_cast<size_t>(options_.proposals)) break;
        if (!Fits(node.planned) || !adds(node.planned, ChangesOf(node))) continue;
        absl::StatusOr<Proposal> proposal = Explained(node);
        if (!proposal.ok()) return proposal.status();
        // Explained() may have dropped moves, so the proposal may now equal another one.
        if (!adds(proposal->planned, proposal->changes)) continue;
        std::erase_if(out.proposals, [&](const Proposal& other) {
          return beats(*proposal, other.planned, other.changes);
        });
        out.proposals.push_back(*std::move(proposal));
      }
      return absl::OkStatus();
    };
    // Sorts by the amount of change to the training, then by time.
    const auto rank = [](const auto& changes, const Planned& planned) {
      return std::pair(changes, planned.step_ms);
    };
    std::ranges::sort(ends, {},
                      [&](const Node& node) { return rank(ChangesOf(node), node.planned); });
    const std::vector<Node> front = Front();
    // The candidates, in order, are the result of each search, the Pareto front (fastest first),
    // and then slower runs that need less memory.
    for (const std::vector<Node>* nodes :
         std::initializer_list<const std::vector<Node>*>{&ends, &front})
      if (absl::Status status = propose(*nodes); !status.ok()) return status;
    for (size_t i = 0; i < out.proposals.size(); ++i) {
      if (out.proposals.size() >= static_cast<size_t>(options_.proposals) || Late()) break;
      const Proposal& from = out.proposals[i];
      Node at{.config = from.config, .moves = {}, .planned = from.planned};
      for (const Step& step : from.steps) at.moves.push_back(step.move);
      const std::vector<const Move*> more = BySaving(moves, ChangesOf(at));
      const std::span<const Move* const> all(more);
      for (size_t begin = 0; begin < all.size(); begin += kAtOnce) {
        if (out.proposals.size() >= static_cast<size_t>(options_.proposals) || Late()) break;
        const absl::StatusOr<std::vector<Node>> roomier =
            Roomier(at, all.subspan(begin, std::min(kAtOnce, all.size() - begin)));
        if (!roomier.ok()) return roomier.status();
        if (absl::Status status = propose(*roomier); !status.ok()) return status;
      }
    }
    if (out.proposals.empty()) {
      absl::StatusOr<Proposal> smallest = Explained(*std::ranges::min_element(
          seen_, {}, [](const Node& node) { return node.planned.needed(); }));
      if (!smallest.ok()) return smallest.status();
      out.proposals.push_back(*std::move(smallest));
    }
    std::ranges::sort(out.proposals, {}, [&](const Proposal& proposal) {
      return rank(proposal.changes, proposal.planned);
    });
    for (const Node& node : front) {
      out.front.push_back({.settings = Changed(start_, node.config),
                           .changes = ChangesOf(node),
                           .steps = {},
                           .config = node.config,
                           .planned = node.planned,
                           .fits = Fits(node.planned)});
    }
    if (options_.limits) {
      std::vector<Limit> limits;
      const auto look = [&](Proposal& proposal, int64_t Proposal::*found, const char* key, int from,
                            int step, int most) {
        limits.push_back({.proposal = &proposal,
                          .found = found,
                          .key = key,
                          .from = from,
                          .step = step,
                          .most = most,
                          .at_low = proposal.planned.needed()});
      };
      for (Proposal& proposal : out.proposals) {
        if (!proposal.fits) continue;
        look(proposal, &Proposal::largest_batch, "batch", proposal.config.batch,
             std::max(1, proposal.config.micro_batches), kMostBatch);
        // The longest sequence is only searched if the sequence length is a single number.
        if (run::SeqText(proposal.config) != fmt::format("{}", proposal.config.seq)) continue;
        look(proposal, &Proposal::longest_seq, "seq", proposal.config.seq, 64, kMostSeq);
      }
      if (absl::Status status = FindLimits(std::move(limits)); !status.ok()) return status;
    }
    out.plans = plans_;
    return out;
  }

  const run::RunConfig& start_;
  const uint64_t budget_;
  const PlanAll& plan_;
  const Options& options_;
  const Clock::time_point begin_;
  Clock::time_point deadline_;
  std::map<std::string, Planned> known_;
  std::vector<Node> seen_;
  int plans_ = 0;
  bool cut_short_ = false;
};

}  // namespace

run::RunConfig UnderBudget(const run::RunConfig& config, uint64_t budget) {
  const absl::StatusOr<run::DeviceProfile> device = run::ResolveDevice(config);
  if (!device.ok() || device->memory_bytes == budget) return config;
  // A GPU needs at least this much memory beyond its context. No run fits into a smaller budget.
  constexpr uint64_t kLeast = uint64_t{64} << 20;
  run::RunConfig limited = config;
  limited.custom_device.memory_bytes = std::max(budget, device->context_bytes + kLeast);
  return limited;
}

Planned PlannedOf(const trace::Trace& trace) {
  const analysis::MemoryCurves curves = analysis::ComputeCurves(trace);
  const analysis::Summary summary = analysis::Summarize(trace, curves);
  Planned out;
  out.peak = summary.peak.allocated;
  out.reserved = summary.peak.reserved;
  out.past_allocator = summary.most_used.sum() - summary.peak.reserved;
  out.context = trace.info.device.context_bytes;
  out.out_of_memory = summary.out_of_memory;
  out.step_ms = analysis::LastStepMs(trace, summary.steps);
  return out;
}

absl::StatusOr<Fitted> Fit(const run::RunConfig& start, uint64_t budget, const PlanAll& plan,
                           const Options& options) {
  return Search(start, budget, plan, options).Run();
}

}  // namespace vramscope::fit
