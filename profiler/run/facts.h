// What rules of the catalogue may ask about a run, and which of them are broken.
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

// A setting's value, or a fact: "backend", "model", "model.family" ("" when the model is not
// known), "model.linear_layers" ("none" or "some"), "lora.targets.match", "micro_batches",
// "alloc_conf", "batch.divides" ("true": into micro-batches of one size).
std::string FactOf(const RunConfig& config, std::string_view key);
// Whether it is one of those facts.
bool IsFact(std::string_view key);

bool Holds(const Condition& condition, const RunConfig& config);

// What a control offers for this setting: its choices, or those that depend on the model.
std::vector<Choice> ChoicesOf(const SettingDeclaration& setting, const RunConfig& config);

// In the catalogue's order; of all techniques, those that only advise too.
std::vector<const Rule*> BrokenRules(const RunConfig& config);

// kInvalidArgument with the first refusing rule's words.
absl::Status CheckRules(const RunConfig& config);

// Its words, with names of this run in place of "{model}".
std::string WhyOf(const Rule& rule, const RunConfig& config);

}  // namespace vramscope::run
