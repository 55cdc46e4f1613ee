// Functions that change the preset of a configuration, or describe a change in one line. The
// catalogue declares the techniques (profiler/run/toggles.h). Does not use Qt.
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/run_config.h"

namespace vramscope::ui {

// Applies another preset to `now`. Settings that differ from the old preset's defaults stay, and
// `unchanged` describes them. Other settings get the new preset's defaults, and `reset` describes
// them, such as "batch 2" or "optimizer AdamW, loop". Fails if there is no such preset, or if the
// settings cannot be combined.
struct PresetChange {
  run::RunConfig config;
  std::vector<std::string> unchanged, reset;
};
absl::StatusOr<PresetChange> WithPreset(const run::RunConfig& now, std::string_view preset);

// OptimizerName returns a text such as "SGD + momentum", OptimizerText a text such as "AdamW,
// foreach".
std::string OptimizerName(const run::RunConfig& config);
std::string OptimizerText(const run::RunConfig& config);

// Describes the difference between two configurations in one line for the undo list, such as "bf16
// autocast on" or "Batch 2 -> 4". If several things differ, returns only "Settings".
std::string DescribeChange(const run::RunConfig& before, const run::RunConfig& after);

// Returns the cache key of a configuration. Configurations with equal keys have equal plans.
std::string PlanKey(const run::RunConfig& config);

}  // namespace vramscope::ui
