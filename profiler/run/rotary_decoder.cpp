#include "profiler/run/rotary_decoder.h"

#include <absl/status/status.h>
#include <fmt/format.h>

#include <algorithm>

#include "profiler/base/i18n.h"
#include "profiler/run/model_keys.h"

namespace vramscope::run {
namespace {

using nlohmann::json;

absl::Status Invalid(std::string text) { return InvalidModelConfig(std::move(text)); }

absl::Status ParseRopeScaling(const json& object, ModelConfig& config) {
  auto it = object.find("rope_scaling");
  if (it == object.end() || it->is_null()) return absl::OkStatus();
  if (!it->is_object()) return Invalid(i18n::Text("rope_scaling is not an object"));
  ConfigReader reader(*it, "rope_scaling.");
  const std::string type = reader.String("rope_type", reader.String("type", "default"));
  if (type == "default") return reader.status();
  if (type == "linear") {
    config.rope_scaling = RopeScaling::kLinear;
    config.rope_factor = reader.Number("factor", 1, 1e6, 1);
    return reader.status();
  }
  if (type == "llama3") {
    config.rope_scaling = RopeScaling::kLlama3;
    config.rope_factor = reader.Number("factor", 1, 1e6, 8);
    config.rope_low_freq_factor = reader.Number("low_freq_factor", 1e-3, 1e6, 1);
    config.rope_high_freq_factor = reader.Number("high_freq_factor", 1e-3, 1e6, 4);
    config.rope_original_positions =
        reader.Number("original_max_position_embeddings", 1, 1e9, 8192);
    if (config.rope_high_freq_factor <= config.rope_low_freq_factor) {
      reader.Fail(
          i18n::Text("rope_scaling.high_freq_factor must be above rope_scaling.low_freq_factor"));
    }
    return reader.status();
  }
  return Invalid(i18n::Format(
      "rope_scaling.rope_type \"{}\" is not supported; supported: default, linear, llama3", type));
}

}  // namespace

absl::StatusOr<Activation> ActivationOf(const std::string& name, const char* key) {
  if (name == "silu" || name == "swish") return Activation::kSilu;
  if (name == "gelu") return Activation::kGelu;
  if (name == "gelu_new") return Activation::kGeluNew;
  if (name == "gelu_pytorch_tanh") return Activation::kGeluTanh;
  return Invalid(i18n::Format(
      "{} \"{}\" is not supported; supported: silu, gelu, gelu_new, gelu_pytorch_tanh", key, name));
}

int64_t RotaryWidth(ConfigReader& reader, int64_t head_dim, double fallback) {
  const double share = reader.Number("partial_rotary_factor", 0, 1, fallback);
  const auto width = static_cast<int64_t>(static_cast<double>(head_dim) * share);
  if (width < 2 || width % 2 != 0) {
    reader.Fail(
        i18n::Format("partial_rotary_factor {} and head size {} give {} rotary dimensions; rotary "
                     "positions need an even number",
                     share, head_dim, width));
  }
  return width;
}

absl::Status ReadRotaryDecoder(const json& object, const RotaryDecoderKeys& keys,
                               ModelConfig& config) {
  ConfigReader reader(object);
  config.vocab_size = reader.Integer({"vocab_size"}, 2, kMaxVocabulary);
  config.hidden_size = reader.Integer({"hidden_size"}, 2, kMaxHidden);
  config.intermediate_size = reader.Integer({"intermediate_size"}, 1, kMaxIntermediate);
  config.layers = reader.Integer({"num_hidden_layers"}, 1, kMaxLayers);
  config.heads = reader.Integer({"num_attention_heads"}, 1, kMaxHeads);
  config.kv_heads =
      reader.Integer({"num_key_value_heads"}, 1, kMaxHeads,
                     keys.needs_kv_heads ? std::nullopt : std::optional(config.heads));
  if (!reader.status().ok()) return reader.status();
  const bool divides = config.hidden_size % config.heads == 0;
  const int64_t share = std::max<int64_t>(config.hidden_size / config.heads, 2);
  const int64_t stated = reader.Integer({"head_dim"}, 2, kMaxHidden, config.head_dim);
  config.head_dim = stated > 0 ? stated : share;
  if (!divides && stated == 0) {
    reader.Fail(i18n::Format("hidden_size {} is not a multiple of num_attention_heads {}",
                             config.hidden_size, config.heads));
  }
  if (config.heads % config.kv_heads != 0) {
    reader.Fail(i18n::Format("num_attention_heads {} is not a multiple of num_key_value_heads {}",
                             config.heads, config.kv_heads));
  }
  if (config.head_dim % 2 != 0) {
    reader.Fail(i18n::Format("head size {} is odd; rotary positions need an even head size",
                             config.head_dim));
  }
  config.max_positions =
      reader.Integer({"max_position_embeddings"}, 1, kMaxPositions, config.max_positions);
  config.norm_eps = reader.Number(keys.norm_eps, 0, 1, config.norm_eps);
  config.initializer_range = reader.Number("initializer_range", 0, 10, config.initializer_range);
  config.rope_theta = reader.Number("rope_theta", 1, 1e12, config.rope_theta);
  config.tie_embeddings = reader.Bool("tie_word_embeddings", config.tie_embeddings);
  config.attention_dropout = reader.Number("attention_dropout", 0, 0.999, config.attention_dropout);
  const std::string activation = reader.String(keys.activation, "");
  if (!reader.status().ok()) return reader.status();
  if (!activation.empty()) {
    const absl::StatusOr<Activation> known = ActivationOf(activation, keys.activation);
    if (!known.ok()) return known.status();
    config.activation = *known;
  }
  if (absl::Status status = ParseRopeScaling(object, config); !status.ok()) return status;
  return RefuseOtherModels(object, keys.own);
}

}  // namespace vramscope::run
