#include "profiler/run/run_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "profiler/base/i18n.h"
#include "profiler/run/catalogue.h"
#include "profiler/run/config_proto.h"
#include "profiler/run/device_file.h"
#include "profiler/run/keys.h"
#include "profiler/run/lengths.h"
#include "profiler/run/messages.h"
#include "profiler/run/run_json.h"
#include "profiler/run/seq.h"
#include "profiler/run/text_formats.h"
#include "profiler/run/units.h"

namespace vramscope::run {
namespace {

// The most tokens in one forward pass. With this limit, every tensor has far less than 2^64 bytes.
constexpr int64_t kMaxTokens = int64_t{1} << 28;

constexpr size_t kMaxModelConfig = size_t{1} << 20;
constexpr int kMaxModelConfigDepth = 64;

struct Model {
  std::string name;
  std::string json;
};

std::optional<ModelPreset> FindPreset(std::string_view name) {
  for (const ModelPreset& preset : ModelPresets()) {
    if (preset.name == name) return preset;
  }
  return std::nullopt;
}

absl::Status UnknownPreset(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ModelPreset& preset : ModelPresets()) names.push_back(preset.name);
  const std::string_view near = Nearest(name, names.data(), names.data() + names.size());
  std::string list;
  for (std::string_view each : names) list += fmt::format("{}{}", list.empty() ? "" : ", ", each);
  if (name.find('/') != std::string_view::npos || name.ends_with(".json"))
    return absl::InvalidArgumentError(
        i18n::Format("model: {} is the name of a file. Give a model's config.json as --model FILE, "
                     "or open it in the window. Presets: {}",
                     Quoted(name), list));
  return absl::InvalidArgumentError(i18n::Format(
      "model: no preset {}{}; choose from: {}", Quoted(name),
      near.empty() ? std::string() : i18n::Format(" (did you mean \"{}\"?)", near), list));
}

// Applies the contents of a run.json or a message. If these contain the text of a model's
// config.json, sets the model's name and text together.
absl::Status SetAll(Settings settings, RunConfigBuilder& builder) {
  const std::string* name = nullptr;
  const std::string* text = nullptr;
  // The order of keys in a file has no meaning: `seq` is applied first, so that `lengths` may be
  // anywhere. Does not use std::ranges, because clang 14, which builds the fuzzers, rejects the
  // subranges of this C++ library.
  std::stable_partition(settings.begin(), settings.end(),
                        [](const auto& each) { return each.first == "seq"; });
  for (const auto& [key, value] : settings) {
    if (key == "model") {
      name = &value;
    } else if (key == "model_config_json") {
      text = &value;
    } else {
      absl::Status status = builder.Set(key, value);
      if (!status.ok()) return status;
    }
  }
  if (text != nullptr && !text->empty()) {
    return builder.SetModelConfig(name == nullptr || name->empty() ? "config.json" : *name, *text);
  }
  // The config of an imported recording has no model.
  return name == nullptr || name->empty() ? absl::OkStatus() : builder.SetPreset(*name);
}

// Returns the settings of `config`. Leaves out the model's text if a preset's name identifies it.
Settings ToSettings(const RunConfig& config, bool with_preset_text) {
  Settings settings;
  settings.emplace_back("model", ValidUtf8(config.model));
  const std::optional<ModelPreset> preset = FindPreset(config.model);
  const bool said_by_name = preset.has_value() && (config.model_config_json.empty() ||
                                                   config.model_config_json == preset->config_json);
  if (!config.model_config_json.empty() && (with_preset_text || !said_by_name)) {
    settings.emplace_back("model_config_json", ValidUtf8(config.model_config_json));
  }
  for (const KeySpec& spec : Specs()) {
    if (!spec.text) continue;
    const std::string text = spec.text(config);
    if (!text.empty()) settings.emplace_back(spec.key, ValidUtf8(text));
  }
  return settings;
}

bool MayBeEmpty(const KeySpec& spec) {
  const SettingDeclaration* setting = FindSetting(spec.key);
  return setting != nullptr ? setting->default_value.empty()
                            : spec.key.starts_with("custom_device.");
}

}  // namespace

const std::string& RunConfig::Get(std::string_view key) const {
  if (const std::string* value = settings.Find(key)) return *value;
  const SettingDeclaration* setting = FindSetting(key);
  static const std::string* const none = new std::string;
  return setting != nullptr ? setting->default_value : *none;
}

