// Mixtral: like Mistral, with experts instead of the feed-forward part. Mirrors Hugging Face
// transformers 4.51: models/mixtral/modeling_mixtral.py (trainer/models/decoder.h, experts.h).
#include <algorithm>

#include "profiler/run/config_reader.h"
#include "profiler/run/rotary_decoder.h"
#include "trainer/models/causal_model.h"
#include "trainer/models/decoder.h"
#include "trainer/models/experts.h"
#include "trainer/models/family.h"

namespace vramscope::trainer::mixtral {
namespace {

struct MixtralConfig : DecoderConfig {
  int64_t experts = 8, chosen = 2;
};

absl::StatusOr<MixtralConfig> Read(std::string_view json) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(json);
  if (!object.ok()) return object.status();
  MixtralConfig c;
  c.max_positions = 4096 * 32;
  c.norm_eps = 1e-5;
  c.rope_theta = 1e6;
  if (absl::Status status = run::ReadRotaryDecoder(
          *object, {.needs_kv_heads = true, .own = {"num_local_experts"}}, c);
      !status.ok()) {
    return status;
  }
  run::ConfigReader reader(*object);
  c.experts = reader.Integer({"num_local_experts"}, 1, kMaxExperts, 8);
  c.chosen = reader.Integer({"num_experts_per_tok"}, 1, c.experts, std::min<int64_t>(2, c.experts));
  c.sliding_window = reader.Integer({"sliding_window"}, 1, run::kMaxPositions, 0);
  if (reader.Number("router_jitter_noise", 0, 1, 0) > 0) {
    reader.Fail("router_jitter_noise above 0 is not supported");
  }
  RefuseRouterLoss(reader);
  if (!reader.status().ok()) return reader.status();
  return c;
}

class Layer : public DecoderLayer {
 public:
  using Config = MixtralConfig;
  Layer(std::string name, const Config& c, const ModelOptions& o, int64_t)
      : DecoderLayer(std::move(name), c, o, std::make_unique<SelfAttention>(c, o),
                     std::make_unique<SparseMoe>(
                         "block_sparse_moe", c, o,
                         SparseMoe::Options{
                             .experts = c.experts,
                             .chosen = c.chosen,
                             .inner = c.intermediate_size,
                             .names = {.gate = "w1", .up = "w3", .down = "w2", .down_second = true},
                         })) {}
};

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<MixtralConfig> config = Read(json);
  if (!config.ok()) return config.status();
  if (absl::Status status = CheckWindow(*config, options); !status.ok()) return status;
  return std::make_unique<CausalModel<RotaryDecoder<Layer>>>(*config, options);
}

}  // namespace

Family Declare() {
  return {{.id = "mixtral",
           .title = "Mixtral",
           .architectures = {"MixtralForCausalLM"},
           .model_types = {"mixtral"},
           .inputs = "token ids and labels, [batch, seq]",
           .lora = {{"q, v", {"q_proj", "v_proj"}},
                    {"q, k, v, o", {"q_proj", "k_proj", "v_proj", "o_proj"}},
                    {"attention and experts",
                     {"q_proj", "k_proj", "v_proj", "o_proj", "w1", "w2", "w3"}}},
           .assumes = {std::string(kEvenRouting)}},
          &Make};
}

}  // namespace vramscope::trainer::mixtral
