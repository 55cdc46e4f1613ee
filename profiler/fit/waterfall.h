// Computes the waterfall chart from the baseline to the current run. The chart adds one technique
// after another. Each bar is the difference between two consecutive plans.
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

// The run with the same model and sizes (batch, sequence, steps, device, ...), but with the model's
// defaults instead of techniques.
absl::StatusOr<run::RunConfig> PlainRun(const run::RunConfig& now);

struct Rung {
  std::string name;   // "precision", "lora"; the first rung is "baseline"
  Settings settings;  // settings that this rung changes
  run::RunConfig config;
};

// Groups the settings that differ between `baseline` and `now` into rungs, one per technique
// (lora.* is one technique). The rungs named in `order` come first; others follow in the order of
// their keys. Returns an error if a name in `order` is no rung, or if a rung's settings are invalid
// after the earlier rungs.
absl::StatusOr<std::vector<Rung>> Ladder(const run::RunConfig& baseline, const run::RunConfig& now,
                                         const std::vector<std::string>& order);

// An SVG of the peak of allocated bytes, with one bar per rung.
std::string WaterfallSvg(const std::vector<Rung>& ladder, const std::vector<Planned>& planned);

}  // namespace vramscope::fit
