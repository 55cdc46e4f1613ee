// Functions that change a configuration's preset and describe changes in one line. The catalogue
// declares the techniques (profiler/run/toggles.h). Does not use Qt.
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/run_config.h"

namespace vramscope::ui {

// Applies another preset to `now`. Settings that differ from the present model's defaults stay as
// they are; the others get the new model's defaults. `unchanged` lists the former and `reset` the
// latter, in words: "batch 2", "optimizer AdamW, loop". Errors: there is no such preset, or the
// settings cannot be combined.
struct PresetChange {
  run::RunConfig config;
  std::vector<std::string> unchanged, reset;
};
absl::StatusOr<PresetChange> WithPreset(const run::RunConfig& now, std::string_view preset);

// "AdamW", "SGD + momentum"; OptimizerText adds the implementation: "AdamW, foreach".
std::string OptimizerName(const run::RunConfig& config);
std::string OptimizerText(const run::RunConfig& config);

// Describes the difference between two configurations in one line, for the undo list: "bf16
// autocast on", "Batch 2 -> 4". Returns "Settings" if one line is too short.
std::string DescribeChange(const run::RunConfig& before, const run::RunConfig& after);

// A cache key of a configuration. Plans of configurations with equal keys have equal traces.
std::string PlanKey(const run::RunConfig& config);

}  // namespace vramscope::ui
