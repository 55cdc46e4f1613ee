#include "profiler/estimate/weights.h"

namespace vramscope::estimate {

WeightCount CountWeights(const run::ModelConfig& model) {
  const auto size = [](int64_t value) { return static_cast<uint64_t>(value); };
  const uint64_t hidden = size(model.hidden_size), inner = size(model.intermediate_size);
  const uint64_t layers = size(model.layers), vocabulary = size(model.vocab_size);
  const uint64_t query = size(model.heads * model.head_dim);
  const uint64_t key_value = size(model.kv_heads * model.head_dim);
  const bool gpt2 = model.family == run::Family::kGpt2;
  const uint64_t matrices = gpt2 ? 2 : 3;  // MLPs of the other families have a gate
  const uint64_t norm = gpt2 ? 2 : 1;      // LayerNorm has a bias, RMSNorm has none
  const uint64_t positions = gpt2 ? size(model.max_positions) : 0;  // learned positions
  WeightCount count;
  count.family = model.type;
  count.layers = layers;
  count.embedding = (vocabulary + positions) * hidden;
  count.attention =
      layers * (2 * hidden * query + 2 * hidden * key_value +
                (model.qkv_bias ? query + 2 * key_value : 0) + (model.output_bias ? hidden : 0));
  count.mlp =
      layers * (matrices * hidden * inner + (model.mlp_bias ? (matrices - 1) * inner + hidden : 0));
  count.norm = (2 * layers + 1) * norm * hidden;
  count.output = model.tie_embeddings ? 0 : vocabulary * hidden;
  return count;
}

absl::StatusOr<WeightCount> CountWeights(std::string_view config_json) {
  const absl::StatusOr<run::ModelConfig> model = run::ParseModelConfig(config_json);
  if (!model.ok()) return model.status();
  if (model->family == run::Family::kOther) {
    return absl::UnimplementedError(
        i18n::Format("{}: there is no formula for this model's weights", model->architecture));
  }
  return CountWeights(*model);
}

uint64_t BytesPerWeight(std::string_view precision) {
  return precision == "bf16" || precision == "fp16" ? 2 : 4;
}

}  // namespace vramscope::estimate
