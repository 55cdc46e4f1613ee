#include "profiler/run/run_config.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "profiler/run/config_proto.h"
#include "profiler/run/keys.h"
#include "profiler/run/units.h"

namespace vramscope::run {
namespace {

// Tokens of one forward pass: keeps every tensor's byte count far from the edge of 64 bits.
constexpr int64_t kMaxTokens = int64_t{1} << 28;

constexpr size_t kMaxModelConfig = size_t{1} << 20;

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
  return absl::InvalidArgumentError(fmt::format(
      "model: no preset \"{}\"{}; choose from: {}", name.substr(0, 200),
      near.empty() ? std::string() : fmt::format(" (did you mean \"{}\"?)", near), list));
}

// "[json.exception.parse_error.101] parse error at line 1 ..." without the bracket.
std::string_view WithoutTag(std::string_view what) {
  const size_t end = what.find("] ");
  return end == std::string_view::npos ? what : what.substr(end + 2);
}

// A file name may be any bytes; a protobuf string may not.
std::string ValidUtf8(std::string_view text) {
  using nlohmann::json;
  const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(quoted).get<std::string>();
}

// Settings for `config`; the model's text is left out where the preset's name says it all.
Settings ToSettings(const RunConfig& config, bool with_preset_text) {
  Settings settings;
  settings.emplace_back("model", config.model);
  const std::optional<ModelPreset> preset = FindPreset(config.model);
  const bool said_by_name = preset.has_value() && (config.model_config_json.empty() ||
                                                   config.model_config_json == preset->config_json);
  if (!config.model_config_json.empty() && (with_preset_text || !said_by_name)) {
    settings.emplace_back("model_config_json", config.model_config_json);
  }
  for (const KeySpec& spec : Specs()) {
    if (!spec.text) continue;
    std::string text = spec.text(config);
    if (!text.empty()) settings.emplace_back(spec.key, std::move(text));
  }
  return settings;
}

}  // namespace

struct RunConfigBuilder::Impl {
  RunConfig start;
  std::optional<Model> model;                          // once set here
  std::map<std::string, std::string> preset_defaults;  // below what is set, above `start`
  std::map<std::string, std::string> settings;
};

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
        fmt::format("{}: {} is more than a config.json can be", name, FormatBytes(json.size())));
  }
  try {
    const nlohmann::json parsed = nlohmann::json::parse(json);
    if (!parsed.is_object()) {
      return absl::InvalidArgumentError(
          fmt::format("{}: expected a Hugging Face config.json, one JSON object in braces", name));
    }
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(
        fmt::format("{}: not JSON: {}", name, WithoutTag(error.what())));
  }
  impl_->model = Model{ValidUtf8(name), std::string(json)};
  impl_->preset_defaults.clear();
  return absl::OkStatus();
}

absl::Status RunConfigBuilder::SetRunJson(std::string_view json) {
  absl::StatusOr<Settings> settings = SettingsFromJson(json);
  if (!settings.ok()) return settings.status();
  std::string name, config_json;
  for (auto& [key, value] : *settings) {
    if (key == "model") {
      name = value;
    } else if (key == "model_config_json") {
      config_json = value;
    } else {
      absl::Status status = Set(key, value);
      if (!status.ok()) return status;
    }
  }
  if (!config_json.empty()) return SetModelConfig(name.empty() ? "config.json" : name, config_json);
  return name.empty() ? absl::OkStatus() : SetPreset(name);
}

absl::Status RunConfigBuilder::Set(std::string_view key, std::string_view value) {
  if (key == "model") return SetPreset(value);
  const KeySpec* spec = FindSpec(key);
  if (spec == nullptr) return UnknownKey(key);
  absl::Status status = Check(*spec, value);
  if (!status.ok()) return status;
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
    config.optimizer.weight_decay = DefaultWeightDecay(config.optimizer.name);
  }
  if (impl_->model) {
    config.model = impl_->model->name;
    config.model_config_json = impl_->model->json;
  } else if (config.model_config_json.empty()) {
    const std::optional<ModelPreset> preset = FindPreset(config.model);
    if (!preset) return UnknownPreset(config.model);
    config.model_config_json = std::string(preset->config_json);
  }
  // `start` may hold anything: check what the table says about the result.
  for (const KeySpec& spec : Specs()) {
    if (!spec.text) continue;
    const std::string text = spec.text(config);
    if (text.empty() && spec.key.substr(0, 14) == "custom_device.") continue;
    absl::Status status = Check(spec, text);
    if (!status.ok()) return status;
  }
  const int64_t tokens = int64_t{config.batch} * config.seq;
  if (tokens > kMaxTokens) {
    return absl::InvalidArgumentError(
        fmt::format("batch: {} x seq {} are {} tokens in a forward pass; at most {} are allowed",
                    config.batch, config.seq, tokens, kMaxTokens));
  }
  return config;
}

std::string ToJson(const RunConfig& config) { return JsonFromSettings(ToSettings(config, false)); }

std::string ToProtoBytes(const RunConfig& config) {
  return BytesFromSettings(ToSettings(config, true));
}

absl::StatusOr<RunConfig> FromProtoBytes(std::string_view bytes) {
  absl::StatusOr<Settings> settings = SettingsFromBytes(bytes);
  if (!settings.ok()) return settings.status();
  RunConfigBuilder builder;
  std::string name, config_json;
  for (auto& [key, value] : *settings) {
    if (key == "model") {
      name = value;
    } else if (key == "model_config_json") {
      config_json = value;
    } else {
      absl::Status status = builder.Set(key, value);
      if (!status.ok()) return status;
    }
  }
  absl::Status status = absl::OkStatus();
  if (!config_json.empty()) {
    status = builder.SetModelConfig(name.empty() ? "config.json" : name, config_json);
  } else if (!name.empty()) {
    status = builder.SetPreset(name);
  }
  if (!status.ok()) return status;
  return builder.Build();
}

}  // namespace vramscope::run
