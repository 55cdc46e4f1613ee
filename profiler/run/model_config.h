// Reads the facts about a decoder-only transformer from a Hugging Face config.json (or the "basics"
// form). Checks them and adds the family's defaults. The trainer, the formulas, the command line
// and the window all use this reader.
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

// kLlama includes Qwen2 and Mistral. kOther: a model that the trainer reads or rejects
// (trainer/models/family.h). Here, only its `type`, `architecture` and `stored_type` are read.
enum class Family : uint8_t { kLlama, kGpt2, kBasics, kOther };
enum class Activation : uint8_t { kSilu, kGelu, kGeluNew, kGeluTanh };
enum class RopeScaling : uint8_t { kNone, kLinear, kLlama3 };

// Limits of a config; larger values are mistakes.
inline constexpr int64_t kMaxLayers = 1000;
inline constexpr int64_t kMaxVocabulary = 10'000'000;
inline constexpr int64_t kMaxHidden = 131'072;
inline constexpr int64_t kMaxIntermediate = 1'048'576;
inline constexpr int64_t kMaxHeads = 4096;
inline constexpr int64_t kMaxPositions = 100'000'000;

struct ModelConfig {
  Family family = Family::kLlama;
  std::string type;          // "qwen2", "llama", "mistral", "gpt2", "basics"
  std::string architecture;  // "Qwen2ForCausalLM", as in the file
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
  bool output_bias = false;  // whether the attention's output projection has a bias
  bool mlp_bias = false;
  double attention_dropout = 0;
  double embedding_dropout = 0;  // only GPT-2
  double residual_dropout = 0;   // only GPT-2
  bool scale_attention = true;   // only GPT-2
  bool scale_by_layer = false;   // GPT-2: scale_attn_by_inverse_layer_idx
  int64_t sliding_window = 0;    // 0: none
  double rope_theta = 10'000;
  RopeScaling rope_scaling = RopeScaling::kNone;
  double rope_factor = 1;
  double rope_low_freq_factor = 1;
  double rope_high_freq_factor = 4;
  double rope_original_positions = 8192;
  std::string stored_type;  // torch_dtype of the checkpoint's weights; "": not in the file
  bool use_cache = false;   // keys and values of all layers live as long as the model's outputs
  std::vector<std::string> ignored;  // settings that would change memory and are not modelled
  std::vector<std::string> unknown;  // keys that are not known
};

// kInvalidArgument: not JSON (with the position), an unsupported option (quantized weights,
// experts, ...), a missing key, or a value out of range; the message names it.
absl::StatusOr<ModelConfig> ParseModelConfig(std::string_view json);

// Returns the names of the linear layers, from which LoRA's targets are chosen.
std::vector<std::string_view> LinearLayerNames(const ModelConfig& model);

}  // namespace vramscope::run
