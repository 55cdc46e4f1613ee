#include "profiler/run/run_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "profiler/base/i18n.h"
#include "profiler/run/device_text.h"
#include "profiler/run/keys.h"
#include "profiler/run/messages.h"
#include "profiler/run/units.h"

namespace vramscope::run {
namespace {

using nlohmann::json;

// The size limit. A run.json has a few kilobytes, even if it contains a model's config.json.
constexpr size_t kMaxJson = size_t{4} << 20;
constexpr int kNumberOverflow = 406;  // nlohmann's error number of "number overflow"

bool IsText(std::string_view path) {
  const KeySpec* spec = FindSpec(path);
  return spec == nullptr || spec->kind == ValueKind::kText;
}

bool IsLeaf(std::string_view path) {
  return path == "model" || path == "model_config_json" || FindSpec(path) != nullptr;
}

// Returns the keys of a group; empty if there is no such group.
std::vector<std::string_view> KeysOfGroup(std::string_view group) {
  std::vector<std::string_view> names;
  for (const KeySpec& spec : Specs()) {
    if (spec.key.size() > group.size() && spec.key.substr(0, group.size()) == group &&
        spec.key[group.size()] == '.') {
      names.push_back(spec.key.substr(group.size() + 1));
    }
  }
  return names;
}

// Converts "microBatches" to "micro_batches".
std::string SnakeCase(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper) out += '_';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

bool Known(std::string_view path) { return IsLeaf(path) || !KeysOfGroup(path).empty(); }

std::string WhatIsExpected(std::string_view path) {
  if (path == "model") return i18n::Text("expected the name of a preset in quotes");
  if (path == "model_config_json") {
    return i18n::Text(
        "expected the text of a config.json as one string. To read a file, use --model");
  }
  return Expected(*FindSpec(path));
}

// Builds the settings while the text is parsed. Stops at the first error, so little is stored even
// for a deep or long text.
class SettingsReader : public nlohmann::json_sax<json> {
 public:
  absl::Status& status() { return status_; }
  Settings& settings() { return settings_; }

  bool null() override {
    if (in_device_) return Wrong("null");
    if (in_list_ || prefixes_.empty()) return Wrong("null");
    return IsLeaf(path_) ? Once() : true;
  }
  bool boolean(bool value) override { return Plain(value ? "true" : "false"); }
  bool number_integer(int64_t value) override { return Plain(fmt::format("{}", value)); }
  bool number_unsigned(uint64_t value) override { return Plain(fmt::format("{}", value)); }
  bool number_float(double value, const std::string& text) override {
    if (in_device_) return Figure(text);
    // A whole number may also be written as 4.0 or 1e3.
    const KeySpec* spec = FindSpec(path_);
    const bool whole = std::trunc(value) == value && std::abs(value) < 9e15;
    if (spec != nullptr && spec->kind == ValueKind::kInteger && whole) {
      return Plain(fmt::format("{}", static_cast<int64_t>(value)));
    }
    return Plain(text);
  }
  bool string(std::string& value) override {
    if (in_device_) return Figure(value);
    if (in_list_) {
      if (value.empty()) return Wrong(i18n::Text("\"\" in the list"));
      list_ += (list_.empty() ? "" : ",") + value;
      return true;
    }
    return IsLeaf(path_) ? Take(value) : Wrong(Quoted(value), value);
  }
  bool binary(json::binary_t&) override { return false; }  // does not occur in JSON

  bool start_object(size_t) override {
    if (path_ == "device" && !in_device_) return in_device_ = true;
    if (in_list_ || in_device_ || IsLeaf(path_)) return Wrong("{...}");
    prefixes_.push_back(path_.empty() ? "" : path_ + ".");
    return true;
  }
  bool key(std::string& name) override {
    if (in_device_) {
      figures_.emplace_back(name, "");
      return true;
    }
    const std::string written = prefixes_.back() + name;
    path_ = written;
    if (Known(path_)) return true;
    path_ = SnakeCase(written);
    if (Known(path_)) return true;
    status_ = UnknownKey(written);
    return false;
  }
  bool end_object() override {
    if (in_device_) {
      in_device_ = false;
      const absl::StatusOr<Device> device = DeviceFromFigures(std::exchange(figures_, {}));
      if (!device.ok()) status_ = device.status();
      return device.ok() && Take(device->key);
    }
    prefixes_.pop_back();
    return true;
  }
  bool start_array(size_t) override {
    const KeySpec* spec = FindSpec(path_);
    if (in_list_ || in_device_ || spec == nullptr || !spec->is_list) return Wrong("[...]");
    in_list_ = true;
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    return Take(std::move(list_));
  }

