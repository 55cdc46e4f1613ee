#include "profiler/reproduce/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "profiler/run/units.h"
#include "resources/embedded_file.h"

namespace vramscope::reproduce {
namespace {

using Json = nlohmann::ordered_json;

struct Unit {
  std::string_view name;
  double scale;
};
constexpr Unit kUnits[] = {
    {"GiB", 1073741824.0}, {"MiB", 1048576.0}, {"GB", 1e9}, {"MB", 1e6}, {"B", 1},
    {"count", 1},          {"ms", 1},          {"x", 1},    {"event", 1}};

constexpr int kMostOpen = 1'000'000;

const Unit* FindUnit(std::string_view name) {
  const auto found = std::ranges::find(kUnits, name, &Unit::name);
  return found == std::end(kUnits) ? nullptr : found;
}

absl::Status Bad(const std::string& where, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("experiments: {}: {}", where, what));
}

std::string Text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> Number(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

// Returns an error if there are other keys: a misspelled key would otherwise be ignored silently.
absl::Status OnlyKeys(const Json& json, std::initializer_list<std::string_view> keys,
                      const std::string& where) {
  if (!json.is_object()) return Bad(where, "expected an object");
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(keys, key) == keys.end())
      return Bad(where, fmt::format("unknown key \"{}\"", key));
  }
  return absl::OkStatus();
}

absl::Status ReadSettings(const Json& json, const std::string& where, Settings& settings) {
  if (!json.is_object()) return Bad(where, "settings are an object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) return Bad(where, fmt::format("setting {}: expected a string", key));
    const auto same = std::ranges::find(settings, key, &Settings::value_type::first);
    if (same != settings.end()) {
      same->second = value.get<std::string>();
    } else {
      settings.emplace_back(key, value.get<std::string>());
    }
  }
  return absl::OkStatus();
}

// Reads a tolerance such as "5 %" or "0.06 GiB".
absl::Status ReadTolerance(const std::string& text, const std::string& where, Figure& figure) {
  const size_t space = text.find(' ');
  const absl::StatusOr<double> number = run::ParseNumber(text.substr(0, space));
  const std::string unit = space == std::string::npos ? "" : text.substr(space + 1);
  if (!number.ok() || *number < 0) return Bad(where, "tolerance: expected \"5 %\" or \"1 GiB\"");
  figure.relative = unit == "%";
  if (figure.relative) {
    figure.tolerance = *number / 100;
    return absl::OkStatus();
  }
  const Unit* found = FindUnit(unit);
  if (found == nullptr) return Bad(where, fmt::format("tolerance: no unit \"{}\"", unit));
  figure.tolerance = *number * found->scale;
  return absl::OkStatus();
}

absl::Status ReadFormula(const Json& json, const std::string& where, Figure& figure) {
  estimate::Values values;
  const auto terms = json.find("terms");
  if (terms == json.end() || !terms->is_object()) return Bad(where, "a formula needs terms");
  for (const auto& [name, value] : terms->items()) {
    if (!value.is_number()) return Bad(where, fmt::format("term {}: expected a number", name));
    values.emplace_back(name, value.get<double>());
  }
  absl::StatusOr<estimate::Formula> formula = estimate::Evaluate(Text(json, "formula"), values);
  if (!formula.ok()) return Bad(where, std::string(formula.status().message()));
  figure.formula = *std::move(formula);
  return absl::OkStatus();
}