int64_t RunConfig::Integer(std::string_view key) const {
  return ParseInteger(Get(key)).value_or(0);
}
double RunConfig::Number(std::string_view key) const { return ParseNumber(Get(key)).value_or(0); }
std::vector<std::string> RunConfig::Names(std::string_view key) const {
  return SplitNames(Get(key));
}

void RunConfig::Set(std::string_view key, std::string_view value) {
  const SettingDeclaration* setting = FindSetting(key);
  if (setting != nullptr && setting->default_value == value) {
    settings.Erase(key);
  } else {
    settings.Set(key, value);
  }
}

void SetDefaultWeightDecay(RunConfig& config) {
  const OptimizerDeclaration* optimizer =
      TheCatalogue().FindOptimizer(config.Get("optimizer.name"));
  if (optimizer == nullptr) return;
  config.Set("optimizer.weight_decay", fmt::format("{}", optimizer->default_weight_decay));
}

struct RunConfigBuilder::Impl {
  RunConfig start;
  std::optional<Model> model;                          // if set by this builder
  std::map<std::string, std::string> preset_defaults;  // override `start`; `settings` override them
  std::map<std::string, std::string> settings;
  bool lengths_by_key = false;  // `lengths` was set directly, not through `seq`

  absl::Status SetSeq(std::string_view value);
};

// Stores the value of `seq`; a stream of lengths is stored in the settings for streams (seq.h).
absl::Status RunConfigBuilder::Impl::SetSeq(std::string_view value) {
  absl::StatusOr<Seq> seq = ParseSeq(value);
  if (!seq.ok()) {
    return absl::InvalidArgumentError(i18n::Format("seq: {} is not allowed; {}", Quoted(value),
                                                   std::string(seq.status().message())));
  }
  settings["seq"] = fmt::format("{}", seq->tokens);
  const bool stream = !seq->lengths.empty() || !seq->file.empty();
  if (stream) settings["samples.file"] = std::move(seq->file);
  if (stream || !lengths_by_key) {
    settings["lengths"] = std::move(seq->lengths);
    lengths_by_key = false;
  }
  return absl::OkStatus();
}

RunConfigBuilder::RunConfigBuilder() : impl_(std::make_unique<Impl>()) {}
RunConfigBuilder::RunConfigBuilder(const RunConfig& start) : RunConfigBuilder() {
  impl_->start = start;
}
RunConfigBuilder::~RunConfigBuilder() = default;
RunConfigBuilder::RunConfigBuilder(RunConfigBuilder&&) noexcept = default;
RunConfigBuilder& RunConfigBuilder::operator=(RunConfigBuilder&&) noexcept = default;

absl::Status RunConfigBuilder::SetPreset(std::string_view name) {
  const std::optional<ModelPreset> preset = FindPreset(name);
  if (!preset) return UnknownPreset(name);
  impl_->model = Model{std::string(preset->name), std::string(preset->config_json)};
  impl_->preset_defaults.clear();
  const nlohmann::json parsed = nlohmann::json::parse(preset->config_json, nullptr, false);
  const auto defaults = parsed.find("vramscope_defaults");
  if (defaults == parsed.end()) return absl::OkStatus();
  absl::StatusOr<Settings> settings = SettingsFromJson(defaults->dump());
  if (!settings.ok()) return settings.status();
  for (auto& [key, value] : *settings) impl_->preset_defaults[key] = std::move(value);
  return absl::OkStatus();
}

absl::Status RunConfigBuilder::SetModelConfig(std::string_view name, std::string_view json) {
  if (json.size() > kMaxModelConfig) {
    return absl::InvalidArgumentError(
        i18n::Format("{}: {} is too large for a config.json", name, FormatBytes(json.size())));
  }
  try {
    // The depth is limited, because later code may read the object recursively.
    bool too_deep = false;
    const auto watch = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
      too_deep = too_deep || depth > kMaxModelConfigDepth;
      return !too_deep;
    };
    const nlohmann::json parsed = nlohmann::json::parse(json, watch);
    if (too_deep) {
      return absl::InvalidArgumentError(
          i18n::Format("{}: nested more than {} deep", name, kMaxModelConfigDepth));
    }
    if (!parsed.is_object()) {
      return absl::InvalidArgumentError(
          i18n::Format("{}: expected a Hugging Face config.json, one JSON object in braces", name));
    }
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(
        i18n::Format("{}: not JSON: {}", name, Printable(WithoutTag(error.what()), 300)));
  }
  impl_->model = Model{ValidUtf8(name), std::string(json)};
  impl_->preset_defaults.clear();
  return absl::OkStatus();
}

