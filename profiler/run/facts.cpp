#include "profiler/run/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "profiler/base/i18n.h"

namespace vramscope::run {
namespace {

// Caches the last result, because the window asks for one model repeatedly.
const FamilyDeclaration* FamilyOf(const RunConfig& config) {
  struct Last {
    std::string json;
    const FamilyDeclaration* family = nullptr;
  };
  thread_local Last last;
  if (last.json != config.model_config_json) {
    last = {config.model_config_json, TheCatalogue().FamilyOf(config.model_config_json)};
  }
  return last.family;
}

// Converts the limits of all families to rules.
const std::vector<Rule>& FamilyRules() {
  static const auto* rules = [] {
    auto* out = new std::vector<Rule>;
    for (const FamilyDeclaration& family : TheCatalogue().families) {
      for (const FamilyDeclaration::Limit& limit : family.limits) {
        const SettingDeclaration* setting = FindSetting(limit.key);
        if (setting == nullptr) continue;
        std::vector<std::string> allowed = limit.allowed;
        if (allowed.empty()) allowed.push_back(setting->default_value);
        SettingValues instead{{limit.key, allowed.front()}};
        out->push_back({.when = {{"model.family", true, {family.id}}, {limit.key, false, allowed}},
                        .why = fmt::format("{}: set {} to {}", limit.why, limit.key,
                                           fmt::join(allowed, " or ")),
                        .instead = std::move(instead)});
      }
    }
    return out;
  }();
  return *rules;
}

bool IsBroken(const Rule& rule, const RunConfig& config) {
  return std::all_of(rule.when.begin(), rule.when.end(),
                     [&](const Condition& c) { return Holds(c, config); });
}

}  // namespace

std::string FactOf(const RunConfig& config, std::string_view key) {
  if (key == "backend") return std::string(Name(config.backend));
  if (key == "model") return config.model;
  if (key == "alloc_conf") return config.alloc_conf;
  if (key == "micro_batches") return fmt::format("{}", config.micro_batches);
  if (key == "batch.divides") {
    const bool divides = config.micro_batches > 0 && config.batch % config.micro_batches == 0;
    return divides ? "true" : "false";
  }
  if (key == "model.family") {
    const FamilyDeclaration* family = FamilyOf(config);
    return family != nullptr ? family->id : "";
  }
  if (key == "model.linear_layers") {
    const FamilyDeclaration* family = FamilyOf(config);
    return family == nullptr ? "" : family->lora.empty() ? "none" : "some";
  }
  if (key == "lora.targets.match") {  // approximate: the family's choices list most layer names
    const FamilyDeclaration* family = FamilyOf(config);
    if (family == nullptr) return "";
    for (const std::string& target : config.Names("lora.targets")) {
      const std::string last = target.substr(target.rfind('.') + 1);
      const auto names = [&](const FamilyDeclaration::LoraChoice& choice) {
        return std::find(choice.targets.begin(), choice.targets.end(), last) !=
               choice.targets.end();
      };
      if (std::none_of(family->lora.begin(), family->lora.end(), names)) return "false";
    }
    return "true";
  }
  return config.Get(key);
}

bool IsFact(std::string_view key) {
  constexpr std::string_view kFacts[] = {
      "backend",       "alloc_conf",         "model",        "model.family", "model.linear_layers",
      "micro_batches", "lora.targets.match", "batch.divides"};
  return std::ranges::find(kFacts, key) != std::end(kFacts);
}

bool Holds(const Condition& condition, const RunConfig& config) {
  const auto among = [&](const std::string& value) {
    return std::ranges::find(condition.values, value) != condition.values.end();
  };
  // Compares a setting without copying it, because one click causes thousands of comparisons.
  const bool found = IsFact(condition.key) ? among(FactOf(config, condition.key))
                                           : among(config.Get(condition.key));
  return found == condition.is;
}

std::vector<const Rule*> BrokenRules(const RunConfig& config) {
  std::vector<const Rule*> out;
  for (const TechniqueDeclaration& technique : TheCatalogue().techniques) {
    for (const Rule& rule : technique.rules) {
      if (IsBroken(rule, config)) out.push_back(&rule);
    }
  }
  for (const Rule& rule : FamilyRules()) {
    if (IsBroken(rule, config)) out.push_back(&rule);
  }
  return out;
}

std::string WhyOf(const Rule& rule, const RunConfig& config) {
  std::string why = i18n::Text(rule.why);
  const std::pair<std::string_view, std::string> words[] = {
      {"{model}", config.model}, {"{batch}", fmt::format("{}", config.batch)}};
  for (const auto& [word, text] : words) {
    if (const size_t at = why.find(word); at != std::string::npos) {
      why.replace(at, word.size(), text);
    }
  }
  return why;
}

std::vector<Choice> ChoicesOf(const SettingDeclaration& setting, const RunConfig& config) {
  if (setting.choices_from != "family.lora_targets") return setting.choices;
  std::vector<Choice> out;
  const FamilyDeclaration* family = FamilyOf(config);
  if (family == nullptr) return out;
  for (const FamilyDeclaration::LoraChoice& choice : family->lora) {
    out.push_back({fmt::format("{}", fmt::join(choice.targets, ",")), choice.title});
  }
  return out;
}

absl::Status CheckRules(const RunConfig& config) {
  for (const Rule* rule : BrokenRules(config)) {
    if (!rule->refuses) continue;
    return absl::InvalidArgumentError(WhyOf(*rule, config));
  }
  return absl::OkStatus();
}

}  // namespace vramscope::run