absl::StatusOr<Figure> ReadFigure(const Json& json, const std::string& experiment) {
  const std::string where = fmt::format("{}: {}", experiment, Text(json, "name"));
  if (absl::Status status =
          OnlyKeys(json,
                   {"name", "predict", "formula", "terms", "unit", "counter", "published",
                    "reference", "tolerance", "why", "least", "most", "informative", "note"},
                   where);
      !status.ok())
    return status;
  Figure figure{.name = Text(json, "name"),
                .predict = Text(json, "predict"),
                .formula = std::nullopt,
                .unit = Text(json, "unit"),
                .counter = Text(json, "counter"),
                .published = std::nullopt,
                .reference = std::nullopt,
                .why = Text(json, "why"),
                .least = std::nullopt,
                .most = std::nullopt,
                .note = Text(json, "note")};
  if (figure.name.empty()) return Bad(where, "a figure without a name");
  if (const auto informative = json.find("informative"); informative != json.end()) {
    if (!informative->is_boolean()) return Bad(where, "informative: expected true or false");
    figure.informative = informative->get<bool>();
  }
  if (FindUnit(figure.unit) == nullptr)
    return Bad(where, fmt::format("no unit \"{}\"", figure.unit));
  const auto scaled = [&](const char* key) {
    std::optional<double> value = Number(json, key);
    if (value.has_value()) *value *= figure.scale();
    return value;
  };
  figure.published = scaled("published");
  figure.reference = scaled("reference");
  figure.least = scaled("least");
  figure.most = scaled("most");
  const std::string tolerance = Text(json, "tolerance");
  if (!tolerance.empty()) {
    if (absl::Status status = ReadTolerance(tolerance, where, figure); !status.ok()) return status;
  } else if (figure.target().has_value() && !figure.informative) {
    return Bad(where, "a number without a tolerance");
  }
  if (json.contains("formula")) {
    if (absl::Status status = ReadFormula(json, where, figure); !status.ok()) return status;
  } else if (figure.predict.empty()) {
    figure.predict = figure.name;
  }
  return figure;
}

absl::StatusOr<Experiment> ReadExperiment(const Json& json, const std::string& letter,
                                          const Settings& common) {
  Experiment out{.id = Text(json, "id"),
                 .document = letter,
                 .title = Text(json, "title"),
                 .kind = Text(json, "kind"),
                 .runs = {},
                 .figures = {},
                 .note = Text(json, "note"),
                 .demonstration = Text(json, "demonstration"),
                 .lacks = Text(json, "lacks")};
  if (absl::Status status = OnlyKeys(
          json, {"id", "title", "kind", "run", "runs", "figures", "note", "demonstration", "lacks"},
          out.id);
      !status.ok())
    return status;
  if (out.id.empty() || out.title.empty() || out.kind.empty())
    return Bad(out.id, "id, title and kind are needed");
  const auto read_run = [&](const std::string& name, const Json& settings,
                            const Settings& base) -> absl::Status {
    ExperimentRun run{.name = name, .settings = base};
    if (absl::Status status = ReadSettings(settings, out.id, run.settings); !status.ok())
      return status;
    out.runs.push_back(std::move(run));
    return absl::OkStatus();
  };
  if (json.contains("run")) {
    if (absl::Status status = read_run("run", json["run"], common); !status.ok()) return status;
  }
  // All other runs state only the settings that differ from the first run's.
  if (json.contains("runs")) {
    if (!json["runs"].is_object()) return Bad(out.id, "runs: expected an object");
    const Settings base = out.runs.empty() ? common : out.runs.front().settings;
    for (const auto& [name, settings] : json["runs"].items()) {
      if (absl::Status status = read_run(name, settings, base); !status.ok()) return status;
    }
  }
  if (!json.contains("figures") || !json["figures"].is_array())
    return Bad(out.id, "figures: expected a list");
  for (const Json& each : json["figures"]) {
    absl::StatusOr<Figure> figure = ReadFigure(each, out.id);
    if (!figure.ok()) return figure.status();
    if (!figure->formula.has_value() && out.runs.empty() && out.lacks.empty() &&
        out.demonstration.empty())
      return Bad(out.id, "an expression, and no run");
    out.figures.push_back(*std::move(figure));
  }
  return out;
}

absl::StatusOr<Open> ReadOpen(const Json& json) {
  if (absl::Status status =
          OnlyKeys(json, {"name", "what", "experiment", "figure", "run", "low", "high"}, "open");
      !status.ok())
    return status;
  Open open{.name = Text(json, "name"),
            .what = Text(json, "what"),
            .experiment = Text(json, "experiment"),
            .figure = Text(json, "figure"),
            .run = Text(json, "run")};
  const double low = Number(json, "low").value_or(1), high = Number(json, "high").value_or(1);
  // An open value is a length or a count, so its bounds must be positive.
  if (!(1 <= low && low <= high && high <= kMostOpen))
    return Bad(fmt::format("open: {}", open.name),
               fmt::format("low and high go from 1 to {}, low first", kMostOpen));
  open.low = static_cast<int>(low);
  open.high = static_cast<int>(high);
  return open;
}

}  // namespace

