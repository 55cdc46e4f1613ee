// The facts of a run that the catalogue's rules use, and the rules that a run breaks.
//
//   for (const Rule* rule : BrokenRules(config)) report(rule->why);
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/catalogue.h"
#include "profiler/run/run_config.h"

namespace vramscope::run {

// The value of a setting or of a fact: "backend", "model", "model.family" ("" if the model is
// unknown), "model.linear_layers" ("none" or "some"), "lora.targets.match", "micro_batches",
// "alloc_conf", "batch.divides" ("true": all micro-batches have the same size).
std::string FactOf(const RunConfig& config, std::string_view key);
// Whether `key` is a fact and not a setting.
bool IsFact(std::string_view key);

bool Holds(const Condition& condition, const RunConfig& config);

// The choices of a control for this setting: the setting's own, or those that the model has.
std::vector<Choice> ChoicesOf(const SettingDeclaration& setting, const RunConfig& config);

// The broken rules of all techniques, in the catalogue's order, including rules that only advise.
std::vector<const Rule*> BrokenRules(const RunConfig& config);

// kInvalidArgument with the text of the first broken rule that refuses.
absl::Status CheckRules(const RunConfig& config);

// The text of the rule, in which the name of this run's model replaces "{model}".
std::string WhyOf(const Rule& rule, const RunConfig& config);

}  // namespace vramscope::run
