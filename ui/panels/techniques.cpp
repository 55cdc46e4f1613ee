#include "ui/panels/techniques.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "profiler/base/i18n.h"
#include "profiler/run/catalogue.h"
#include "profiler/run/seq.h"
#include "profiler/run/toggles.h"

namespace vramscope::ui {
namespace {

using run::RunConfig;

}  // namespace

absl::StatusOr<PresetChange> WithPreset(const RunConfig& now, std::string_view preset) {
  // The initial configuration of a preset, or the general default if `name` is not a preset.
  const auto start_of = [](std::string_view name) {
    run::RunConfigBuilder builder;
    const bool known = builder.SetPreset(name).ok();
    absl::StatusOr<RunConfig> config = builder.Build();
    return known && config.ok() ? *config : run::RunConfigBuilder().Build().value_or(RunConfig{});
  };
  run::RunConfigBuilder target_builder;
  if (absl::Status status = target_builder.SetPreset(preset); !status.ok()) return status;
  absl::StatusOr<RunConfig> target = target_builder.Build();
  if (!target.ok()) return target.status();
  const RunConfig start = start_of(now.model);

  PresetChange out{.config = now};
  out.config.model = target->model;
  out.config.model_config_json = target->model_config_json;
  const auto settle = [&](auto get, const auto& words) {
    const bool edited = get(now) != get(start);
    if (get(now) == get(*target)) return;
    if (!edited) get(out.config) = get(*target);
    (edited ? out.unchanged : out.reset).push_back(words(out.config));
  };
  const auto number = [&](std::string_view name, int RunConfig::*field) {
    settle(
        [field](auto& c) -> auto& { return c.*field; },
        [=](const RunConfig& c) { return fmt::format("{} {}", name, c.*field); });
  };
  number(i18n::Text("batch"), &RunConfig::batch);
  number(i18n::Text("sequence"), &RunConfig::seq);
  number(i18n::Text("micro-batches"), &RunConfig::micro_batches);
  number(i18n::Text("steps"), &RunConfig::steps);
  // Keys with the same prefix, such as "optimizer.", form a group. Either all settings of a group
  // stay, or all are replaced.
  const auto group_of = [](std::string_view key) { return key.substr(0, key.find('.')); };
  std::vector<std::string> groups;
  for (const run::TechniqueDeclaration& technique : run::TheCatalogue().techniques) {
    for (const run::SettingDeclaration& setting : technique.settings) {
      const std::string group(group_of(setting.key));
      if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
    }
  }
  const auto of_group = [&](const RunConfig& c, std::string_view group) {
    run::SettingValues values;
    for (const auto& [key, value] : c.settings) {
      if (group_of(key) == group) values.Set(key, value);
    }
    return values;
  };
  for (const std::string& group : groups) {
    const run::SettingValues wanted = of_group(*target, group);
    if (of_group(now, group) == wanted) continue;
    const bool edited = of_group(now, group) != of_group(start, group);
    if (!edited) {
      const RunConfig old = out.config;
      for (const auto& [key, value] : old.settings) {
        if (group_of(key) == group) out.config.settings.Erase(key);
      }
      for (const auto& [key, value] : wanted) out.config.settings.Set(key, value);
    }
    if (group == "lora") continue;  // is handled below
    const std::string words = group == "optimizer"
                                  ? i18n::Format("optimizer {}", OptimizerText(out.config))
                                  : fmt::format("{} {}", group, out.config.Get(group));
    (edited ? out.unchanged : out.reset).push_back(words);
  }
  // The layers of the new model may have other names. So switch LoRA off and on again, which
  // selects the new layers. If no layer matches, LoRA stays off.
  const run::Toggle* lora = run::FindToggle("lora");
  if (lora != nullptr && run::IsOn(*lora, out.config)) {
    const std::string rank = out.config.Get("lora.rank");
    const RunConfig off = run::SwitchedOff(*lora, out.config);
    const bool fits = run::BlockedBecause(*lora, off).empty();
    out.config = fits ? run::SwitchedOn(*lora, off) : off;
    if (fits) out.config.Set("lora.rank", rank);
    if (!fits) out.reset.push_back(i18n::Text("no LoRA (no layer of this model matches)"));
  }
  absl::StatusOr<RunConfig> checked = run::RunConfigBuilder(out.config).Build();
  if (!checked.ok()) return checked.status();
  out.config = *std::move(checked);
  return out;
}

std::string OptimizerName(const RunConfig& config) {
  const std::string& id = config.Get("optimizer.name");
  const run::OptimizerDeclaration* optimizer = run::TheCatalogue().FindOptimizer(id);
  const bool momentum = id == "sgd" && config.Number("optimizer.momentum") > 0;
  return (optimizer != nullptr ? i18n::Text(optimizer->title) : id) +
         (momentum ? i18n::Text(" + momentum") : "");
}

std::string OptimizerText(const RunConfig& config) {
  return fmt::format("{}, {}", OptimizerName(config), config.Get("optimizer.impl"));
}

std::string DescribeChange(const run::RunConfig& before, const run::RunConfig& after) {
  if (before.model != after.model) return i18n::Format("Model {}", after.model);
  if (before.device != after.device) return i18n::Format("Device {}", after.device);
  for (const run::ToggleRow& row : run::Toggles()) {
    const run::Toggle& t = *row.toggle;
    const bool on = run::IsOn(t, after);
    if (on != run::IsOn(t, before) &&
        PlanKey(on ? run::SwitchedOn(t, before) : run::SwitchedOff(t, before)) == PlanKey(after))
      return fmt::format("{} {}", i18n::Text(t.title), on ? i18n::Text("on") : i18n::Text("off"));
  }
  if (before.batch != after.batch) return i18n::Format("Batch {} → {}", before.batch, after.batch);
  if (run::SeqText(before) != run::SeqText(after))
    return i18n::Format("Sequence {} → {}", run::ShortSeqText(before), run::ShortSeqText(after));
  if (before.micro_batches != after.micro_batches)
    return i18n::Format("Micro-batches {} → {}", before.micro_batches, after.micro_batches);
  if (before.steps != after.steps) return i18n::Format("Steps {} → {}", before.steps, after.steps);
  if (OptimizerText(before) != OptimizerText(after))
    return i18n::Format("Optimizer {}", OptimizerText(after));
  // If only one setting has changed, return its name and both values.
  for (const run::TechniqueDeclaration& technique : run::TheCatalogue().techniques) {
    for (const run::SettingDeclaration& setting : technique.settings) {
      if (before.Get(setting.key) == after.Get(setting.key)) continue;
      RunConfig only = before;
      only.Set(setting.key, after.Get(setting.key));
      if (PlanKey(only) != PlanKey(after)) return i18n::Text("Settings");
      return fmt::format("{}: {} \u2192 {}", i18n::Text(technique.title),
                         setting.label.empty() ? setting.key : i18n::Text(setting.label),
                         after.Get(setting.key));
    }
  }
  return i18n::Text("Settings");
}

std::string PlanKey(const run::RunConfig& config) { return run::ToProtoBytes(config); }

}  // namespace vramscope::ui
