#include "profiler/fit/moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiler/base/i18n.h"
#include "profiler/run/check_run.h"
#include "profiler/run/toggles.h"
#include "profiler/run/units.h"

namespace vramscope::fit {
namespace {

using Json = nlohmann::ordered_json;

// Flattens a run.json to settings such as "lora.rank".
void Flatten(const Json& json, const std::string& prefix, Settings& out) {
  for (const auto& [key, value] : json.items()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (value.is_object()) {
      Flatten(value, name, out);
    } else if (value.is_array()) {
      std::string list;
      for (const Json& each : value)
        list += fmt::format("{}{}", list.empty() ? "" : ",",
                            each.is_string() ? each.get<std::string>() : each.dump());
      out.emplace_back(name, list);
    } else {
      out.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
}

Move MoveOf(const run::FitMove& fit, const std::string& title, const std::string& why) {
  return {.id = fit.row,
          .title = title,
          .why = why,
          .changes = fit.changes,
          .last_resort = fit.last_resort};
}

// Adds a move for each doubling of the value of `key` that the run allows.
void AddDoubled(const Move& row, const std::string& key, const run::RunConfig& config,
                std::vector<Move>& out) {
  const Settings now = SettingsOf(config);
  const auto found = std::ranges::find(now, key, &Settings::value_type::first);
  if (found == now.end()) return;
  constexpr int64_t kMost = int64_t{1} << 20;
  const int64_t first = run::ParseInteger(found->second).value_or(kMost);
  for (int64_t value = 2 * first; value > 0 && value <= kMost; value *= 2) {
    Move move = row;
    move.id = fmt::format("{}-{}", row.id, value);
    move.title = fmt::format("{}: {} = {}", row.title, key, value);
    move.settings = {{key, fmt::format("{}", value)}};
    move.toggle = nullptr;
    if (!With(move.settings, config).ok()) break;
    out.push_back(std::move(move));
  }
}

// Returns the settings that select an optimizer. Changes optimizer.impl only if necessary.
Settings ChoiceOf(const run::OptimizerDeclaration& optimizer, const run::RunConfig& config) {
  Settings settings = {{"optimizer.name", optimizer.id}};
  const std::vector<std::string>& ways = optimizer.implementations;
  if (!ways.empty() && std::ranges::find(ways, config.Get("optimizer.impl")) == ways.end()) {
    settings.emplace_back("optimizer.impl", ways.front());
  }
  return settings;
}

}  // namespace

absl::StatusOr<run::RunConfig> With(const Settings& settings, const run::RunConfig& config) {
  run::RunConfigBuilder builder(config);
  for (const auto& [key, value] : settings) {
    if (absl::Status status = builder.Set(key, value); !status.ok()) return status;
  }
  absl::StatusOr<run::RunConfig> with = builder.Build();
  if (!with.ok()) return with.status();
  if (const auto model = run::CheckRun(*with); !model.ok()) return model.status();
  return with;
}

absl::StatusOr<run::RunConfig> Applied(const Move& move, const run::RunConfig& config) {
  if (move.toggle == nullptr) return With(move.settings, config);
  if (run::IsOn(*move.toggle, config)) {
    return absl::InvalidArgumentError(i18n::Format("{}: already on in this run", move.title));
  }
  if (std::string why = run::BlockedBecause(*move.toggle, config); !why.empty()) {
    return absl::InvalidArgumentError(std::move(why));
  }
  run::RunConfig with = run::SwitchedOn(*move.toggle, config);
  if (const auto model = run::CheckRun(with); !model.ok()) return model.status();
  return with;
}

std::vector<Move> Moves(const run::RunConfig& config) {
  std::vector<Move> out;
  for (const run::FitMove& fit : run::TheCatalogue().moves) {
    if (const run::Toggle* toggle = run::FindToggle(fit.row)) {
      Move move = MoveOf(fit, toggle->title, toggle->explanation);
      if (!fit.doubles.empty()) {
        AddDoubled(move, fit.doubles, config, out);
      } else if (!run::IsOn(*toggle, config)) {
        move.toggle = toggle;
        out.push_back(std::move(move));
      }
    } else if (const run::OptimizerDeclaration* optimizer =
                   run::TheCatalogue().FindOptimizer(fit.row)) {
      if (config.Is("optimizer.name", optimizer->id)) continue;
      Move move = MoveOf(fit, optimizer->title, optimizer->explanation);
      move.settings = ChoiceOf(*optimizer, config);
      out.push_back(std::move(move));
    }
  }
  return out;
}

Settings SettingsOf(const run::RunConfig& config) {
  Settings out;
  const Json json = Json::parse(run::ToJson(config), nullptr, false);
  if (json.is_object()) Flatten(json, "", out);
  return out;
}

Settings Changed(const run::RunConfig& before, const run::RunConfig& after) {
  const Settings old = SettingsOf(before);
  Settings out;
  for (auto& setting : SettingsOf(after)) {
    if (std::ranges::find(old, setting) == old.end()) out.push_back(std::move(setting));
  }
  return out;
}

std::string_view TextOf(run::Changes changes) {
  switch (changes) {
    case run::Changes::kNothing:
      return TEXT_MARK("the training stays as it is");
    case run::Changes::kRounding:
      return TEXT_MARK("the same training at lower precision");
    case run::Changes::kTraining:
      break;
  }
  return TEXT_MARK("the training changes");
}

}  // namespace vramscope::fit
