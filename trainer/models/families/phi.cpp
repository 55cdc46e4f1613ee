// Phi (1, 1.5, 2): attention and feed-forward part read the output of the same norm, a part of each
// head is rotated, and linear layers have biases. Mirrors Hugging Face transformers 4.51:
// models/phi/modeling_phi.py (trainer/models/decoder.h).
#include <torch/types.h>

#include "profiler/run/config_reader.h"
#include "profiler/run/rotary_decoder.h"
#include "trainer/models/causal_model.h"
#include "trainer/models/decoder.h"
#include "trainer/models/family.h"
#include "trainer/models/training_mode.h"

namespace vramscope::trainer::phi {
namespace {

absl::StatusOr<DecoderConfig> Read(std::string_view json) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(json);
  if (!object.ok()) return object.status();
  DecoderConfig c;
  c.max_positions = 2048;
  c.norm_eps = 1e-5;
  c.activation = run::Activation::kGeluNew;
  c.mask_by_triangle = true;
  c.qkv_bias = c.output_bias = c.mlp_bias = true;
  if (absl::Status status = run::ReadRotaryDecoder(
          *object, {.norm_eps = "layer_norm_eps", .own = {"partial_rotary_factor"}}, c);
      !status.ok()) {
    return status;
  }
  run::ConfigReader reader(*object);
  c.residual_dropout = reader.Number("resid_pdrop", 0, 0.999, 0);
  c.embedding_dropout = reader.Number("embd_pdrop", 0, 0.999, 0);
  c.rotary_dim = run::RotaryWidth(reader, c.head_dim, 0.5);
  if (reader.Bool("qk_layernorm", false)) reader.Fail("qk_layernorm = true is not supported");
  if (!reader.status().ok()) return reader.status();
  return c;
}

class Attention : public Module {
 public:
  Attention(const DecoderConfig& c, const ModelOptions& o)
      : Module("self_attn"),
        config_(c),
        attend_(c, o),
        q_("q_proj", Projection(c, o, c.hidden_size, c.heads * c.head_dim, true)),
        k_("k_proj", Projection(c, o, c.hidden_size, c.kv_heads * c.head_dim, true)),
        v_("v_proj", Projection(c, o, c.hidden_size, c.kv_heads * c.head_dim, true)),
        dense_("dense", Projection(c, o, c.heads * c.head_dim, c.hidden_size, true)) {
    for (Linear* projection : {&q_, &k_, &v_, &dense_}) AddChild(projection);
  }

  std::pair<at::Tensor, at::Tensor> Forward(const at::Tensor& x, const DecoderPass& pass) {
    ModuleScope scope(name());
    const int64_t batch = x.size(0), seq = x.size(1);
    const auto heads = [&](Linear& projection) {
      return projection.Forward(x).view({batch, seq, -1, config_.head_dim}).transpose(1, 2);
    };
    at::Tensor query = heads(q_);
    at::Tensor key = heads(k_);
    at::Tensor value = heads(v_);
    at::Tensor query_turned = query.slice(-1, 0, config_.rotary_dim);
    at::Tensor query_rest = query.slice(-1, config_.rotary_dim);
    at::Tensor key_turned = key.slice(-1, 0, config_.rotary_dim);
    at::Tensor key_rest = key.slice(-1, config_.rotary_dim);
    ApplyRotary(query_turned, key_turned, pass.cos, pass.sin);
    query = at::cat({query_turned, query_rest}, -1);
    key = at::cat({key_turned, key_rest}, -1);
    ThroughCache(key, value);
    auto [output, weights] = attend_(query, key, value, pass.mask);
    output = output.reshape({batch, seq, -1}).contiguous();
    at::Tensor projected = dense_.Forward(output);
    output = std::move(projected);
    for (at::Tensor* local :
         {&query, &key, &value, &query_turned, &query_rest, &key_turned, &key_rest}) {
      local->reset();
    }
    return {std::move(output), std::move(weights)};
  }

 private:
  const DecoderConfig& config_;
  AttentionOperator attend_;
  Linear q_, k_, v_, dense_;
};

class Mlp : public Module {
 public:
  Mlp(const DecoderConfig& c, const ModelOptions& o)
      : Module("mlp"),
        activation_(c.activation),
        fc1_("fc1", Projection(c, o, c.hidden_size, c.intermediate_size, true)),
        fc2_("fc2", Projection(c, o, c.intermediate_size, c.hidden_size, true)) {
    AddChild(&fc1_);
    AddChild(&fc2_);
  }
  at::Tensor Forward(const at::Tensor& x) {
    ModuleScope scope(name());
    at::Tensor hidden = fc1_.Forward(x);
    hidden = Activate(activation_, "activation_fn", hidden);
    hidden = fc2_.Forward(hidden);
    return hidden;
  }

 private:
  run::Activation activation_;
  Linear fc1_, fc2_;
};

class Layer : public Module {
 public:
  using Config = DecoderConfig;
  Layer(std::string name, const DecoderConfig& c, const ModelOptions& o, int64_t)
      : Module(std::move(name)),
        dropout_(c.residual_dropout),
        attention_(c, o),
        mlp_(c, o),
        norm_("input_layernorm", c.hidden_size, c.norm_eps, o.dtype) {
    AddChild(&attention_);
    AddChild(&mlp_);
    AddChild(&norm_);
  }

  at::Tensor Forward(const at::Tensor& input, const DecoderPass& pass) {
    ModuleScope scope(name());
    at::Tensor residual = input;
    at::Tensor hidden = norm_.Forward(input);
    auto [attended, weights] = attention_.Forward(hidden, pass);
    attended = at::dropout(attended, dropout_, Training());
    at::Tensor fed = RunPart(Part::kFeedForward, hidden,
                             [this](const at::Tensor& in) { return mlp_.Forward(in); });
    fed = at::dropout(fed, dropout_, Training());
    at::Tensor sum = attended + fed;
    hidden = sum + residual;
    for (at::Tensor* local : {&sum, &residual, &attended, &weights, &fed}) local->reset();
    return hidden;
  }

 private:
  double dropout_;
  Attention attention_;
  Mlp mlp_;
  LayerNorm norm_;
};

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<DecoderConfig> config = Read(json);
  if (!config.ok()) return config.status();
  return std::make_unique<CausalModel<RotaryDecoder<Layer, LayerNorm>>>(*config, options,
                                                                        CausalHead{.bias = true});
}

}  // namespace

Family Declare() {
  return {{.id = "phi",
           .title = "Phi, Phi-1.5, Phi-2",
           .architectures = {"PhiForCausalLM"},
           .model_types = {"phi"},
           .inputs = "token ids and labels, [batch, seq]",
           .lora = {{"q, v", {"q_proj", "v_proj"}},
                    {"attention", {"q_proj", "k_proj", "v_proj", "dense"}},
                    {"all linear", {"q_proj", "k_proj", "v_proj", "dense", "fc1", "fc2"}}}},
          &Make};
}

}  // namespace vramscope::trainer::phi
