// Baseline to now, a bar for every technique: what each of them changes where it stands in the
// order. Nothing is added up: every bar is the difference of two plans.
//
//   ASSIGN_OR_RETURN(std::vector<Rung> ladder, Ladder(baseline, now, order));
//   // plan every rung's config, then rung i's bar is from planned[i - 1] to planned[i]
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "profiler/fit/fit.h"
#include "profiler/fit/moves.h"
#include "profiler/run/run_config.h"

namespace vramscope::fit {

// The same model and sizes (batch, sequence, steps, device, ...) with no technique: what the run
// would be by its model's defaults.
absl::StatusOr<run::RunConfig> PlainRun(const run::RunConfig& now);

struct Rung {
  std::string name;   // "precision" or "lora": what the bar is called; the first: "baseline"
  Settings settings;  // that this rung changes
  run::RunConfig config;
};

// The settings in which `now` differs from `baseline`, grouped by technique (lora.* is one), in
// `order` (names of rungs; those that it does not name come behind, in the order of the keys).
// Errors: a name in `order` that changes nothing; a rung whose settings can't stand at its place,
// with the way out.
absl::StatusOr<std::vector<Rung>> Ladder(const run::RunConfig& baseline, const run::RunConfig& now,
                                         const std::vector<std::string>& order);

// The bars as a picture: peak of allocated bytes, rung by rung.
std::string WaterfallSvg(const std::vector<Rung>& ladder, const std::vector<Planned>& planned);

}  // namespace vramscope::fit
