#include "profiler/run/model_config.h"

#include <absl/status/status.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "profiler/base/i18n.h"
#include "profiler/run/config_reader.h"
#include "profiler/run/messages.h"
#include "profiler/run/model_keys.h"
#include "profiler/run/rotary_decoder.h"

namespace vramscope::run {
namespace {

using nlohmann::json;

absl::Status Invalid(std::string text) { return InvalidModelConfig(std::move(text)); }

absl::StatusOr<ModelConfig> ParseLlama(const json& object, ModelConfig config) {
  const std::string& type = config.type;
  config.max_positions = 32768;
  // Without num_key_value_heads, Llama has as many key-value heads as query heads. In other
  // families, the default depends on the version of transformers, so the key is required.
  if (absl::Status status = ReadRotaryDecoder(object, {.needs_kv_heads = type != "llama"}, config);
      !status.ok()) {
    return status;
  }
  ConfigReader reader(object);
  if (type == "qwen2") {
    config.qkv_bias = true;
  } else {
    config.qkv_bias = config.output_bias = reader.Bool("attention_bias", false);
    config.mlp_bias = reader.Bool("mlp_bias", false);
  }
  // Qwen2's use_sliding_window affects only flash_attention_2. The mask has the window in any case.
  // The window is 4096 by default, for Qwen2 and for Mistral; null in the file means none.
  constexpr int64_t kDefaultWindow = 4096;
  const bool switched_on = reader.Bool("use_sliding_window", false);
  const bool has_window = type == "qwen2" || type == "mistral";
  if (has_window || switched_on) {
    config.sliding_window = reader.Integer({"sliding_window"}, 1, kMaxPositions,
                                           has_window && !switched_on ? kDefaultWindow : 0);
    const auto stated = object.find("sliding_window");
    if (stated != object.end() && stated->is_null()) config.sliding_window = 0;
    if (config.sliding_window == 0 && switched_on) {
      reader.Fail(i18n::Text("use_sliding_window is true, but sliding_window gives no width"));
    }
  }
  if (!reader.status().ok()) return reader.status();
  return config;
}

absl::StatusOr<ModelConfig> ParseGpt2(const json& object, ModelConfig config) {
  ConfigReader reader(object);
  config.vocab_size = reader.Integer({"vocab_size"}, 2, kMaxVocabulary);
  config.hidden_size = reader.Integer({"n_embd", "hidden_size"}, 2, kMaxHidden);
  config.layers = reader.Integer({"n_layer", "num_hidden_layers"}, 1, kMaxLayers);
  config.heads = reader.Integer({"n_head", "num_attention_heads"}, 1, kMaxHeads);
  config.max_positions =
      reader.Integer({"n_positions", "max_position_embeddings", "n_ctx"}, 1, int64_t{1} << 20);
  if (!reader.status().ok()) return reader.status();
  config.kv_heads = config.heads;
  config.head_dim = config.hidden_size / config.heads;
  if (config.hidden_size % config.heads != 0) {
    reader.Fail(
        i18n::Format("n_embd {} is not a multiple of n_head {}", config.hidden_size, config.heads));
  }
  config.intermediate_size =
      reader.Integer({"n_inner"}, 1, kMaxIntermediate, 4 * config.hidden_size);
  config.norm_eps = reader.Number("layer_norm_epsilon", 0, 1, 1e-5);
  config.initializer_range = reader.Number("initializer_range", 0, 10, 0.02);
  config.tie_embeddings = reader.Bool("tie_word_embeddings", true);
  config.qkv_bias = config.output_bias = config.mlp_bias = true;
  config.attention_dropout = reader.Number("attn_pdrop", 0, 0.999, 0.1);
  config.embedding_dropout = reader.Number("embd_pdrop", 0, 0.999, 0.1);
  config.residual_dropout = reader.Number("resid_pdrop", 0, 0.999, 0.1);
  config.scale_attention = reader.Bool("scale_attn_weights", true);
  config.scale_by_layer = reader.Bool("scale_attn_by_inverse_layer_idx", false);
  if (reader.Bool("reorder_and_upcast_attn", false)) {
    reader.Fail(i18n::Text("reorder_and_upcast_attn = true is not supported"));
  }
  if (reader.Bool("add_cross_attention", false)) {
    reader.Fail(i18n::Text("add_cross_attention = true is not supported with this model family"));
  }
  auto activation =
      ActivationOf(reader.String("activation_function", "gelu_new"), "activation_function");
  if (!reader.status().ok()) return reader.status();
  if (!activation.ok()) return activation.status();
  config.activation = *activation;
  return config;
}

absl::StatusOr<ModelConfig> ParseBasics(const json& object, ModelConfig config) {
  ConfigReader reader(object);
  config.vocab_size = reader.Integer({"vocab_size"}, 1, kMaxVocabulary);
  config.hidden_size = reader.Integer({"hidden_size"}, 1, kMaxHidden);
  config.intermediate_size = reader.Integer({"intermediate_size"}, 1, kMaxIntermediate);
  config.layers = reader.Integer({"num_hidden_layers"}, 1, kMaxLayers);
  config.heads = reader.Integer({"num_attention_heads"}, 1, kMaxHeads);
  config.rope_theta = reader.Number("rope_theta", 1e-9, 1e12, 10'000);
  config.norm_eps = reader.Number("rms_norm_eps", 1e-30, 1, 1e-5);
  if (!reader.status().ok()) return reader.status();
  config.kv_heads = config.heads;
  config.head_dim = config.hidden_size / config.heads;
  if (config.hidden_size % (2 * config.heads) != 0) {
    reader.Fail(i18n::Format(
        "hidden_size {} is not a multiple of 2 x num_attention_heads (num_attention_heads is {})",
        config.hidden_size, config.heads));
  }
  if (!reader.status().ok()) return reader.status();
  return config;
}

// kInvalidArgument: the file names neither a model type nor an architecture.
absl::Status TakeFamily(const json& object, ModelConfig& config) {
  const absl::StatusOr<ConfigNames> names = NamesOf(object);
  if (!names.ok()) return names.status();
  std::string& type = config.type = names->model_type;
  config.architecture = names->architecture.empty() ? type : names->architecture;
  if (names->architecture == "Qwen2ForCausalLM") {
    type = "qwen2";
  } else if (names->architecture == "LlamaForCausalLM") {
    type = "llama";
  } else if (names->architecture == "MistralForCausalLM") {
    type = "mistral";
  } else if (names->architecture == "GPT2LMHeadModel") {
    type = "gpt2";
  } else if (!names->architecture.empty()) {
    config.family = Family::kOther;  // another head or architecture
    return absl::OkStatus();
  }
  config.family = type == "qwen2" || type == "llama" || type == "mistral" ? Family::kLlama
                  : type == "gpt2"                                        ? Family::kGpt2
                  : type == "basics"                                      ? Family::kBasics
                                                                          : Family::kOther;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ModelConfig> ParseModelConfig(std::string_view text) {
  const absl::StatusOr<json> parsed_json = ParseConfigObject(text);
  if (!parsed_json.ok()) return parsed_json.status();
  const json& object = *parsed_json;
  ModelConfig config;
  if (absl::Status status = TakeFamily(object, config); !status.ok()) return status;
  ConfigReader reader(object);
  config.stored_type = reader.String("torch_dtype", reader.String("dtype", ""));
  // As in transformers, a model uses the cache unless its file disables the cache.
  config.use_cache = reader.Bool("use_cache", config.family != Family::kBasics);
  if (!reader.status().ok()) return reader.status();
  if (config.family == Family::kOther) {
    config.use_cache = false;
    return config;
  }
  absl::StatusOr<ModelConfig> parsed = Invalid("");
  switch (config.family) {
    case Family::kLlama:
      parsed = ParseLlama(object, std::move(config));
      break;
    case Family::kGpt2:
      parsed = ParseGpt2(object, std::move(config));
      break;
    case Family::kBasics:
      parsed = ParseBasics(object, std::move(config));
      break;
    case Family::kOther:
      break;
  }
  if (!parsed.ok()) return parsed.status();
  if (absl::Status status = TakeOtherKeys(object, *parsed); !status.ok()) return status;
  return parsed;
}

std::vector<std::string_view> LinearLayerNames(const ModelConfig& model) {
  switch (model.family) {
    case Family::kLlama:
      return {"q_proj",    "k_proj",  "v_proj",    "o_proj",
              "gate_proj", "up_proj", "down_proj", "lm_head"};
    case Family::kGpt2:
      return {"c_attn", "c_proj", "c_fc", "lm_head"};
    case Family::kBasics:
    case Family::kOther:
      return {};
  }
  return {};
}

}  // namespace vramscope::run
