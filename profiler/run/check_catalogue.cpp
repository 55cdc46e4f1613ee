#include "profiler/run/check_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "profiler/run/facts.h"
#include "profiler/run/keys.h"
#include "profiler/run/text_formats.h"
#include "profiler/run/units.h"

namespace vramscope::run {
namespace {

// A key is one word, or two words with a dot between them, because a run.json has one level of
// groups. A word consists of lower-case letters, digits and underscores.
bool IsKey(std::string_view key) {
  const auto is_word = [](std::string_view word) {
    return !word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
                                std::string_view::npos;
  };
  const size_t dot = key.find('.');
  if (dot == std::string_view::npos) return is_word(key);
  return is_word(key.substr(0, dot)) && is_word(key.substr(dot + 1));
}

// Returns what is wrong with a value of the setting, or "" if the value is allowed.
std::string WrongValue(const SettingDeclaration& setting, std::string_view value) {
  const auto within = [&](absl::StatusOr<double> number) {
    return number.ok() && *number >= setting.low && *number <= setting.high;
  };
  bool good = true;
  switch (setting.kind) {
    case ValueKind::kChoice:
      good =
          std::ranges::any_of(setting.choices, [&](const Choice& c) { return c.value == value; });
      break;
    case ValueKind::kInteger: {
      const absl::StatusOr<int64_t> number = ParseInteger(value);
      good = number.ok() && within(static_cast<double>(*number));
      break;
    }
    case ValueKind::kNumber:
      good = within(ParseNumber(value));
      break;
    case ValueKind::kBytes:
      good = ParseBytes(value).ok();
      break;
    case ValueKind::kText: {
      const TextFormat* format = FindTextFormat(setting.format);
      good = format == nullptr || format->normalized(value).ok();
      break;
    }
  }
  return good ? "" : fmt::format("{}: \"{}\" is not allowed", setting.key, value);
}

class Checker {
 public:
  explicit Checker(const Catalogue& catalogue) : catalogue_(catalogue) {
    // Adds only the keys that every run has. Keys of techniques are added from the catalogue.
    for (const KeySpec& spec : Specs()) {
      if (spec.apply && FindSetting(spec.key) == nullptr) keys_.emplace(spec.key, nullptr);
    }
    keys_.emplace("model", nullptr);
  }

  absl::Status Check() {
    std::set<std::string> ids, toggles;
    for (const TechniqueDeclaration& technique : catalogue_.techniques) {
      at_ = technique.id;
      if (!ids.insert(technique.id).second) return Bad("declared twice");
      if (technique.explanation.empty()) return Bad("no explanation");
      for (const SettingDeclaration& setting : technique.settings) CheckSetting(setting);
    }
    at_ = "catalogue";
    CheckGroups();
    for (const TechniqueDeclaration& technique : catalogue_.techniques) {
      at_ = technique.id;
      for (const Rule& rule : technique.rules) {
        if (rule.why.empty()) Wrong("a rule does not say why");
        CheckConditions(rule.when);
        CheckValues(rule.instead);
      }
      for (const Assumed& assumed : technique.assumes) CheckConditions(assumed.when);
      for (const Toggle& toggle : technique.toggles) {
        if (!toggles.insert(toggle.id).second) Wrong(toggle.id + ": a row declared twice");
        CheckToggle(toggle);
      }
    }
    at_ = "catalogue";
    for (const FitMove& move : catalogue_.moves) {
      if (!toggles.contains(move.row) && catalogue_.FindOptimizer(move.row) == nullptr)
        Wrong(move.row + ": fit's move is neither a row nor an optimizer");
      if (!move.doubles.empty()) CheckKnown(move.doubles);
    }
    for (const ModelledBlocks& blocks : catalogue_.modelled) {
      const TechniqueDeclaration* technique = catalogue_.FindTechnique(blocks.technique);
      if (technique == nullptr || blocks.assumed >= technique->assumes.size())
        Wrong(blocks.technique + ": modelled blocks without an assumption that says so");
    }
    return status_;
  }

 private:
  absl::Status Bad(const std::string& what) const {
    return absl::InvalidArgumentError(fmt::format("{}: {}", at_, what));
  }
  void Wrong(const std::string& what) {
    if (status_.ok() && !what.empty()) status_ = Bad(what);
  }

  void CheckSetting(const SettingDeclaration& setting) {
    if (!IsKey(setting.key)) {
      Wrong(fmt::format("{}: a key is a word of a-z, 0-9 and _, or two with a dot", setting.key));
    }
    if (!keys_.emplace(setting.key, &setting).second) Wrong(setting.key + ": a key declared twice");
    if (setting.help.empty()) Wrong(setting.key + ": no help");
    if (setting.kind == ValueKind::kText && !setting.format.empty() &&
        FindTextFormat(setting.format) == nullptr) {
      Wrong(fmt::format("{}: no format of text is called \"{}\"", setting.key, setting.format));
    }
    Wrong(WrongValue(setting, setting.default_value));
  }

  // A key must not have the name of a group of keys: a run.json could contain only one of the two.
  void CheckGroups() {
    for (const auto& [key, setting] : keys_) {
      const size_t dot = key.find('.');
      if (dot == std::string::npos || !keys_.contains(key.substr(0, dot))) continue;
      Wrong(fmt::format(
          "{}: \"{}\" is itself a key and can't be a group of keys, too: rename one of them", key,
          key.substr(0, dot)));
    }
  }

  void CheckKnown(const std::string& key) {
    if (!keys_.contains(key) && !IsFact(key)) Wrong(key + ": no such key");
  }
  void CheckValue(const std::string& key, const std::string& value) {
    const auto found = keys_.find(key);
    if (found != keys_.end() && found->second != nullptr) Wrong(WrongValue(*found->second, value));
  }
  void CheckValues(const SettingValues& values) {
    for (const auto& [key, value] : values) {
      CheckKnown(key);
      CheckValue(key, value);
    }
  }
  void CheckConditions(const std::vector<Condition>& conditions) {
    for (const Condition& condition : conditions) {
      CheckKnown(condition.key);
      for (const std::string& value : condition.values) CheckValue(condition.key, value);
    }
  }
  void CheckToggle(const Toggle& toggle) {
    if (toggle.on.empty() || toggle.ways.empty()) Wrong(toggle.id + ": a row that can't be on");
    CheckConditions(toggle.on);
    for (const SettingValues& way : toggle.ways) CheckValues(way);
    CheckValues(toggle.off);
    for (const std::string& key : toggle.controls) {
      const auto found = keys_.find(key);
      if (found == keys_.end()) Wrong(key + ": no such key");
    }
  }

  const Catalogue& catalogue_;
  std::map<std::string, const SettingDeclaration*> keys_;  // null: a key that every run has
  std::string at_;                                         // the technique being checked
  absl::Status status_;
};

}  // namespace

absl::Status CheckCatalogue(const Catalogue& catalogue) { return Checker(catalogue).Check(); }

}  // namespace vramscope::run