double Figure::scale() const {
  const Unit* found = FindUnit(unit);
  return found == nullptr ? 1 : found->scale;
}

const Figure* Experiment::headline() const {
  for (const Figure& figure : figures) {
    if (figure.published.has_value() && !figure.informative) return &figure;
  }
  for (const Figure& figure : figures) {
    if (figure.target().has_value()) return &figure;
  }
  return figures.empty() ? nullptr : &figures.front();
}

absl::StatusOr<Document> ParseDocument(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Bad("the file", "not JSON");
  if (absl::Status status =
          OnlyKeys(json, {"letter", "title", "about", "common", "open", "experiments"}, "the file");
      !status.ok())
    return status;
  Document document{.letter = Text(json, "letter"),
                    .title = Text(json, "title"),
                    .about = Text(json, "about"),
                    .open = {},
                    .experiments = {}};
  Settings common;
  if (json.contains("common")) {
    if (absl::Status status = ReadSettings(json["common"], "common", common); !status.ok())
      return status;
  }
  for (const Json& each : json.value("open", Json::array())) {
    absl::StatusOr<Open> open = ReadOpen(each);
    if (!open.ok()) return open.status();
    document.open.push_back(*std::move(open));
  }
  if (!json.contains("experiments") || !json["experiments"].is_array())
    return Bad("the file", "experiments: expected a list");
  for (const Json& each : json["experiments"]) {
    absl::StatusOr<Experiment> experiment = ReadExperiment(each, document.letter, common);
    if (!experiment.ok()) return experiment.status();
    document.experiments.push_back(*std::move(experiment));
  }
  return document;
}

absl::StatusOr<const std::vector<Document>*> Documents() {
  static const absl::StatusOr<std::vector<Document>>* all = [] {
    std::vector<Document> documents;
    for (const resources::EmbeddedFile& file : resources::ExperimentFiles()) {
      absl::StatusOr<Document> document = ParseDocument(file.content);
      if (!document.ok()) return new absl::StatusOr<std::vector<Document>>(document.status());
      documents.push_back(*std::move(document));
    }
    return new absl::StatusOr<std::vector<Document>>(std::move(documents));
  }();
  if (!all->ok()) return all->status();
  return &all->value();
}

std::vector<std::string> OpenNames(const ExperimentRun& run) {
  std::vector<std::string> names;
  for (const auto& [key, value] : run.settings) {
    for (size_t open = value.find('{'); open != std::string::npos;
         open = value.find('{', open + 1)) {
      const size_t close = value.find('}', open);
      if (close == std::string::npos) break;
      const std::string name = value.substr(open + 1, close - open - 1);
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

namespace {

// Applies the run's settings and records the values that were used.
absl::Status Apply(const ExperimentRun& run, const Values& open, run::RunConfigBuilder& builder,
                   Settings& settings) {
  for (const auto& [key, text] : run.settings) {
    std::string values = text;
    for (const auto& [name, number] : open) {
      const std::string braced = "{" + name + "}";
      for (size_t at = values.find(braced); at != std::string::npos; at = values.find(braced))
        values.replace(at, braced.size(), fmt::format("{}", number));
    }
    absl::Status first;
    bool done = false;
    for (size_t begin = 0; !done && begin <= values.size();) {
      const size_t end = std::min(values.find('|', begin), values.size());
      const std::string value = values.substr(begin, end - begin);
      if (value.empty() && begin > 0) {  // the empty alternative of "a|" leaves the key out
        done = true;
        break;
      }
      const absl::Status status =
          key == "model" ? builder.SetPreset(value) : builder.Set(key, value);
      done = status.ok();
      if (done) settings.emplace_back(key, value);
      if (first.ok()) first = status;
      begin = end + 1;
    }
    if (!done) return first;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<run::RunConfig> ConfigOf(const ExperimentRun& run, const Values& open) {
  run::RunConfigBuilder builder;
  Settings settings;
  if (absl::Status status = Apply(run, open, builder, settings); !status.ok()) return status;
  return builder.Build();
}

absl::StatusOr<Settings> SettingsOf(const ExperimentRun& run, const Values& open) {
  run::RunConfigBuilder builder;
  Settings settings;
  if (absl::Status status = Apply(run, open, builder, settings); !status.ok()) return status;
  return settings;
}

}  // namespace vramscope::reproduce
