#include "profiler/run/config_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "profiler/base/i18n.h"
#include "profiler/run/messages.h"

namespace vramscope::run {
namespace {

using nlohmann::json;

std::string Short(const json& value) {
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 40) + "...";
  return text;
}

}  // namespace

absl::Status InvalidModelConfig(std::string text) {
  return absl::InvalidArgumentError(i18n::Format("config.json: {}", text));
}

absl::StatusOr<json> ParseConfigObject(std::string_view text) {
  if (text.size() > kMaxConfigBytes) {
    return InvalidModelConfig(
        i18n::Format("{} bytes are too many (at most {})", text.size(), kMaxConfigBytes));
  }
  json object;
  try {
    object = json::parse(text.begin(), text.end());
  } catch (const json::exception& error) {
    return InvalidModelConfig(
        i18n::Format("not JSON: {}", Printable(WithoutTag(error.what()), 300)));
  }
  if (!object.is_object()) return InvalidModelConfig(i18n::Text("not a JSON object"));
  return object;
}

absl::StatusOr<ConfigNames> NamesOf(const json& object) {
  ConfigNames names;
  if (auto it = object.find("model_type"); it != object.end() && it->is_string()) {
    names.model_type = it->get<std::string>();
  }
  if (auto it = object.find("architectures");
      it != object.end() && it->is_array() && !it->empty() && it->front().is_string()) {
    names.architecture = it->front().get<std::string>();
  }
  if (names.architecture.empty() && names.model_type.empty()) {
    return InvalidModelConfig(i18n::Text("the key architectures (or model_type) is missing"));
  }
  return names;
}

absl::Status UnsupportedModel(const ConfigNames& names, const std::vector<std::string>& supported) {
  return InvalidModelConfig(
      i18n::Format("architecture {} is not supported; supported: {}",
                   Quoted(names.architecture.empty() ? names.model_type : names.architecture),
                   fmt::join(supported, ", ")));
}

int64_t ConfigReader::Integer(std::initializer_list<const char*> keys, int64_t low, int64_t high,
                              std::optional<int64_t> fallback) {
  const json* value = Find(keys, fallback.has_value());
  if (value == nullptr) return fallback.value_or(low);
  // Fractions and numbers out of range are rejected before they are converted.
  if (value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(high)) {
    Fail(i18n::Format("{} = {} is above {}", Key(keys), value->dump(), high));
    return low;
  }
  if (!value->is_number_integer()) {
    Fail(i18n::Format("{} = {} is not an integer", Key(keys), Short(*value)));
    return low;
  }
  const auto number = value->get<int64_t>();
  if (number < low || number > high) {
    Fail(i18n::Format("{} = {} is not between {} and {}", Key(keys), number, low, high));
    return low;
  }
  return number;
}

double ConfigReader::Number(const char* key, double low, double high, double fallback) {
  const json* value = Find({key}, true);
  if (value == nullptr) return fallback;
  if (!value->is_number()) {
    Fail(i18n::Format("{}{} = {} is not a number", prefix_, key, Short(*value)));
    return fallback;
  }
  const auto number = value->get<double>();
  if (!(number >= low && number <= high)) {
    Fail(i18n::Format("{}{} = {} is not between {} and {}", prefix_, key, number, low, high));
    return fallback;
  }
  return number;
}

bool ConfigReader::Bool(const char* key, bool fallback) {
  const json* value = Find({key}, true);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) {
    Fail(i18n::Format("{}{} = {} is not true or false", prefix_, key, Short(*value)));
    return fallback;
  }
  return value->get<bool>();
}

std::string ConfigReader::String(const char* key, std::string fallback) {
  const json* value = Find({key}, true);
  if (value == nullptr) return fallback;
  if (!value->is_string()) {
    Fail(i18n::Format("{}{} = {} is not a string", prefix_, key, Short(*value)));
    return fallback;
  }
  return value->get<std::string>();
}

void ConfigReader::Only(const char* key, std::string_view supported) {
  const std::string value = String(key, std::string(supported));
  if (status_.ok() && value != supported) {
    Fail(i18n::Format("{}{} {} is not supported; supported: {}", prefix_, key, Quoted(value),
                      supported));
  }
}

int64_t ConfigReader::Classes() {
  const auto names = object_.find("id2label");
  const bool listed = names != object_.end() && names->is_object() && !names->empty();
  constexpr int64_t kMost = 10'000'000;
  const int64_t count = listed ? static_cast<int64_t>(names->size()) : 2;
  if (listed && count < 2)
    Fail(
        i18n::Text("a single entry in id2label means regression, and regression is not supported"));
  return Integer({"num_labels"}, 2, kMost, count);
}

std::string ConfigReader::Key(std::initializer_list<const char*> keys) const {
  for (const char* key : keys) {
    if (object_.contains(key)) return prefix_ + key;
  }
  return prefix_ + *keys.begin();
}

const json* ConfigReader::Find(std::initializer_list<const char*> keys, bool optional) {
  for (const char* key : keys) {
    auto it = object_.find(key);
    if (it != object_.end() && !it->is_null()) return &*it;
  }
  if (!optional) Fail(i18n::Format("missing key {}{}", prefix_, *keys.begin()));
  return nullptr;
}

}  // namespace vramscope::run
