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

// Returns the value of a setting or fact. Facts: "backend", "model", "model.family" ("": unknown),
// "model.linear_layers" ("none" or "some"), "lora.targets.match", "micro_batches", "alloc_conf",
// and "batch.divides" ("true": all micro-batches have the same size).
std::string FactOf(const RunConfig& config, std::string_view key);
// Whether `key` is a fact and not a setting.
bool IsFact(std::string_view key);

bool Holds(const Condition& condition, const RunConfig& config);

// Returns the choices of a control for this setting: its own, or what this model offers.
std::vector<Choice> ChoicesOf(const SettingDeclaration& setting, const RunConfig& config);

// Returns the broken rules of all techniques, also those that only advise, in catalogue order.
std::vector<const Rule*> BrokenRules(const RunConfig& config);

// kInvalidArgument: a refusing rule is broken; the message is the text of the first one.
absl::Status CheckRules(const RunConfig& config);

// Returns the text of the rule, with the name of this run's model in place of "{model}".
std::string WhyOf(const Rule& rule, const RunConfig& config);

}  // namespace vramscope::run
