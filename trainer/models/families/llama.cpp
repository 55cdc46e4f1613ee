// The Llama family: Llama, Qwen2, Mistral. Mirrors Hugging Face transformers 4.51:
// models/llama/modeling_llama.py and its siblings (trainer/models/decoder.h).
#include "trainer/models/causal_model.h"
#include "trainer/models/decoder.h"
#include "trainer/models/family.h"

namespace vramscope::trainer::llama {
namespace {

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<run::ModelConfig> config = run::ParseModelConfig(json);
  if (!config.ok()) return config.status();
  DecoderConfig decoder{*config};
  decoder.mask_by_triangle = config->type == "llama";
  return std::make_unique<CausalModel<RotaryDecoder<DecoderLayer>>>(decoder, options);
}

}  // namespace

Family Declare() {
  return {{.id = "llama",
           .title = "Llama, Qwen2, Mistral",
           .architectures = {"LlamaForCausalLM", "Qwen2ForCausalLM", "MistralForCausalLM"},
           .model_types = {"llama", "qwen2", "mistral"},
           .inputs = "token ids and labels, [batch, seq]",
           .lora = GatedDecoderAdapters()},
          &Make};
}

}  // namespace vramscope::trainer::llama
