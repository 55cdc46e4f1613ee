// `presets`, `techniques`: lists what can be chosen. `devices` is in device_list.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "profiler/base/i18n.h"
#include "profiler/estimate/weights.h"
#include "profiler/run/catalogue.h"
#include "profiler/run/run_config.h"
#include "profiler/run/toggles.h"
#include "profiler/run/units.h"

namespace vramscope::cli::devices_command {
namespace {

// Formats for example {"optimizer": {"impl": "loop"}} as "optimizer.impl=loop".
std::string SettingsText(const Json& settings, const std::string& prefix = "") {
  std::string text;
  for (const auto& [key, value] : settings.items()) {
    if (!text.empty()) text += " ";
    text += value.is_object()   ? SettingsText(value, prefix + key + ".")
            : value.is_string() ? prefix + key + "=" + value.get<std::string>()
                                : prefix + key + "=" + value.dump();
  }
  return text;
}

ExitCode ShowPresets(bool as_json) {
  Json list = Json::array();
  Table table({{i18n::Text("Preset")},
               {i18n::Text("Family")},
               {i18n::Text("Layers"), Table::kRight},
               {i18n::Text("Parameters"), Table::kRight},
               {"fp32", Table::kRight},
               {i18n::Text("Run defaults")}});
  for (const run::ModelPreset& preset : run::ModelPresets()) {
    const absl::StatusOr<run::ModelConfig> model = run::ParseModelConfig(preset.config_json);
    if (!model.ok()) return ReportError(absl::InternalError(model.status().message()));
    const estimate::WeightCount count = estimate::CountWeights(*model);
    // Only a plan can count the weights of other families.
    const bool counted = model->family != run::Family::kOther;
    const Json config = Json::parse(preset.config_json);
    const Json defaults = config.value("vramscope_defaults", Json::object());
    list.push_back(
        {{"name", std::string(preset.name)},
         {"family", count.family},
         {"layers", counted ? Json(count.layers) : Json()},
         {"parameters",
          counted ? Json{{"count", count.total()}, {"bytes", count.total() * 4}} : Json()},
         {"run_defaults", defaults},
         {"config", config}});
    table.Row({std::string(preset.name), count.family,
               counted ? fmt::format("{}", count.layers) : "", counted ? Count(count.total()) : "",
               counted ? run::FormatBytes(count.total() * 4) : "", SettingsText(defaults)});
  }
  return as_json ? PrintJson({{"presets", list}}) : PrintText(table.Text());
}

// Returns for example "attention is flash, precision is fp32".
std::string Text(const std::vector<run::Condition>& conditions) {
  std::string text;
  for (const run::Condition& c : conditions) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", c.key, c.is ? "is" : "is not",
                        fmt::join(c.values, " or "));
  }
  return text;
}

// Returns the allowed values of a setting, such as "1 to 4096", "none, layer, every-k" or "names".
std::string Allowed(const run::SettingDeclaration& setting) {
  switch (setting.kind) {
    case run::ValueKind::kChoice: {
      std::vector<std::string> values;
      for (const run::Choice& choice : setting.choices) values.push_back(choice.value);
      return fmt::format("{}", fmt::join(values, ", "));
    }
    case run::ValueKind::kInteger:
    case run::ValueKind::kNumber:
      return i18n::Format("{:g} to {:g}", setting.low, setting.high);
    case run::ValueKind::kBytes:
      return i18n::Text("bytes");
    case run::ValueKind::kText:
      return i18n::Text(setting.format);
  }
  return {};
}

