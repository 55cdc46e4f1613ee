// Searches the techniques for combinations that fit into a budget. Techniques interact, so nothing
// is added up: every combination that is looked at is planned.
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

// What a plan comes to.
struct Planned {
  std::string error;  // why there is none; the rest is 0 then
  uint64_t peak = 0;  // allocated
  uint64_t reserved = 0;
  uint64_t past_allocator = 0;  // what libraries make the card need beyond it
  uint64_t context = 0;         // of the CUDA context, beside both
  double step_ms = 0;           // modelled, of the last step
  bool out_of_memory = false;   // a request found no room, and was granted all the same
  bool ok() const { return error.empty(); }
  uint64_t needed() const { return reserved + past_allocator + context; }
  bool FitsInto(uint64_t budget) const { return ok() && !out_of_memory && needed() <= budget; }
};
Planned PlannedOf(const trace::Trace& trace);

// Plans all of them, in any order; results in theirs. An error ends the search (cancelled, no
// worker); a run that fails is its result's error.
using PlanAll =
    std::function<absl::StatusOr<std::vector<Planned>>(const std::vector<run::RunConfig>&)>;

// The run on a GPU with `budget` bytes; unchanged where its GPU has just that. What the caching
// allocator keeps depends on how much there is, so one run has one set of figures under one limit:
// everything that is compared with a budget is planned by this.
run::RunConfig UnderBudget(const run::RunConfig& config, uint64_t budget);

struct Step {
  Move move;
  Settings settings;    // what it sets where it stands
  int64_t saves = 0;    // of reserved memory, where it stands in the order of steps
  double costs_ms = 0;  // of the modelled step; negative: faster
};
struct Proposal {
  Settings settings;                              // all steps together
  run::Changes changes = run::Changes::kNothing;  // the most that any of them changes
  std::vector<Step> steps;
  run::RunConfig config;
  Planned planned;
  bool fits = false;
  int64_t largest_batch = 0;  // with everything else as it is; 0: not looked for
  int64_t longest_seq = 0;
};

struct Fitted {
  Planned start;  // as the run is
  bool start_fits = false;
  // Those that leave the training as it is, then those in fewer bits, then other trainings; of
  // each the fastest first. None of them fits: the smallest alone.
  std::vector<Proposal> proposals;
  // Of everything that was planned: nothing is both faster and smaller.
  std::vector<Proposal> front;
  int plans = 0;
  // The time was up before a way down that does not fit had come to its end: there may be more.
  bool cut_short = false;
};

struct Options {
  int proposals = 3;
  bool limits = true;  // largest batch, longest sequence
  // After this, what is there is what there is,
  std::chrono::milliseconds patience{9000};
  // unless nothing fits by then (a busy computer, a large model): then one way goes on until it
  // does, or this long.
  std::chrono::milliseconds most_patience{40000};
};

// `budget` is what the GPU may hold, context included. Errors: those of `plan`, and the start's
// own.
absl::StatusOr<Fitted> Fit(const run::RunConfig& start, uint64_t budget, const PlanAll& plan,
                           const Options& options = {});

}  // namespace vramscope::fit
