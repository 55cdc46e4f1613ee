// Searches for combinations of techniques that fit into a budget. Savings are never added up,
// because techniques interact. Every combination that is considered is planned.
//
//   ASSIGN_OR_RETURN(Fitted fitted, Fit(config, budget, [&](const auto& configs) { ... }));
//   fitted.proposals.front().steps;  // the moves, with the effect of each
//
// Fit() blocks, and calls `plan` on the caller's thread.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profiler/fit/moves.h"
#include "profiler/run/run_config.h"
#include "profiler/trace/trace.h"

namespace vramscope::fit {

// The result of a plan.
struct Planned {
  std::string error;  // why there is no plan; the figures are then 0
  uint64_t peak = 0;  // allocated bytes
  uint64_t reserved = 0;
  uint64_t past_allocator = 0;  // GPU memory of libraries, in addition to `reserved`
  uint64_t context = 0;         // CUDA context, in addition to both
  double step_ms = 0;           // modelled time of the last step
  bool out_of_memory = false;   // an allocation exceeded the limit (the plan granted it anyway)
  bool ok() const { return error.empty(); }
  uint64_t needed() const { return reserved + past_allocator + context; }
  bool FitsInto(uint64_t budget) const { return ok() && !out_of_memory && needed() <= budget; }
};
Planned PlannedOf(const trace::Trace& trace);

// Plans all configurations, in any order, and returns the results in the order of the
// configurations. A returned error (cancelled, no worker) ends the search. A run that fails is
// reported in its result instead.
using PlanAll =
    std::function<absl::StatusOr<std::vector<Planned>>(const std::vector<run::RunConfig>&)>;

// Returns the same run on a GPU with `budget` bytes. Plans must use this configuration if they are
// compared with the budget, because the size of the GPU affects how much memory the caching
// allocator keeps.
run::RunConfig UnderBudget(const run::RunConfig& config, uint64_t budget);

struct Step {
  Move move;
  Settings settings;    // settings that the move changes, given the moves before it
  int64_t saves = 0;    // reserved bytes that the move saves, given the moves before it
  double costs_ms = 0;  // change of the modelled step time; negative: faster
};
struct Proposal {
  Settings settings;                              // the settings that all steps change together
  run::Changes changes = run::Changes::kNothing;  // the largest change of any step
  std::vector<Step> steps;
  run::RunConfig config;
  Planned planned;
  bool fits = false;
  // The largest batch and the longest sequence that fit with all other settings unchanged. 0:
  // unknown.
  int64_t largest_batch = 0;
  int64_t longest_seq = 0;
};

struct Fitted {
  Planned start;  // the unchanged run
  bool start_fits = false;
  // Sorted by the change to the training (none, rounding, training), then by time. If nothing fits,
  // contains only the proposal that needs the least memory.
  std::vector<Proposal> proposals;
  // The Pareto front of all plans: no other plan is both faster and smaller.
  std::vector<Proposal> front;
  int plans = 0;
  // Whether time ran out before every search had found a fit. There may then be more proposals.
  bool cut_short = false;
};

struct Options {
  int proposals = 3;
  bool limits = true;  // search for the largest batch and the longest sequence
  // The search ends after this time, provided that something fits by then.
  std::chrono::milliseconds patience{9000};
  // If nothing fits after `patience` (a busy computer, a large model), one search continues until
  // something fits, at most until this time.
  std::chrono::milliseconds most_patience{40000};
};

// `budget` is the GPU memory, including the context. Returns errors of `plan` and of the start
// configuration.
absl::StatusOr<Fitted> Fit(const run::RunConfig& start, uint64_t budget, const PlanAll& plan,
                           const Options& options = {});

}  // namespace vramscope::fit