absl::Status RunConfigBuilder::SetRunJson(std::string_view json) {
  absl::StatusOr<Settings> settings = SettingsFromJson(json);
  if (!settings.ok()) return settings.status();
  for (auto& [key, value] : *settings) {
    if (key != "device") continue;
    absl::StatusOr<std::string> device = DeviceTextOf(value);
    if (!device.ok()) return device.status();
    value = *std::move(device);
  }
  RunConfigBuilder changed;
  *changed.impl_ = *impl_;
  absl::Status status = SetAll(*settings, changed);
  if (status.ok()) impl_ = std::move(changed.impl_);
  impl_->lengths_by_key = false;  // so that `seq`, if set after a file, replaces the file's stream
  return status;
}

absl::Status RunConfigBuilder::Set(std::string_view key, std::string_view value) {
  if (key == "model") return SetPreset(value);
  const KeySpec* spec = FindSpec(key);
  if (spec == nullptr) return UnknownKey(key);
  if (key == "seq") return impl_->SetSeq(value);
  absl::Status status = Check(*spec, value);
  if (!status.ok()) return status;
  if (key == "lengths") impl_->lengths_by_key = !value.empty();
  impl_->settings[std::string(key)] = std::string(value);
  return absl::OkStatus();
}

absl::StatusOr<RunConfig> RunConfigBuilder::Build() const {
  RunConfig config = impl_->start;
  for (const auto* layer : {&impl_->preset_defaults, &impl_->settings}) {
    for (const auto& [key, value] : *layer) {
      const KeySpec* spec = FindSpec(key);
      if (spec->apply) spec->apply(config, value);
    }
  }
  auto given = [&](const char* key) {
    return impl_->preset_defaults.contains(key) || impl_->settings.contains(key);
  };
  if (given("optimizer.name") && !given("optimizer.weight_decay")) {
    SetDefaultWeightDecay(config);
  }
  if (impl_->model) {
    config.model = impl_->model->name;
    config.model_config_json = impl_->model->json;
  } else if (config.model_config_json.empty()) {
    const std::optional<ModelPreset> preset = FindPreset(config.model);
    if (!preset) return UnknownPreset(config.model);
    config.model_config_json = std::string(preset->config_json);
  }
  // Checks all values against the key table, because values from `start` were not checked before.
  for (const KeySpec& spec : Specs()) {
    if (!spec.text) continue;
    const std::string text = spec.text(config);
    if (text.empty() && MayBeEmpty(spec)) continue;
    absl::Status status = Check(spec, text);
    if (!status.ok()) return status;
  }
  for (const auto& [key, value] : config.settings) {
    if (FindSpec(key) == nullptr) return UnknownKey(key);
  }
  if (const auto ranges = ParseLengths(config.Get("lengths")); ranges.ok() && !ranges->empty()) {
    config.seq = std::ranges::max_element(*ranges, {}, &LengthRange::high)->high;
  }
  const int64_t tokens = int64_t{config.batch} * config.seq;
  if (tokens > kMaxTokens) {
    return absl::InvalidArgumentError(
        i18n::Format("batch: {} samples with seq {} have {} tokens in a forward pass; at most {} "
                     "tokens are allowed",
                     config.batch, config.seq, tokens, kMaxTokens));
  }
  return config;
}

std::string ToJson(const RunConfig& config) { return JsonFromSettings(ToSettings(config, false)); }

std::string ToProtoBytes(const RunConfig& config) {
  return BytesFromSettings(ToSettings(config, true));
}

absl::StatusOr<RunConfig> FromProtoBytes(std::string_view bytes) {
  const absl::StatusOr<Settings> settings = SettingsFromBytes(bytes);
  if (!settings.ok()) return settings.status();
  RunConfigBuilder builder;
  const absl::Status status = SetAll(*settings, builder);
  if (!status.ok()) return status;
  return builder.Build();
}

}  // namespace vramscope::run
