// The waterfall from the baseline to the current run: one bar for every technique, with its effect
// at its place in the order. Every bar is the difference of two plans.
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

// The same model and sizes (batch, sequence, steps, device, ...) without techniques, with the
// model's defaults.
absl::StatusOr<run::RunConfig> PlainRun(const run::RunConfig& now);

struct Rung {
  std::string name;   // name of the bar: "precision", "lora"; the first one is "baseline"
  Settings settings;  // changed by this rung
  run::RunConfig config;
};

// Groups the settings in which `now` differs from `baseline` by technique (lora.* is one
// technique), in `order`: names of rungs; rungs that it does not name follow in the order of their
// keys. Errors: a name in `order` that changes nothing, or a rung whose settings are invalid at its
// place; the message says what to do.
absl::StatusOr<std::vector<Rung>> Ladder(const run::RunConfig& baseline, const run::RunConfig& now,
                                         const std::vector<std::string>& order);

// The bars as an SVG: the peak of allocated bytes, rung by rung.
std::string WaterfallSvg(const std::vector<Rung>& ladder, const std::vector<Planned>& planned);

}  // namespace vramscope::fit
