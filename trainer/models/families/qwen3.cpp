// Qwen3: like Llama, with a norm for the query and the key of each head. Mirrors
// models/qwen3/modeling_qwen3.py of Hugging Face transformers 4.51, with the limits named in
// trainer/models/decoder.h.
#include "profiler/run/config_reader.h"
#include "profiler/run/rotary_decoder.h"
#include "trainer/models/causal_model.h"
#include "trainer/models/decoder.h"
#include "trainer/models/family.h"

namespace vramscope::trainer::qwen3 {
namespace {

absl::StatusOr<DecoderConfig> Read(std::string_view json) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(json);
  if (!object.ok()) return object.status();
  DecoderConfig c;
  c.head_dim = 128;
  c.max_positions = 32768;
  c.head_norms = DecoderConfig::HeadNorms::kEach;
  if (absl::Status status = run::ReadRotaryDecoder(*object, {.needs_kv_heads = true}, c);
      !status.ok()) {
    return status;
  }
  run::ConfigReader reader(*object);
  c.qkv_bias = c.output_bias = reader.Bool("attention_bias", false);
  // As in transformers, the mask has a window if sliding_window is set, even if use_sliding_window
  // is false. If sliding_window is null, there is no window.
  const auto window = object->find("sliding_window");
  if (window == object->end() || !window->is_null()) {
    c.sliding_window = reader.Integer({"sliding_window"}, 1, run::kMaxPositions, 4096);
  }
  if (!reader.status().ok()) return reader.status();
  return c;
}

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<DecoderConfig> config = Read(json);
  if (!config.ok()) return config.status();
  if (absl::Status status = CheckWindow(*config, options); !status.ok()) return status;
  return std::make_unique<CausalModel<RotaryDecoder<DecoderLayer>>>(*config, options);
}

}  // namespace

Family Declare() {
  return {{.id = "qwen3",
           .title = "Qwen3",
           .architectures = {"Qwen3ForCausalLM"},
           .model_types = {"qwen3"},
           .inputs = "token ids and labels, [batch, seq]",
           .lora = GatedDecoderAdapters()},
          &Make};
}

}  // namespace vramscope::trainer::qwen3
