#include "profiler/run/catalogue.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "profiler/base/hash_map.h"
#include "resources/embedded_file.h"

namespace vramscope::run {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view kKinds[] = {"choice", "integer", "number", "bytes", "text"};

json ToJson(const SettingValues& values) {
  json out = json::object();
  for (const auto& [key, value] : values) out[key] = value;
  return out;
}

SettingValues ValuesFrom(const json& from) {
  SettingValues out;
  for (const auto& [key, value] : from.items()) out.Set(key, value.get<std::string>());
  return out;
}

json ToJson(const std::vector<Condition>& conditions) {
  json out = json::array();
  for (const Condition& c : conditions) {
    out.push_back({{"key", c.key}, {c.is ? "is" : "is_not", c.values}});
  }
  return out;
}

std::vector<Condition> ConditionsFrom(const json& from) {
  std::vector<Condition> out;
  for (const json& c : from) {
    const bool is = c.contains("is");
    out.push_back({c.at("key").get<std::string>(), is,
                   c.at(is ? "is" : "is_not").get<std::vector<std::string>>()});
  }
  return out;
}

json ToJson(const SettingDeclaration& s) {
  json out{{"key", s.key},
           {"help", s.help},
           {"kind", kKinds[static_cast<size_t>(s.kind)]},
           {"default", s.default_value}};
  if (s.kind == ValueKind::kChoice) {
    for (const Choice& c : s.choices) {
      json choice{{"value", c.value}};
      if (!c.title.empty()) choice["title"] = c.title;
      out["choices"].push_back(std::move(choice));
    }
  }
  if (s.kind == ValueKind::kInteger || s.kind == ValueKind::kNumber) {
    out["low"] = s.low;
    out["high"] = s.high;
  }
  if (!s.format.empty()) out["format"] = s.format;
  if (!s.label.empty()) out["label"] = s.label;
  if (!s.choices_from.empty()) out["choices_from"] = s.choices_from;
  return out;
}

SettingDeclaration SettingFrom(const json& from) {
  SettingDeclaration s{.key = from.at("key"),
                       .help = from.at("help"),
                       .kind = ValueKind::kText,
                       .default_value = from.at("default")};
  const auto kind = from.at("kind").get<std::string>();
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (kKinds[i] == kind) s.kind = static_cast<ValueKind>(i);
  }
  for (const json& c : from.value("choices", json::array())) {
    s.choices.push_back({c.at("value"), c.value("title", "")});
  }
  s.low = from.value("low", 0.0);
  s.high = from.value("high", 0.0);
  s.format = from.value("format", "");
  s.label = from.value("label", "");
  s.choices_from = from.value("choices_from", "");
  return s;
}

json ToJson(const TechniqueDeclaration& t) {
  json out{{"id", t.id}, {"group", t.group}, {"title", t.title}, {"explanation", t.explanation}};
  out["settings"] = json::array();
  for (const SettingDeclaration& s : t.settings) out["settings"].push_back(ToJson(s));
  out["toggles"] = json::array();
  for (const Toggle& toggle : t.toggles) {
    json row{{"id", toggle.id},
             {"title", toggle.title},
             {"explanation", toggle.explanation},
             {"on", ToJson(toggle.on)}};
    for (const SettingValues& way : toggle.ways) row["ways"].push_back(ToJson(way));
    if (!toggle.off.empty()) row["off"] = ToJson(toggle.off);
    if (!toggle.controls.empty()) row["controls"] = toggle.controls;
    out["toggles"].push_back(std::move(row));
  }
  out["rules"] = json::array();
  for (const Rule& rule : t.rules) {
    json row{{"when", ToJson(rule.when)}, {"why", rule.why}, {"refuses", rule.refuses}};
    if (!rule.instead.empty()) row["instead"] = ToJson(rule.instead);
    out["rules"].push_back(std::move(row));
  }
  if (!t.implies.empty()) out["implies"] = t.implies;
  for (const Assumed& a : t.assumes) {
    out["assumes"].push_back({{"when", ToJson(a.when)}, {"what", a.what}});
  }
  return out;
}