// Returns "Precision, Attention, ...".
std::string GroupNames() {
  std::vector<std::string> names;
  for (const run::TechniqueDeclaration& t : run::TheCatalogue().techniques) {
    if (std::ranges::find(names, i18n::Text(t.group)) == names.end())
      names.push_back(i18n::Text(t.group));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

ExitCode ShowTechniques(bool as_json, const std::vector<std::string>& words) {
  Json list = Json::array();
  std::string text;
  for (const run::TechniqueDeclaration& t : run::TheCatalogue().techniques) {
    if (!run::HasWords(run::SearchText(t, nullptr), words)) continue;
    Json keys = Json::array(), settings = Json::array(), excludes = Json::array(),
         toggles = Json::array();
    text += fmt::format("{} ({})\n  {}\n", i18n::Text(t.title), i18n::Text(t.group),
                        i18n::Text(t.explanation));
    for (const run::SettingDeclaration& s : t.settings) {
      keys.push_back(s.key);
      settings.push_back({{"key", s.key},
                          {"help", s.help},
                          {"default", s.default_value},
                          {"allowed", Allowed(s)}});
      text += fmt::format("    {} = {}   ({})  {}\n", s.key,
                          s.default_value.empty() ? "\"\"" : s.default_value, Allowed(s),
                          i18n::Text(s.help));
    }
    for (const run::Rule& rule : t.rules) {
      Json instead = Json::object();
      for (const auto& [key, value] : rule.instead) instead[key] = value;
      excludes.push_back({{"when", Text(rule.when)},
                          {"why", rule.why},
                          {"refused", rule.refuses},
                          {"instead", instead}});
      text += fmt::format("    {}: {}\n",
                          rule.refuses ? i18n::Text("refused") : i18n::Text("without effect"),
                          i18n::Text(rule.why));
    }
    for (const run::Toggle& toggle : t.toggles) toggles.push_back(toggle.id);
    for (const std::string& implied : t.implies) text += "    " + i18n::Text(implied) + "\n";
    list.push_back({{"id", t.id},
                    {"group", t.group},
                    {"title", t.title},
                    {"explanation", t.explanation},
                    {"keys", keys},
                    {"settings", settings},
                    {"toggles", toggles},
                    {"excludes", excludes},
                    {"implies", t.implies}});
  }
  if (list.empty()) {
    NoteError(
        i18n::Format("no technique has \"{}\" in its name, explanation, group, keys or values. The "
                     "groups are {}",
                     fmt::join(words, " "), GroupNames()));
    return kUsage;
  }
  Json optimizers = Json::array();
  for (const run::OptimizerDeclaration& o : run::TheCatalogue().optimizers) {
    optimizers.push_back({{"id", o.id},
                          {"title", o.title},
                          {"explanation", o.explanation},
                          {"implementations", o.implementations}});
  }
  Json families = Json::array();
  for (const run::FamilyDeclaration& f : run::TheCatalogue().families) {
    families.push_back({{"id", f.id},
                        {"title", f.title},
                        {"architectures", f.architectures},
                        {"model_types", f.model_types},
                        {"inputs", f.inputs}});
  }
  if (!as_json) return PrintText(text);
  return PrintJson({{"techniques", list}, {"optimizers", optimizers}, {"families", families}});
}

void DeclarePresets(CLI::App* command, Context& context) {
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print one JSON object");
  command->callback([json, &context] { context.exit_code = ShowPresets(*json); });
}

void DeclareTechniques(CLI::App* command, Context& context) {
  auto json = std::make_shared<bool>(false);
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("words", *words,
                      "list only techniques whose name, explanation, group, keys or values contain "
                      "all of these words");
  command->add_flag("--json", *json, "print one JSON object");
  command->callback([json, words, &context] { context.exit_code = ShowTechniques(*json, *words); });
}

}  // namespace

CommandEntry DeclareCommand_presets() {
  return {.place = 210,
          .name = "presets",
          .help = "list the built-in models",
          .example = "presets",
          .declare = DeclarePresets};
}

CommandEntry DeclareCommand_techniques() {
  return {.place = 220,
          .name = "techniques",
          .help =
              "list the techniques that save memory, with their settings and the techniques that "
              "they exclude",
          .example = "techniques --json",
          .declare = DeclareTechniques};
}

}  // namespace vramscope::cli::devices_command
