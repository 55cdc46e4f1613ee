// The techniques that the window can switch, as a table: what each does to a RunConfig, in one
// line, and when it can't be combined with the rest. Free of Qt.
//
//   for (const Technique& t : Techniques())
//     if (t.blocked(config).empty()) config = t.with(config);
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/run_config.h"

namespace vramscope::ui {

struct Technique {
  std::string_view id;     // "checkpoint-layer"; stable, for tests and settings
  std::string_view group;  // "Activations"
  std::string_view title;
  std::string_view explanation;  // one line
  std::function<bool(const run::RunConfig&)> on;
  std::function<run::RunConfig(const run::RunConfig&)> with;     // switched on
  std::function<run::RunConfig(const run::RunConfig&)> without;  // switched off
  // Why it can't be switched on (or is without effect) beside the rest; empty: it can.
  std::function<std::string(const run::RunConfig&)> blocked;
};

// In the order of the panel; neighbours of one group stand together.
const std::vector<Technique>& Techniques();
const Technique* FindTechnique(std::string_view id);  // null: none of that name

// Names of the linear layers that LoRA may adapt in this configuration's model family, as choices
// for `lora.targets`: the attention's queries and values, all of attention, every linear layer.
// Empty: an adapter fits nowhere in it.
struct LoraTargets {
  std::string_view label;
  std::vector<std::string> names;
};
std::vector<LoraTargets> LoraTargetChoices(const run::RunConfig& config);

// `now` with another preset: settings that the user has changed from what the present model starts
// with stay as they are, the others become what the new one starts with. `kept`, `taken`: in words,
// "batch 2", "optimizer AdamW, loop". Errors: no such preset; settings that can't be together.
struct PresetChange {
  run::RunConfig config;
  std::vector<std::string> kept, taken;
};
absl::StatusOr<PresetChange> WithPreset(const run::RunConfig& now, std::string_view preset);

// One line on what differs between two configurations, for the undo list: "bf16 autocast on",
// "Batch 2 -> 4". "Settings" when it is too much for a line.
std::string DescribeChange(const run::RunConfig& before, const run::RunConfig& after);

// Key of a configuration for caches: equal keys plan to equal traces.
std::string PlanKey(const run::RunConfig& config);

}  // namespace vramscope::ui
