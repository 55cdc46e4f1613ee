#include "profiler/program/toggles.h"

#include <absl/strings/str_split.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "profiler/base/i18n.h"
#include "profiler/program/launch.h"
#include "profiler/run/units.h"

namespace vramscope::program {
namespace {

using json = nlohmann::json;
constexpr size_t kMostToggles = 256, kMostChanges = 64, kMostProposals = 16, kMostText = 2000;
constexpr std::streamsize kMostCatalogue = 1 << 20;

// Reasons that emulated/python/vramscope/toggles reports and that contain placeholders. They are
// listed here for translation. (update.py finds the other reasons.) `update.py --check` compares
// this list with that folder.
constexpr std::string_view kReasons[] = {
    TEXT_MARK("a value is needed: one of {}"),
    TEXT_MARK("Accelerator already has mixed_precision=\"{}\""),
    TEXT_MARK("eval_accumulation_steps is already {}"),
    TEXT_MARK("gradients are clipped in {}, and clipping needs all gradients at once"),
    TEXT_MARK("gradients are scaled in {}"),
    TEXT_MARK("model.{}() is already called"),
    TEXT_MARK("optim=\"{}\" is already {}"),
    TEXT_MARK("optim=\"{}\" has only one implementation"),
    TEXT_MARK("per_device_eval_batch_size is already {}"),
    TEXT_MARK("the program itself sets {}={}, and the allocator has this value at the end"),
    TEXT_MARK("the micro-batch is already {} samples"),
    TEXT_MARK("the model is called with use_cache={}"),
    TEXT_MARK("the model's own forward uses autocast in {}"),
    TEXT_MARK("the optimizer is already {}"),
    TEXT_MARK("the optimizer is {}"),
    TEXT_MARK("the program trains model {} of those that transformers creates; use {}={}@{}"),
    TEXT_MARK("the rank is already {}"),
    TEXT_MARK("transformers creates only {} models without adapters"),
    TEXT_MARK("the program itself converts the weights to {}"),
    TEXT_MARK("the program sets optim=\"{}\" afterwards"),
    TEXT_MARK("the program sets torch_empty_cache_steps={} afterwards"),
    TEXT_MARK(
        "the program sets {} in the parameter groups of an optimizer that it has already created"),
    TEXT_MARK("the program sets {}=False afterwards"),
    TEXT_MARK("the program sets {}={} afterwards"),
    TEXT_MARK("the weights are already {}"),
    TEXT_MARK("the installed transformers version has no TrainingArguments.{}"),
    TEXT_MARK("the installed accelerate version has no {}.{}"),
    TEXT_MARK("the installed Lightning version has no {}"),
    TEXT_MARK("torch_empty_cache_steps is already {}"),
    TEXT_MARK("TrainingArguments already has optim=\"{}\""),
    TEXT_MARK("TrainingArguments already has {}=True"),
    TEXT_MARK("TrainingArguments has optim=\"{}\""),
    TEXT_MARK("{} already has attn_implementation=\"{}\""),
    TEXT_MARK("{} already has this setting"),
    TEXT_MARK("{} already has {}"),
    TEXT_MARK("{} is already {}"),
    TEXT_MARK("{} clears the gradients itself"),
    TEXT_MARK("{} does not divide the program's micro-batch of {} samples"),
    TEXT_MARK("{} has no arguments foreach and fused"),
    TEXT_MARK("{} has no fused implementation"),
    TEXT_MARK("{} has no list of modules of the same class"),
    TEXT_MARK("{} has no method {}, which Trainer calls"),
    TEXT_MARK("{} uses sdpa by default"),
    TEXT_MARK("{} is created with {}"),
    TEXT_MARK("{} runs the optimizer steps itself"),
    TEXT_MARK("{} nevertheless uses {}"),
    TEXT_MARK("{} uses {}, because this model has no sdpa implementation"),
    TEXT_MARK("{} cannot quantize; only from_pretrained can"),
    TEXT_MARK("{} already quantizes the model"),
    TEXT_MARK("the program sets activation_memory_budget={} afterwards"),
    TEXT_MARK("the program already sets activation_memory_budget={}"),
    TEXT_MARK("the program removes {} afterwards"),
    TEXT_MARK("peft has no default layers for {}"),
    TEXT_MARK("peft has no default layers for {}; use lora"),
    TEXT_MARK("liger-kernel has no kernels for {}"),
    TEXT_MARK("{} chooses the samples of a batch itself"),
    TEXT_MARK("the data set has no column {}, whose lengths Trainer compares"),
};

std::string TextAt(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string()
             ? it->get_ref<const std::string&>().substr(0, kMostText)
             : "";
}
bool IsSet(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_boolean() && it->get<bool>();
}
std::vector<std::string> TextsAt(const json& object, const char* key, size_t most) {
  std::vector<std::string> texts;
  const auto it = object.find(key);
  if (it == object.end() || !it->is_array()) return texts;
  for (const json& one : *it) {
    if (texts.size() == most) break;
    if (one.is_string()) texts.push_back(one.get_ref<const std::string&>().substr(0, kMostText));
    if (one.is_null()) texts.emplace_back();
  }
  return texts;
}

// Returns the value, or nullopt if it is not a number from 0 to 1.
std::optional<double> PartOf(const json& value) {
  if (!value.is_number()) return std::nullopt;
  const double part = value.get<double>();
  return part >= 0 && part <= 1 ? std::optional(part) : std::nullopt;
}
std::map<std::string, double> PartsAt(const json& object, const char* key) {
  std::map<std::string, double> parts;
  const auto it = object.find(key);
  if (it == object.end() || !it->is_object()) return parts;
  for (const auto& [name, value] : it->items())
    if (const std::optional<double> part = PartOf(value); part && parts.size() < kMostProposals)
      parts[name.substr(0, kMostText)] = *part;
  return parts;
}

absl::Status Refused(std::string text) {
  return absl::InvalidArgumentError("--toggle " + std::move(text));
}

bool IsCount(std::string_view text) {
  const absl::StatusOr<int64_t> number = run::ParseInteger(text);
  return number.ok() && *number >= 1 && *number <= 1'000'000;
}

absl::StatusOr<ToggleChoice> Choose(const std::vector<Toggle>& all, std::string_view text) {
  const size_t equals = text.find('=');
  const std::string name(text.substr(0, equals));
  const Toggle* toggle = FindToggle(all, name);
  if (toggle == nullptr) {
    std::vector<std::string_view> names;
    for (const Toggle& one : all) names.push_back(one.name);
    const std::string_view near = run::Nearest(name, names.data(), names.data() + names.size());
    return Refused(i18n::Format("{}: no toggle has this name{}; `vramscope toggles` lists them",
                                name, near.empty() ? "" : fmt::format(" (\"{}\"?)", near)));
  }
  ToggleChoice choice{.name = name, .value = {}};
  if (equals == std::string_view::npos) {
    if (!toggle->needs_value) return choice;
    return Refused(i18n::Format("{0} needs a value: {0}={1}", name,
                                toggle->values.empty()
                                    ? toggle->value_kind
                                    : fmt::format("{}", fmt::join(toggle->values, "|"))));
  }
  const std::string value(text.substr(equals + 1));
  if (!toggle->takes_value()) return Refused(i18n::Format("{}: this toggle takes no value", text));
  if (!toggle->values.empty() && std::ranges::find(toggle->values, value) == toggle->values.end())
    return Refused(
        i18n::Format("{}: {} must be one of {}", text, name, fmt::join(toggle->values, ", ")));
  if (toggle->values.empty()) {
    if (toggle->value_kind == "FRACTION") {
      const absl::StatusOr<double> number = run::ParseNumber(value);
      if (!number.ok() || *number <= 0 || *number >= 1)
        return Refused(i18n::Format("{}: expected a number between 0 and 1", text));
    } else if (const size_t at = value.find('@');
               at != std::string::npos && toggle->value_kind == "RANK[@MODEL]") {
      if (!IsCount(value.substr(0, at)) || !IsCount(value.substr(at + 1)))
        return Refused(
            i18n::Format("{}: expected a rank, or a rank and the number of a model: 8@2", text));
    } else if (!IsCount(value)) {
      return Refused(i18n::Format("{}: expected a whole number from 1 to 1,000,000", text));
    }
  }
  choice.value = value;
  return choice;
}

uint64_t CountAt(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number_unsigned() ? it->get<uint64_t>() : 0;
}

}  // namespace

ToggleOutcome ToggleReport::outcome() const {
  if (!unusable.empty()) return ToggleOutcome::kUnusable;
  if (!overridden.empty()) return ToggleOutcome::kNoEffect;
  if (reached > 0) return ToggleOutcome::kApplied;
  return already_on ? ToggleOutcome::kAlreadyOn : ToggleOutcome::kNotApplied;
}

std::string TextOf(const ToggleChoice& choice) {
  return choice.value ? choice.name + "=" + *choice.value : choice.name;
}

const Toggle* FindToggle(const std::vector<Toggle>& all, std::string_view name) {
  const auto at = std::ranges::find(all, name, &Toggle::name);
  return at == all.end() ? nullptr : &*at;
}

absl::StatusOr<std::vector<Toggle>> ParseToggles(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  const auto list = object.is_object() ? object.find("toggles") : object.end();
  if (!object.is_object() || list == object.end() || !list->is_array())
    return absl::DataLossError(i18n::Text("not a list of toggles"));
  std::vector<Toggle> all;
  for (const json& one : *list) {
    if (!one.is_object() || all.size() == kMostToggles) break;
    Toggle toggle{.name = TextAt(one, "name"),
                  .label = TextAt(one, "label"),
                  .group = TextAt(one, "group"),
                  .explains = TextAt(one, "explains"),
                  .applies_to = TextAt(one, "applies_to"),
                  .changes = TextAt(one, "changes"),
                  .values = TextsAt(one, "values", kMostProposals),
                  .value_kind = TextAt(one, "values"),
                  .default_value = TextAt(one, "default"),
                  .needs_value = IsSet(one, "needs_value"),
                  .slow = IsSet(one, "slow"),
                  .before_torch = IsSet(one, "before_torch"),
                  .excludes = TextsAt(one, "excludes", kMostToggles),
                  .reduces = PartsAt(one, "reduces"),
                  .reduces_in = TextAt(one, "reduces_in")};
    if (!toggle.name.empty()) all.push_back(std::move(toggle));
  }
  return all;
}

absl::StatusOr<std::vector<Toggle>> ReadToggles(const Platform& platform) {
  const std::filesystem::path path =
      std::filesystem::path(platform.hooks).parent_path() / "vramscope/toggles/catalogue.json";
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(i18n::Format("'{}' cannot be read", path.string()));
  std::string text(static_cast<size_t>(kMostCatalogue), '\0');
  file.read(text.data(), kMostCatalogue);
  text.resize(static_cast<size_t>(file.gcount()));
  absl::StatusOr<std::vector<Toggle>> all = ParseToggles(text);
  if (!all.ok())
    return absl::DataLossError(
        fmt::format("'{}': {}", path.string(), std::string(all.status().message())));
  return all;
}

std::string WhyExcluded(const std::vector<Toggle>& all, std::string_view a, std::string_view b) {
  if (a == b) return i18n::Format("{} occurs twice", a);
  const Toggle *first = FindToggle(all, a), *second = FindToggle(all, b);
  const auto excludes = [](const Toggle* one, std::string_view other) {
    return one != nullptr && std::ranges::find(one->excludes, other) != one->excludes.end();
  };
  if (!excludes(first, b) && !excludes(second, a)) return "";
  return i18n::Format("{} and {} cannot be combined", a, b);
}

absl::StatusOr<std::vector<ToggleChoice>> ChooseToggles(const std::vector<Toggle>& all,
                                                        const std::vector<std::string>& texts) {
  std::vector<ToggleChoice> chosen;
  for (const std::string& text : texts) {
    absl::StatusOr<ToggleChoice> choice = Choose(all, text);
    if (!choice.ok()) return choice.status();
    for (const ToggleChoice& other : chosen)
      if (const std::string why = WhyExcluded(all, other.name, choice->name); !why.empty())
        return Refused(fmt::format("{}: {}", text, why));
    chosen.push_back(*std::move(choice));
  }
  return chosen;
}

std::string ToggleVariable(const std::vector<ToggleChoice>& choices) {
  json list = json::array();
  for (const ToggleChoice& choice : choices)
    list.push_back({choice.name, choice.value ? json(*choice.value) : json()});
  return list.dump();
}

std::string ReasonText(std::string_view english) {
  i18n::Know(kReasons);
  return i18n::Shown(english);
}

std::string ReasonText(const ToggleReport& report) {
  return ReasonText(std::string_view(!report.unusable.empty()     ? report.unusable
                                     : !report.overridden.empty() ? report.overridden
                                                                  : report.why));
}

std::string WhyText(const ToggleReport& report) {
  std::string why = ReasonText(report);
  if (report.outcome() == ToggleOutcome::kNotApplied && !report.applies_to.empty())
    why += i18n::Format(" (applies to: {})", i18n::Text(report.applies_to));
  return why;
}

std::vector<ToggleChange> JoinChanges(const std::vector<ToggleChange>& changes) {
  std::vector<ToggleChange> joined;
  for (const ToggleChange& change : changes) {
    const size_t name = change.text.find('=');
    const auto same_variable = [&](const ToggleChange& other) {
      return other.where == "environment" && name != std::string::npos &&
             other.text.starts_with(std::string_view(change.text).substr(0, name + 1));
    };
    if (std::ranges::find(joined, change) != joined.end()) continue;
    const auto there =
        change.where == "environment" ? std::ranges::find_if(joined, same_variable) : joined.end();
    if (there == joined.end()) {
      joined.push_back(change);
      continue;
    }
    const std::vector<std::string> have = absl::StrSplit(there->text.substr(name + 1), ',');
    const std::vector<std::string> more = absl::StrSplit(change.text.substr(name + 1), ',');
    for (const std::string& part : more)
      if (std::ranges::find(have, part) == have.end()) there->text += "," + part;
  }
  return joined;
}

std::vector<ToggleReport> JoinReports(const std::vector<std::vector<ToggleReport>>& processes) {
  std::vector<ToggleReport> joined;
  for (const std::vector<ToggleReport>& reports : processes)
    for (const ToggleReport& report : reports) {
      const auto there = std::ranges::find(joined, report.name, &ToggleReport::name);
      if (there == joined.end())
        joined.push_back(report);
      else if (report.outcome() < there->outcome())
        *there = report;
    }
  return joined;
}

std::vector<ToggleReport> ParseToggleReports(std::string_view text) {
  std::vector<ToggleReport> reports;
  const json list = json::parse(text, nullptr, false);
  if (!list.is_array()) return reports;
  for (const json& one : list) {
    if (!one.is_object() || reports.size() == kMostToggles) break;
    ToggleReport report{.name = TextAt(one, "name"),
                        .value = TextAt(one, "value"),
                        .on = IsSet(one, "on"),
                        .reached = CountAt(one, "reached"),
                        .places = CountAt(one, "places"),
                        .already_on = IsSet(one, "already_on"),
                        .why = TextAt(one, "why"),
                        .overridden = TextAt(one, "overridden"),
                        .unusable = TextAt(one, "unusable"),
                        .proposals = TextsAt(one, "proposals", kMostProposals),
                        .shares = {},
                        .changes = {},
                        .applies_to = TextAt(one, "applies_to")};
    if (const auto it = one.find("shares"); it != one.end() && it->is_array())
      for (const json& share : *it)
        if (report.shares.size() < report.proposals.size())
          report.shares.push_back(PartOf(share).value_or(1));
    if (const auto it = one.find("change"); it != one.end() && it->is_array()) {
      for (const json& line : *it) {
        if (!line.is_object() || report.changes.size() == kMostChanges) break;
        report.changes.push_back({TextAt(line, "text"), TextAt(line, "where")});
      }
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace vramscope::program