  bool parse_error(size_t, const std::string& token, const json::exception& error) override {
    if (error.id == kNumberOverflow && !path_.empty()) return Wrong(Printable(token, 60));
    status_ = absl::InvalidArgumentError(
        i18n::Format("not JSON: {}", Printable(WithoutTag(error.what()), 300)));
    return false;
  }

 private:
  // Takes a number, true or false.
  bool Plain(std::string text) {
    if (in_device_) return Figure(std::move(text));
    if (in_list_ && FindSpec(path_)->numbers_in_list && text != "true" && text != "false") {
      list_ += (list_.empty() ? "" : ",") + text;
      return true;
    }
    return in_list_ || !IsLeaf(path_) || IsText(path_) ? Wrong(text, text) : Take(std::move(text));
  }

  // Takes one figure of a device, if the device is written as an object, as in a device file.
  bool Figure(std::string text) {
    figures_.back().second = std::move(text);
    return true;
  }

  bool Take(std::string text) {
    settings_.emplace_back(path_, std::move(text));
    return Once();
  }

  bool Once() {
    if (seen_.insert(path_).second) return true;
    status_ = absl::InvalidArgumentError(i18n::Format("{}: set twice; keep one of them", path_));
    return false;
  }

  // `text`: the value, if it may have been meant for a key of the group path_; else "".
  bool Wrong(const std::string& value, std::string_view text = {}) {
    if (prefixes_.empty()) {
      status_ = absl::InvalidArgumentError(i18n::Text(
          "expected one JSON object in braces, such as {\"model\": \"gpt2\", \"batch\": 4}"));
    } else if (IsLeaf(path_)) {
      status_ = absl::InvalidArgumentError(
          i18n::Format("{}: {} is not allowed; {}", path_, value, WhatIsExpected(path_)));
    } else {
      const std::vector<std::string_view> names = KeysOfGroup(path_);
      const auto fits = [&](std::string_view name) {
        return !text.empty() && Check(*FindSpec(fmt::format("{}.{}", path_, name)), text).ok();
      };
      const auto meant = std::find_if(names.begin(), names.end(), fits);
      const bool found = meant != names.end();
      status_ = absl::InvalidArgumentError(
          i18n::Format("{0} is a group of keys and cannot be {1}. Write \"{0}.{2}\": {3} or "
                       "\"{0}\": {{\"{2}\": {3}}}. Its keys: {4}",
                       path_, value, found ? *meant : names.front(), found ? value : "...",
                       fmt::join(names, ", ")));
    }
    return false;
  }

  absl::Status status_;
  Settings settings_;
  std::vector<std::string> prefixes_;  // key prefixes of the open objects
  std::string path_;                   // key of the next value
  std::set<std::string> seen_;
  bool in_list_ = false;
  std::string list_;
  bool in_device_ = false;
  Figures figures_;
};

// Returns a setting as a JSON value: a number, true, false or a string.
nlohmann::ordered_json Value(const std::string& key, const std::string& text) {
  const KeySpec* spec = FindSpec(key);
  if (spec == nullptr) return text;
  if (spec->kind == ValueKind::kInteger) return ParseInteger(text).value_or(0);
  if (spec->kind == ValueKind::kNumber && !key.starts_with("custom_device.")) {
    return ParseNumber(text).value_or(0);
  }
  const bool truth = spec->kind == ValueKind::kChoice && (text == "true" || text == "false");
  if (truth) return text == "true";
  return text;
}

}  // namespace

bool IsRunKey(std::string_view key) { return Known(key) || Known(SnakeCase(key)); }

std::string JsonFromSettings(const Settings& settings) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const auto& [key, text] : settings) {
    const size_t dot = key.find('.');
    if (dot == std::string::npos) {
      out[key] = Value(key, text);
    } else {
      out[key.substr(0, dot)][key.substr(dot + 1)] = Value(key, text);
    }
  }
  return out.dump(1) + "\n";
}

absl::StatusOr<Settings> SettingsFromJson(std::string_view text) {
  if (text.size() > kMaxJson) {
    return absl::InvalidArgumentError(
        i18n::Format("{} is too large for a run.json", FormatBytes(text.size())));
  }
  SettingsReader reader;
  const bool read = json::sax_parse(text, &reader);
  if (!reader.status().ok()) return reader.status();
  if (!read) return absl::InvalidArgumentError(i18n::Text("not JSON"));
  return std::move(reader.settings());
}

}  // namespace vramscope::run