TechniqueDeclaration TechniqueFrom(const json& from) {
  TechniqueDeclaration t{.id = from.at("id"),
                         .group = from.at("group"),
                         .title = from.at("title"),
                         .explanation = from.at("explanation")};
  for (const json& s : from.at("settings")) t.settings.push_back(SettingFrom(s));
  for (const json& row : from.at("toggles")) {
    Toggle toggle{.id = row.at("id"),
                  .title = row.at("title"),
                  .explanation = row.at("explanation"),
                  .on = ConditionsFrom(row.at("on")),
                  .ways = {}};
    for (const json& way : row.value("ways", json::array())) toggle.ways.push_back(ValuesFrom(way));
    toggle.off = ValuesFrom(row.value("off", json::object()));
    toggle.controls = row.value("controls", std::vector<std::string>{});
    t.toggles.push_back(std::move(toggle));
  }
  for (const json& row : from.at("rules")) {
    t.rules.push_back({ConditionsFrom(row.at("when")), row.at("why"),
                       ValuesFrom(row.value("instead", json::object())), row.at("refuses")});
  }
  t.implies = from.value("implies", std::vector<std::string>{});
  for (const json& row : from.value("assumes", json::array())) {
    t.assumes.push_back({ConditionsFrom(row.at("when")), row.at("what")});
  }
  return t;
}

json ToJson(const FamilyDeclaration& f) {
  json out{{"id", f.id},
           {"title", f.title},
           {"architectures", f.architectures},
           {"model_types", f.model_types},
           {"inputs", f.inputs}};
  if (f.batch > 0) out["batch"] = f.batch;
  if (f.seq > 0) out["seq"] = f.seq;
  for (const FamilyDeclaration::LoraChoice& c : f.lora) {
    out["lora"].push_back({{"title", c.title}, {"targets", c.targets}});
  }
  for (const FamilyDeclaration::Limit& limit : f.limits) {
    out["limits"].push_back({{"key", limit.key}, {"allowed", limit.allowed}, {"why", limit.why}});
  }
  if (!f.assumes.empty()) out["assumes"] = f.assumes;
  return out;
}

FamilyDeclaration FamilyFrom(const json& from) {
  FamilyDeclaration f;
  f.id = from.at("id");
  f.title = from.at("title");
  f.architectures = from.at("architectures").get<std::vector<std::string>>();
  f.model_types = from.at("model_types").get<std::vector<std::string>>();
  f.inputs = from.at("inputs");
  f.batch = from.value("batch", 0);
  f.seq = from.value("seq", 0);
  for (const json& c : from.value("lora", json::array())) {
    f.lora.push_back({c.at("title"), c.at("targets").get<std::vector<std::string>>()});
  }
  for (const json& limit : from.value("limits", json::array())) {
    f.limits.push_back(
        {limit.at("key"), limit.at("allowed").get<std::vector<std::string>>(), limit.at("why")});
  }
  f.assumes = from.value("assumes", std::vector<std::string>{});
  return f;
}

constexpr std::string_view kChanges[] = {"nothing", "rounding", "training"};

json ToJson(const FitMove& move) {
  json out{{"row", move.row}, {"changes", kChanges[static_cast<size_t>(move.changes)]}};
  if (move.last_resort) out["last_resort"] = true;
  if (!move.doubles.empty()) out["doubles"] = move.doubles;
  return out;
}

FitMove MoveFrom(const json& from) {
  FitMove move{.row = from.at("row")};
  const auto changes = from.at("changes").get<std::string>();
  for (size_t i = 0; i < std::size(kChanges); ++i) {
    if (kChanges[i] == changes) move.changes = static_cast<Changes>(i);
  }
  move.last_resort = from.value("last_resort", false);
  move.doubles = from.value("doubles", "");
  return move;
}

json ToJson(const ModelledBlocks& blocks) {
  json out{
      {"technique", blocks.technique}, {"assumed", blocks.assumed}, {"category", blocks.category}};
  if (!blocks.ops.empty()) out["ops"] = blocks.ops;
  return out;
}

bool Contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

