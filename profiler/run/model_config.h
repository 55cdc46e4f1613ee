// What a Hugging Face config.json (or the "basics" form) says about a decoder-only transformer,
// checked and with the family's defaults filled in: the one reading of it for the trainer, the
// formulas, the command line and the window.
//
//   ASSIGN_OR_RETURN(ModelConfig model, ParseModelConfig(config.model_config_json));
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::run {

// kLlama: also Qwen2 and Mistral. kOther: one that is not read here, or that there is none of; the
// trainer reads or refuses it (trainer/models/family.h), and `type`, `architecture` and
// `stored_type` are all that is known of it.
enum class Family : uint8_t { kLlama, kGpt2, kBasics, kOther };
enum class Activation : uint8_t { kSilu, kGelu, kGeluNew, kGeluTanh };
enum class RopeScaling : uint8_t { kNone, kLinear, kLlama3 };

// Bounds on what a config may ask for; beyond them it is a mistake, not a model.
inline constexpr int64_t kMaxLayers = 1000;
inline constexpr int64_t kMaxVocabulary = 10'000'000;
inline constexpr int64_t kMaxHidden = 131'072;
inline constexpr int64_t kMaxIntermediate = 1'048'576;
inline constexpr int64_t kMaxHeads = 4096;
inline constexpr int64_t kMaxPositions = 100'000'000;

struct ModelConfig {
  Family family = Family::kLlama;
  std::string type;          // "qwen2", "llama", "mistral", "gpt2", "basics"
  std::string architecture;  // as the file names it
  int64_t vocab_size = 0;
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t max_positions = 0;
  Activation activation = Activation::kSilu;
  double norm_eps = 1e-6;
  double initializer_range = 0.02;
  bool tie_embeddings = false;
  bool qkv_bias = false;
  bool output_bias = false;  // of the attention's output projection
  bool mlp_bias = false;
  double attention_dropout = 0;
  double embedding_dropout = 0;  // GPT-2
  double residual_dropout = 0;   // GPT-2
  bool scale_attention = true;   // GPT-2
  bool scale_by_layer = false;   // GPT-2: scale_attn_by_inverse_layer_idx
  int64_t sliding_window = 0;    // 0: none
  double rope_theta = 10'000;
  RopeScaling rope_scaling = RopeScaling::kNone;
  double rope_factor = 1;
  double rope_low_freq_factor = 1;
  double rope_high_freq_factor = 4;
  double rope_original_positions = 8192;
  std::string stored_type;  // torch_dtype: of the checkpoint's weights; "": the file does not say
  bool use_cache = false;   // the model keeps keys and values of all layers until its outputs die
  std::vector<std::string> ignored;  // settings that would change memory and are not planned
  std::vector<std::string> unknown;  // keys that are not known here
};

// kInvalidArgument: not JSON (with the place), an option that is not supported (quantized weights,
// experts, ...), a missing key, a value out of bounds; the message names it.
absl::StatusOr<ModelConfig> ParseModelConfig(std::string_view json);

// What the linear layers are called, which LoRA's targets choose from.
std::vector<std::string_view> LinearLayerNames(const ModelConfig& model);

}  // namespace vramscope::run
