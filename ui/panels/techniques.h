// What the window does with configurations: another preset, a line of words for a change. What can
// be switched, the catalogue says (profiler/run/toggles.h). Free of Qt.
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/run_config.h"

namespace vramscope::ui {

// `now` with another preset: settings that the user has changed from what the present model starts
// with stay as they are, the others become what the new one starts with. `kept`, `taken`: in words,
// "batch 2", "optimizer AdamW, loop". Errors: no such preset; settings that can't be together.
struct PresetChange {
  run::RunConfig config;
  std::vector<std::string> kept, taken;
};
absl::StatusOr<PresetChange> WithPreset(const run::RunConfig& now, std::string_view preset);

// "AdamW", "SGD + momentum"; with its implementation, "AdamW, foreach".
std::string OptimizerName(const run::RunConfig& config);
std::string OptimizerText(const run::RunConfig& config);

// One line on what differs between two configurations, for the undo list: "bf16 autocast on",
// "Batch 2 -> 4". "Settings" when it is too much for a line.
std::string DescribeChange(const run::RunConfig& before, const run::RunConfig& after);

// Key of a configuration for caches: equal keys plan to equal traces.
std::string PlanKey(const run::RunConfig& config);

}  // namespace vramscope::ui
