// Gemma: Llama with GELU, scaled embeddings, and norms that multiply by 1 + weight. Mirrors
// transformers 4.51: models/gemma/modeling_gemma.py (trainer/models/decoder.h).
#include "profiler/run/config_reader.h"
#include "profiler/run/rotary_decoder.h"
#include "trainer/models/causal_model.h"
#include "trainer/models/decoder.h"
#include "trainer/models/family.h"

namespace vramscope::trainer::gemma {
namespace {

absl::StatusOr<DecoderConfig> Read(std::string_view json) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(json);
  if (!object.ok()) return object.status();
  DecoderConfig c;
  c.head_dim = 256;
  c.max_positions = 8192;
  c.tie_embeddings = true;
  c.activation = run::Activation::kGeluTanh;
  c.mask_by_triangle = true;
  c.norm_scale = RmsNorm::Scale::kOnePlusWeight;
  c.embedding_scaling = DecoderConfig::Scaling::kNumber;
  // Ignores hidden_activation, which some files have: transformers' class does not read it.
  if (absl::Status status = run::ReadRotaryDecoder(*object, {.needs_kv_heads = true}, c);
      !status.ok()) {
    return status;
  }
  run::ConfigReader reader(*object);
  c.qkv_bias = c.output_bias = reader.Bool("attention_bias", false);
  if (!reader.status().ok()) return reader.status();
  return c;
}

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<DecoderConfig> config = Read(json);
  if (!config.ok()) return config.status();
  return std::make_unique<CausalModel<RotaryDecoder<DecoderLayer>>>(*config, options);
}

}  // namespace

Family Declare() {
  return {{.id = "gemma",
           .title = "Gemma",
           .architectures = {"GemmaForCausalLM"},
           .model_types = {"gemma"},
           .inputs = "token ids and labels, [batch, seq]",
           .lora = GatedDecoderAdapters()},
          &Make};
}

}  // namespace vramscope::trainer::gemma
