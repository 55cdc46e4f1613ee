// Searches the techniques for combinations that fit into a budget. Techniques interact, so savings
// are never added up: every combination that is considered is planned.
//
//   ASSIGN_OR_RETURN(Fitted fitted, Fit(config, budget, [&](const auto& configs) { ... }));
//   fitted.proposals.front().steps;  // why, one by one
//
// Blocking, on the caller's thread; `plan` is called from it.
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
  uint64_t peak = 0;  // allocated
  uint64_t reserved = 0;
  uint64_t past_allocator = 0;  // GPU memory that libraries need in addition to the allocator's
  uint64_t context = 0;         // of the CUDA context, in addition to both
  double step_ms = 0;           // modelled, of the last step
  bool out_of_memory = false;   // an allocation exceeded the limit (the plan granted it anyway)
  bool ok() const { return error.empty(); }
  uint64_t needed() const { return reserved + past_allocator + context; }
  bool FitsInto(uint64_t budget) const { return ok() && !out_of_memory && needed() <= budget; }
};
Planned PlannedOf(const trace::Trace& trace);

// Plans all configurations, in any order, and returns the results in the order of the arguments. An
// error ends the search (cancelled, no worker); a run that fails is reported in its result.
using PlanAll =
    std::function<absl::StatusOr<std::vector<Planned>>(const std::vector<run::RunConfig>&)>;

// The run on a GPU with `budget` bytes; unchanged if its GPU has exactly that. The amount of memory
// that the caching allocator keeps depends on the limit, so everything that is compared with a
// budget must be planned with this configuration.
run::RunConfig UnderBudget(const run::RunConfig& config, uint64_t budget);

struct Step {
  Move move;
  Settings settings;    // settings that it changes at its place in the order
  int64_t saves = 0;    // reserved memory, at its place in the order
  double costs_ms = 0;  // change of the modelled step; negative: faster
};
struct Proposal {
  Settings settings;                              // of all steps together
  run::Changes changes = run::Changes::kNothing;  // the largest change of any step
  std::vector<Step> steps;
  run::RunConfig config;
  Planned planned;
  bool fits = false;
  int64_t largest_batch = 0;  // with everything else unchanged; 0: not searched
  int64_t longest_seq = 0;
};

struct Fitted {
  Planned start;  // the unchanged run
  bool start_fits = false;
  // First those that leave the training unchanged, then those that change rounding, then those
  // that change the training; within each group the fastest first. If nothing fits: only the
  // smallest.
  std::vector<Proposal> proposals;
  // The Pareto front of everything that was planned: nothing is both faster and smaller.
  std::vector<Proposal> front;
  int plans = 0;
  // The time was up before a search had found a fit; there may be more proposals.
  bool cut_short = false;
};

struct Options {
  int proposals = 3;
  bool limits = true;  // search for largest batch and longest sequence
  // The search ends after this time if something fits by then.
  std::chrono::milliseconds patience{9000};
  // If nothing fits after `patience` (a busy computer, a large model), one search continues until
  // something fits, but no longer than this.
  std::chrono::milliseconds most_patience{40000};
};

// `budget` is the GPU memory, including the context. Returns errors of `plan` and of the start
// configuration.
absl::StatusOr<Fitted> Fit(const run::RunConfig& start, uint64_t budget, const PlanAll& plan,
                           const Options& options = {});

}  // namespace vramscope::fit