const FamilyDeclaration* Catalogue::FamilyOf(std::string_view config_json) const {
  const json config = json::parse(config_json, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) return nullptr;
  // The model type is used only if the file names no architecture.
  std::string architecture;
  if (const auto at = config.find("architectures");
      at != config.end() && at->is_array() && !at->empty() && at->front().is_string()) {
    architecture = at->front().get<std::string>();
  }
  const auto type = config.find("model_type");
  const std::string model_type =
      type != config.end() && type->is_string() ? type->get<std::string>() : std::string();
  for (const FamilyDeclaration& family : families) {
    if (!architecture.empty() ? Contains(family.architectures, architecture)
                              : Contains(family.model_types, model_type)) {
      return &family;
    }
  }
  return nullptr;
}

const SettingDeclaration* FindSetting(std::string_view key) {
  static const auto* settings = [] {
    auto* out = new base::HashMap<std::string_view, const SettingDeclaration*>;
    for (const TechniqueDeclaration& technique : TheCatalogue().techniques) {
      for (const SettingDeclaration& setting : technique.settings)
        out->emplace(setting.key, &setting);
    }
    return out;
  }();
  const auto found = settings->find(key);
  return found != settings->end() ? found->second : nullptr;
}

const TechniqueDeclaration* Catalogue::FindTechnique(std::string_view id) const {
  for (const TechniqueDeclaration& technique : techniques) {
    if (technique.id == id) return &technique;
  }
  return nullptr;
}

const OptimizerDeclaration* Catalogue::FindOptimizer(std::string_view id) const {
  for (const OptimizerDeclaration& optimizer : optimizers) {
    if (optimizer.id == id) return &optimizer;
  }
  return nullptr;
}

std::string ToJson(const Catalogue& catalogue) {
  json out;
  out["techniques"] = json::array();
  for (const TechniqueDeclaration& t : catalogue.techniques) out["techniques"].push_back(ToJson(t));
  out["optimizers"] = json::array();
  for (const OptimizerDeclaration& o : catalogue.optimizers) {
    json row{{"id", o.id},
             {"title", o.title},
             {"explanation", o.explanation},
             {"implementations", o.implementations},
             {"default_weight_decay", o.default_weight_decay},
             {"state_elements", o.state_elements}};
    if (!o.assumes.empty()) row["assumes"] = o.assumes;
    out["optimizers"].push_back(std::move(row));
  }
  out["families"] = json::array();
  for (const FamilyDeclaration& f : catalogue.families) out["families"].push_back(ToJson(f));
  out["moves"] = json::array();
  for (const FitMove& move : catalogue.moves) out["moves"].push_back(ToJson(move));
  out["modelled"] = json::array();
  for (const ModelledBlocks& blocks : catalogue.modelled) out["modelled"].push_back(ToJson(blocks));
  return out.dump(1) + "\n";
}

absl::StatusOr<Catalogue> CatalogueFromJson(std::string_view text) {
  try {
    const json from = json::parse(text);
    Catalogue out;
    for (const json& t : from.at("techniques")) out.techniques.push_back(TechniqueFrom(t));
    for (const json& o : from.at("optimizers")) {
      out.optimizers.push_back({o.at("id"), o.at("title"), o.at("explanation"),
                                o.at("implementations").get<std::vector<std::string>>(),
                                o.at("default_weight_decay"), o.at("state_elements"),
                                o.value("assumes", std::vector<std::string>{})});
    }
    for (const json& f : from.at("families")) out.families.push_back(FamilyFrom(f));
    for (const json& m : from.value("moves", json::array())) out.moves.push_back(MoveFrom(m));
    for (const json& b : from.value("modelled", json::array())) {
      out.modelled.push_back({b.at("assumed"), b.at("category"),
                              b.value("ops", std::vector<std::string>{}), b.at("technique")});
    }
    return out;
  } catch (const json::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

const Catalogue& TheCatalogue() {
  static const Catalogue* catalogue = [] {
    absl::StatusOr<Catalogue> read = CatalogueFromJson(resources::CatalogueFile().front().content);
    if (!read.ok()) {
      // The file is compiled in and tested, so an error means that the build is broken.
      std::fprintf(stderr, "resources/catalogue.json: %s\n",
                   std::string(read.status().message()).c_str());
      std::abort();
    }
    return new Catalogue(*std::move(read));
  }();
  return *catalogue;
}

}  // namespace vramscope::run
