#include "profiler/estimate/weights.h"

#include <fmt/format.h>

#include <initializer_list>
#include <nlohmann/json.hpp>

namespace vramscope::estimate {
namespace {

// Above any model there is; together they keep every product below 2^62.
constexpr uint64_t kMaxWidth = uint64_t{1} << 22;
constexpr uint64_t kMaxVocabulary = uint64_t{1} << 26;
constexpr uint64_t kMaxLayers = uint64_t{1} << 13;

// Reads keys and keeps the first thing that was wrong.
class Keys {
 public:
  explicit Keys(const nlohmann::json& config) : config_(config) {}

  uint64_t Required(const char* key, uint64_t most) { return Read(key, most, 0, true); }
  uint64_t Optional(const char* key, uint64_t most, uint64_t otherwise) {
    return Read(key, most, otherwise, false);
  }
  bool Flag(const char* key, bool otherwise) {
    const auto found = config_.find(key);
    if (found == config_.end() || found->is_null()) return otherwise;
    if (!found->is_boolean()) {
      Fail(fmt::format("{}: expected true or false", key));
      return otherwise;
    }
    return found->get<bool>();
  }
  void Fail(const std::string& message) {
    if (status_.ok()) status_ = absl::InvalidArgumentError("model config: " + message);
  }
  const absl::Status& status() const { return status_; }

 private:
  uint64_t Read(const char* key, uint64_t most, uint64_t otherwise, bool required) {
    const auto found = config_.find(key);
    if (found == config_.end() || found->is_null()) {
      if (required) Fail(fmt::format("\"{}\" is missing", key));
      return otherwise;
    }
    if (!found->is_number_integer()) {
      Fail(fmt::format("{}: expected a whole number", key));
      return otherwise;
    }
    const int64_t value = found->get<int64_t>();
    if (value < 1 || static_cast<uint64_t>(value) > most) {
      Fail(fmt::format("{}: {} is not between 1 and {}", key, value, most));
      return otherwise;
    }
    return static_cast<uint64_t>(value);
  }

  const nlohmann::json& config_;
  absl::Status status_;
};

// Llama, Mistral, Qwen2: RMSNorm, grouped-query attention, gated MLP. They differ in biases (Qwen2:
// on q, k, v; Llama: by attention_bias and mlp_bias) and in what a missing num_key_value_heads is.
WeightCount CountLlamaLike(Keys& keys, const std::string& family) {
  const uint64_t hidden = keys.Required("hidden_size", kMaxWidth);
  const uint64_t inner = keys.Required("intermediate_size", kMaxWidth);
  const uint64_t layers = keys.Required("num_hidden_layers", kMaxLayers);
  const uint64_t heads = keys.Required("num_attention_heads", kMaxWidth);
  const uint64_t vocabulary = keys.Required("vocab_size", kMaxVocabulary);
  const uint64_t kv_heads = family == "llama"
                                ? keys.Optional("num_key_value_heads", kMaxWidth, heads)
                                : keys.Required("num_key_value_heads", kMaxWidth);
  const uint64_t head = keys.Optional("head_dim", kMaxWidth, heads > 0 ? hidden / heads : 0);
  const bool qkv_bias =
      family == "qwen2" || (family == "llama" && keys.Flag("attention_bias", false));
  const bool out_bias = family == "llama" && keys.Flag("attention_bias", false);
  const bool mlp_bias = family == "llama" && keys.Flag("mlp_bias", false);
  const bool tied = keys.Flag("tie_word_embeddings", false);
  if (heads * head > kMaxWidth || kv_heads > heads) {
    keys.Fail("num_attention_heads, num_key_value_heads and head_dim do not go together");
  }
  WeightCount count;
  if (!keys.status().ok()) return count;
  const uint64_t query = heads * head, key_value = kv_heads * head;
  count.layers = layers;
  count.embedding = vocabulary * hidden;
  count.attention = layers * (2 * hidden * query + 2 * hidden * key_value +
                              (qkv_bias ? query + 2 * key_value : 0) + (out_bias ? hidden : 0));
  count.mlp = layers * (3 * hidden * inner + (mlp_bias ? 2 * inner + hidden : 0));
  count.norm = (2 * layers + 1) * hidden;
  count.output = tied ? 0 : vocabulary * hidden;
  return count;
}

// GPT-2: LayerNorm with bias, learned positions, biases everywhere, tied by default.
WeightCount CountGpt2(Keys& keys) {
  const uint64_t hidden = keys.Required("n_embd", kMaxWidth);
  const uint64_t layers = keys.Required("n_layer", kMaxLayers);
  const uint64_t positions = keys.Required("n_positions", kMaxVocabulary);
  const uint64_t vocabulary = keys.Required("vocab_size", kMaxVocabulary);
  const uint64_t inner = keys.Optional("n_inner", kMaxWidth, 4 * hidden);
  const bool tied = keys.Flag("tie_word_embeddings", true);
  WeightCount count;
  if (!keys.status().ok()) return count;
  count.layers = layers;
  count.embedding = (vocabulary + positions) * hidden;
  count.attention = layers * (4 * hidden * hidden + 4 * hidden);
  count.mlp = layers * (2 * hidden * inner + inner + hidden);
  count.norm = (2 * layers + 1) * 2 * hidden;
  count.output = tied ? 0 : vocabulary * hidden;
  return count;
}

// The basics model: as Llama, with as many key heads as query heads, no biases, never tied.
WeightCount CountBasics(Keys& keys) {
  const uint64_t hidden = keys.Required("hidden_size", kMaxWidth);
  const uint64_t inner = keys.Required("intermediate_size", kMaxWidth);
  const uint64_t layers = keys.Required("num_hidden_layers", kMaxLayers);
  const uint64_t vocabulary = keys.Required("vocab_size", kMaxVocabulary);
  WeightCount count;
  if (!keys.status().ok()) return count;
  count.layers = layers;
  count.embedding = count.output = vocabulary * hidden;
  count.attention = layers * 4 * hidden * hidden;
  count.mlp = layers * 3 * hidden * inner;
  count.norm = (2 * layers + 1) * hidden;
  return count;
}

}  // namespace

absl::StatusOr<WeightCount> CountWeights(std::string_view config_json) {
  const nlohmann::json config = nlohmann::json::parse(config_json, nullptr, false);
  if (!config.is_object()) {
    return absl::InvalidArgumentError("model config: expected one JSON object");
  }
  const auto type = config.find("model_type");
  if (type == config.end() || !type->is_string()) {
    return absl::InvalidArgumentError("model config: \"model_type\" is missing");
  }
  const std::string family = type->get<std::string>();
  Keys keys(config);
  WeightCount count;
  if (family == "llama" || family == "mistral" || family == "qwen2") {
    count = CountLlamaLike(keys, family);
  } else if (family == "gpt2") {
    count = CountGpt2(keys);
  } else if (family == "basics") {
    count = CountBasics(keys);
  } else {
    return absl::InvalidArgumentError(fmt::format(
        "model config: no formula for model_type \"{}\"; there are: llama, mistral, qwen2, gpt2, "
        "basics",
        family.substr(0, 100)));
  }
  if (!keys.status().ok()) return keys.status();
  count.family = family;
  return count;
}

uint64_t BytesPerWeight(run::Precision precision) {
  return precision == run::Precision::kBf16 || precision == run::Precision::kFp16 ? 2 : 4;
}

}  // namespace vramscope::estimate
