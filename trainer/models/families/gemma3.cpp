// Gemma 3, text only: like Gemma, with norms around each part and a window in most layers. Layers
// with a window have their own rotary positions, and each head's query and key are normalized.
// Mirrors Hugging Face transformers 4.51: models/gemma3/modeling_gemma3.py
// (trainer/models/gemma_layer.h).
#include "profiler/run/config_reader.h"
#include "trainer/models/family.h"
#include "trainer/models/gemma_layer.h"

namespace vramscope::trainer::gemma3 {
namespace {

absl::StatusOr<GemmaConfig> Read(std::string_view json) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(json);
  if (!object.ok()) return object.status();
  GemmaConfig c;
  c.head_dim = 256;
  c.max_positions = 131072;
  c.rope_theta = 1e6;
  c.sliding_window = 4096;
  c.head_norms = DecoderConfig::HeadNorms::kAfterProjections;
  c.embedding_scaling = DecoderConfig::Scaling::kBuffer;
  if (absl::Status status = ReadGemma(*object, c); !status.ok()) return status;
  c.attention_cap = 0;  // the class reads the key but does not use it
  run::ConfigReader reader(*object);
  c.window_pattern = reader.Integer({"sliding_window_pattern"}, 1, run::kMaxLayers, 6);
  c.local_rope_theta = reader.Number("rope_local_base_freq", 1, 1e12, 10'000);
  if (!reader.status().ok()) return reader.status();
  return c;
}

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<GemmaConfig> config = Read(json);
  if (!config.ok()) return config.status();
  return MakeGemma(*config, options);
}

}  // namespace

Family Declare() {
  return {{.id = "gemma3",
           .title = "Gemma 3, text",
           .architectures = {"Gemma3ForCausalLM"},
           .model_types = {"gemma3_text"},
           .inputs = "token ids and labels, [batch, seq]",
           .lora = GatedDecoderAdapters(),
           .limits = {GemmaAttention()}},
          &Make};
}

}  // namespace vramscope::trainer::gemma3
