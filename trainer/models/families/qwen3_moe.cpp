// Qwen3 with experts. The config may define some layers without experts. Mirrors Hugging
// Face transformers 4.51: models/qwen3_moe/modeling_qwen3_moe.py (trainer/models/decoder.h,
// experts.h).
#include <algorithm>

#include "profiler/run/config_reader.h"
#include "profiler/run/rotary_decoder.h"
#include "trainer/models/causal_model.h"
#include "trainer/models/decoder.h"
#include "trainer/models/experts.h"
#include "trainer/models/family.h"

namespace vramscope::trainer::qwen3_moe {
namespace {

struct Qwen3MoeConfig : DecoderConfig {
  int64_t experts = 128, chosen = 8, expert_width = 768, sparse_step = 1;
  bool normalized = false;
  std::vector<int64_t> plain_layers;

  bool Sparse(int64_t layer) const {
    return std::ranges::find(plain_layers, layer) == plain_layers.end() && experts > 0 &&
           (layer + 1) % sparse_step == 0;
  }
};

absl::StatusOr<Qwen3MoeConfig> Read(std::string_view json) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(json);
  if (!object.ok()) return object.status();
  Qwen3MoeConfig c;
  c.max_positions = 32768;
  c.head_norms = DecoderConfig::HeadNorms::kEach;
  if (absl::Status status =
          run::ReadRotaryDecoder(*object, {.needs_kv_heads = true, .own = {"num_experts"}}, c);
      !status.ok()) {
    return status;
  }
  run::ConfigReader reader(*object);
  c.qkv_bias = c.output_bias = reader.Bool("attention_bias", false);
  c.experts = reader.Integer({"num_experts"}, 1, kMaxExperts, 128);
  c.chosen = reader.Integer({"num_experts_per_tok"}, 1, c.experts, std::min<int64_t>(8, c.experts));
  c.expert_width = reader.Integer({"moe_intermediate_size"}, 1, run::kMaxIntermediate, 768);
  c.sparse_step = reader.Integer({"decoder_sparse_step"}, 1, run::kMaxLayers, 1);
  c.normalized = reader.Bool("norm_topk_prob", false);
  if (reader.Bool("use_sliding_window", false)) {
    c.sliding_window = reader.Integer({"sliding_window"}, 1, run::kMaxPositions, 4096);
  }
  if (const auto plain = object->find("mlp_only_layers");
      plain != object->end() && !plain->is_null()) {
    if (!plain->is_array() || plain->size() > run::kMaxLayers) {
      reader.Fail("mlp_only_layers is not a list of layers");
    } else {
      for (const nlohmann::json& layer : *plain) {
        if (!layer.is_number_unsigned() ||
            layer.get<uint64_t>() >= static_cast<uint64_t>(c.layers)) {
          reader.Fail("mlp_only_layers names a layer that does not exist");
          break;
        }
        c.plain_layers.push_back(layer.get<int64_t>());
      }
    }
  }
  RefuseRouterLoss(reader);
  if (!reader.status().ok()) return reader.status();
  return c;
}

std::unique_ptr<FeedForward> MakeFeed(const Qwen3MoeConfig& c, const ModelOptions& o,
                                      int64_t layer) {
  if (!c.Sparse(layer)) return std::make_unique<GatedMlp>(c, o);
  return std::make_unique<SparseMoe>("mlp", c, o,
                                     SparseMoe::Options{.experts = c.experts,
                                                        .chosen = c.chosen,
                                                        .inner = c.expert_width,
                                                        .normalized = c.normalized});
}

class Layer : public DecoderLayer {
 public:
  using Config = Qwen3MoeConfig;
  Layer(std::string name, const Config& c, const ModelOptions& o, int64_t number)
      : DecoderLayer(std::move(name), c, o, std::make_unique<SelfAttention>(c, o),
                     MakeFeed(c, o, number)) {}
};

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<Qwen3MoeConfig> config = Read(json);
  if (!config.ok()) return config.status();
  if (absl::Status status = CheckWindow(*config, options); !status.ok()) return status;
  return std::make_unique<CausalModel<RotaryDecoder<Layer>>>(*config, options);
}

}  // namespace

Family Declare() {
  return {
      {.id = "qwen3-moe",
       .title = "Qwen3 MoE",
       .architectures = {"Qwen3MoeForCausalLM"},
       .model_types = {"qwen3_moe"},
       .inputs = "token ids and labels, [batch, seq]",
       .lora = {{"q, v", {"q_proj", "v_proj"}},
                {"q, k, v, o", {"q_proj", "k_proj", "v_proj", "o_proj"}},
                {"attention and experts",
                 {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}}},
       .assumes = {std::string(kEvenRouting)}},
      &Make};
}

}  // namespace vramscope::trainer::qwen3_moe
