// Gemma 2: like Gemma, with norms around each part and a window in every other layer. Scores and
// logits are capped. Mirrors Hugging Face transformers 4.51: models/gemma2/modeling_gemma2.py
// (trainer/models/gemma_layer.h).
#include "profiler/run/config_reader.h"
#include "trainer/models/family.h"
#include "trainer/models/gemma_layer.h"

namespace vramscope::trainer::gemma2 {
namespace {

absl::StatusOr<GemmaConfig> Read(std::string_view json) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(json);
  if (!object.ok()) return object.status();
  GemmaConfig c;
  c.head_dim = 256;
  c.max_positions = 8192;
  c.sliding_window = 4096;
  c.embedding_scaling = DecoderConfig::Scaling::kNumber;
  c.attention_cap = 50;
  c.logits_cap = 30;
  if (absl::Status status = ReadGemma(*object, c); !status.ok()) return status;
  return c;
}

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<GemmaConfig> config = Read(json);
  if (!config.ok()) return config.status();
  return MakeGemma(*config, options);
}

}  // namespace

Family Declare() {
  return {{.id = "gemma2",
           .title = "Gemma 2",
           .architectures = {"Gemma2ForCausalLM"},
           .model_types = {"gemma2"},
           .inputs = "token ids and labels, [batch, seq]",
           .lora = GatedDecoderAdapters(),
           .limits = {GemmaAttention()},
           .assumes = {"attention scores are capped only with attention=eager, because SDPA does "
                       "not support a cap"}},
          &Make};
}

}  // namespace vramscope::trainer::gemma2
