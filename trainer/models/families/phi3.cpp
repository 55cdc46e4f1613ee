// Phi-3: like Mistral, with query, key and value in one projection, gate and up in another, and
// rotary positions on a part of each head. Mirrors Hugging Face transformers 4.51:
// models/phi3/modeling_phi3.py (trainer/models/decoder.h).
#include <torch/types.h>

#include "profiler/run/config_reader.h"
#include "profiler/run/rotary_decoder.h"
#include "trainer/models/causal_model.h"
#include "trainer/models/decoder.h"
#include "trainer/models/family.h"

namespace vramscope::trainer::phi3 {
namespace {

absl::StatusOr<DecoderConfig> Read(std::string_view json) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(json);
  if (!object.ok()) return object.status();
  DecoderConfig c;
  c.max_positions = 4096;
  c.norm_eps = 1e-5;
  if (absl::Status status = run::ReadRotaryDecoder(*object, {.own = {"partial_rotary_factor"}}, c);
      !status.ok()) {
    return status;
  }
  run::ConfigReader reader(*object);
  c.residual_dropout = reader.Number("resid_pdrop", 0, 0.999, 0);
  c.sliding_window = reader.Integer({"sliding_window"}, 1, run::kMaxPositions, 0);
  c.rotary_dim = run::RotaryWidth(reader, c.head_dim, 1);
  if (!reader.status().ok()) return reader.status();
  return c;
}

class Attention : public AttentionLayer {
 public:
  Attention(const DecoderConfig& c, const ModelOptions& o)
      : AttentionLayer("self_attn"),
        config_(c),
        attend_(c, o),
        o_("o_proj", Projection(c, o, c.heads * c.head_dim, c.hidden_size, false)),
        qkv_("qkv_proj",
             Projection(c, o, c.hidden_size, (c.heads + 2 * c.kv_heads) * c.head_dim, false)) {
    AddChild(&o_);
    AddChild(&qkv_);
  }

  std::pair<at::Tensor, at::Tensor> Forward(const at::Tensor& x, const at::Tensor& mask,
                                            const at::Tensor& cos, const at::Tensor& sin) override {
    ModuleScope scope(name());
    const int64_t batch = x.size(0), seq = x.size(1);
    at::Tensor all = qkv_.Forward(x);
    const int64_t queries = config_.heads * config_.head_dim;
    const int64_t keys = config_.kv_heads * config_.head_dim;
    at::Tensor query = all.slice(-1, 0, queries);
    at::Tensor key = all.slice(-1, queries, queries + keys);
    at::Tensor value = all.slice(-1, queries + keys);
    for (at::Tensor* part : {&query, &key, &value}) {
      *part = part->view({batch, seq, -1, config_.head_dim}).transpose(1, 2);
    }
    {
      // Rotates the first part of each head. The rest, which may be empty, stays as it is.
      const at::Tensor c = cos.unsqueeze(1), s = sin.unsqueeze(1);
      const int64_t turned = c.size(-1);
      // As in Python, an index that covers the whole dimension makes an alias, not a slice.
      const auto front = [&](const at::Tensor& x) {
        return turned == x.size(-1) ? at::alias(x) : x.slice(-1, 0, turned);
      };
      const at::Tensor q_turned = front(query), q_rest = query.slice(-1, turned);
      const at::Tensor k_turned = front(key), k_rest = key.slice(-1, turned);
      at::Tensor q = at::cat({Rotated(q_turned, c, s), q_rest}, -1);
      at::Tensor k = at::cat({Rotated(k_turned, c, s), k_rest}, -1);
      query = std::move(q);
      key = std::move(k);
    }
    ThroughCache(key, value);
    auto [output, weights] = attend_(query, key, value, mask);
    output = output.reshape({batch, seq, -1}).contiguous();
    at::Tensor projected = o_.Forward(output);
    output = std::move(projected);
    for (at::Tensor* local : {&all, &query, &key, &value}) local->reset();
    return {std::move(output), std::move(weights)};
  }

 private:
  const DecoderConfig& config_;
  AttentionOperator attend_;
  Linear o_, qkv_;
};

class Mlp : public FeedForward {
 public:
  Mlp(const DecoderConfig& c, const ModelOptions& o)
      : FeedForward("mlp"),
        activation_(c.activation),
        gate_up_("gate_up_proj", Projection(c, o, c.hidden_size, 2 * c.intermediate_size, false)),
        down_("down_proj", Projection(c, o, c.intermediate_size, c.hidden_size, false)) {
    AddChild(&gate_up_);
    AddChild(&down_);
  }
  at::Tensor Run(const at::Tensor& x, at::Tensor&) override {
    return RunPart(Part::kFeedForward, x, [this](const at::Tensor& in) { return Forward(in); });
  }

 private:
  at::Tensor Forward(const at::Tensor& x) {
    ModuleScope scope(name());
    at::Tensor up = gate_up_.Forward(x);
    std::vector<at::Tensor> halves = up.chunk(2, -1);
    at::Tensor gate = std::move(halves[0]);
    up = std::move(halves[1]);
    {
      const at::Tensor active = Activate(activation_, "activation_fn", gate);
      up = up * active;
    }
    at::Tensor result = down_.Forward(up);
    up.reset();
    gate.reset();
    return result;
  }

  run::Activation activation_;
  Linear gate_up_, down_;
};

class Layer : public DecoderLayer {
 public:
  Layer(std::string name, const Config& c, const ModelOptions& o, int64_t)
      : DecoderLayer(std::move(name), c, o, std::make_unique<Attention>(c, o),
                     std::make_unique<Mlp>(c, o)) {}
};

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<DecoderConfig> config = Read(json);
  if (!config.ok()) return config.status();
  if (absl::Status status = CheckWindow(*config, options); !status.ok()) return status;
  return std::make_unique<CausalModel<RotaryDecoder<Layer>>>(*config, options);
}

}  // namespace

Family Declare() {
  return {{.id = "phi3",
           .title = "Phi-3",
           .architectures = {"Phi3ForCausalLM"},
           .model_types = {"phi3"},
           .inputs = "token ids and labels, [batch, seq]",
           .lora = {{"qkv", {"qkv_proj"}},
                    {"attention", {"qkv_proj", "o_proj"}},
                    {"all linear", {"qkv_proj", "o_proj", "gate_up_proj", "down_proj"}}}},
          &Make};
}

}  // namespace vramscope::trainer::phi3
