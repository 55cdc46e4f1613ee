// The Llama family (Llama, Qwen2, Mistral): RMSNorm, rotary positions, grouped-query attention,
// SwiGLU. Mirrors Hugging Face transformers 4.51: models/llama/modeling_llama.py and its siblings,
// with attn_implementation "eager" or "sdpa", no KV cache, no attention mask given.
#include <torch/torch.h>

#include <cmath>
#include <vector>

#include "trainer/models/causal_model.h"
#include "trainer/models/family.h"
#include "trainer/models/layers.h"
#include "trainer/models/parts.h"
#include "trainer/models/rotary.h"

namespace vramscope::trainer {
namespace {

at::Tensor Activate(run::Activation activation, const at::Tensor& x) {
  ModuleScope scope("act_fn");
  switch (activation) {
    case run::Activation::kSilu:
      return at::silu(x);
    case run::Activation::kGelu:
      return at::gelu(x);
    case run::Activation::kGeluNew:
      return GeluNew(x);
    case run::Activation::kGeluTanh:
      return at::gelu(x, "tanh");
  }
  return x;
}

// What every layer of one forward pass shares.
// Checkpoints keep it for their layers; members go from the last to the first.
struct Shared {
  at::Tensor sin, cos;
  at::Tensor positions;
  at::Tensor mask;  // undefined: causal, left to the attention operator
};

class Attention : public Module {
 public:
  Attention(const run::ModelConfig& c, const ModelOptions& o)
      : Module("self_attn"),
        config_(c),
        eager_(o.attention == AttentionKind::kEager),
        flash_two_(o.attention == AttentionKind::kFlash2),
        q_("q_proj", Projection(c, o, c.hidden_size, c.heads * c.head_dim, c.qkv_bias)),
        k_("k_proj", Projection(c, o, c.hidden_size, c.kv_heads * c.head_dim, c.qkv_bias)),
        v_("v_proj", Projection(c, o, c.hidden_size, c.kv_heads * c.head_dim, c.qkv_bias)),
        o_("o_proj", Projection(c, o, c.heads * c.head_dim, c.hidden_size, c.output_bias)) {
    for (Linear* projection : {&q_, &k_, &v_, &o_}) AddChild(projection);
  }

  // The attention weights (eager only) come back too: the caller's frame keeps them.
  std::pair<at::Tensor, at::Tensor> Forward(const at::Tensor& x, const Shared& shared) {
    ModuleScope scope(name());
    const int64_t batch = x.size(0), seq = x.size(1);
    auto heads = [&](Linear& projection) {
      return projection.Forward(x).view({batch, seq, -1, config_.head_dim}).transpose(1, 2);
    };
    at::Tensor query = heads(q_);
    at::Tensor key = heads(k_);
    at::Tensor value = heads(v_);
    ApplyRotary(query, key, shared.cos, shared.sin);
    const int64_t groups = config_.heads / config_.kv_heads;
    const double scale = 1 / std::sqrt(static_cast<double>(config_.head_dim));
    at::Tensor output, weights;
    if (flash_two_) {
      at::Tensor q = query.transpose(1, 2), k = key.transpose(1, 2), v = value.transpose(1, 2);
      output = FlashTwoAttention(q, k, v, config_.attention_dropout, scale);
    } else if (eager_) {
      std::tie(output, weights) = Eager(query, key, value, groups, scale, shared.mask);
    } else {
      output =
          SdpaAttention(query, key, value, groups, shared.mask, config_.attention_dropout, scale);
    }
    output = output.reshape({batch, seq, -1}).contiguous();
    at::Tensor projected = o_.Forward(output);
    output = std::move(projected);
    query.reset();
    key.reset();
    value.reset();
    return {std::move(output), std::move(weights)};
  }

 private:
  static Linear::Options Projection(const run::ModelConfig& c, const ModelOptions& o,
                                    int64_t inputs, int64_t outputs, bool bias) {
    return {.inputs = inputs,
            .outputs = outputs,
            .bias = bias,
            .dtype = o.dtype,
            .standard_deviation = c.initializer_range};
  }

  std::pair<at::Tensor, at::Tensor> Eager(const at::Tensor& query, const at::Tensor& key,
                                          const at::Tensor& value, int64_t groups, double scale,
                                          const at::Tensor& mask) const {
    at::Tensor keys = RepeatKv(key, groups);
    at::Tensor values = RepeatKv(value, groups);
    at::Tensor product = at::matmul(query, keys.transpose(2, 3));
    at::Tensor weights = product * scale;
    product.reset();
    weights = weights + mask.slice(-1, 0, keys.size(-2));
    at::Tensor probabilities = at::softmax(weights, -1, at::kFloat);
    at::Tensor cast = probabilities.to(query.scalar_type());
    probabilities.reset();
    weights = std::move(cast);
    weights = at::dropout(weights, config_.attention_dropout, true);
    at::Tensor output = at::matmul(weights, values);
    output = output.transpose(1, 2).contiguous();
    keys.reset();
    values.reset();
    return {std::move(output), std::move(weights)};
  }

  const run::ModelConfig& config_;
  bool eager_, flash_two_;
  Linear q_, k_, v_, o_;
};

class Mlp : public Module {
 public:
  Mlp(const run::ModelConfig& c, const ModelOptions& o)
      : Module("mlp"),
        activation_(c.activation),
        gate_("gate_proj", Options(c, o, c.hidden_size, c.intermediate_size)),
        up_("up_proj", Options(c, o, c.hidden_size, c.intermediate_size)),
        down_("down_proj", Options(c, o, c.intermediate_size, c.hidden_size)) {
    for (Linear* projection : {&gate_, &up_, &down_}) AddChild(projection);
  }

  at::Tensor Forward(const at::Tensor& x) {
    ModuleScope scope(name());
    at::Tensor gate = gate_.Forward(x);
    at::Tensor active = Activate(activation_, gate);
    gate.reset();
    at::Tensor up = up_.Forward(x);
    at::Tensor product = active * up;
    active.reset();
    up.reset();
    return down_.Forward(product);
  }

 private:
  static Linear::Options Options(const run::ModelConfig& c, const ModelOptions& o, int64_t inputs,
                                 int64_t outputs) {
    return {.inputs = inputs,
            .outputs = outputs,
            .bias = c.mlp_bias,
            .dtype = o.dtype,
            .standard_deviation = c.initializer_range};
  }

  run::Activation activation_;
  Linear gate_, up_, down_;
};

class DecoderLayer : public Module {
 public:
  DecoderLayer(std::string name, const run::ModelConfig& c, const ModelOptions& o)
      : Module(std::move(name)),
        attention_(c, o),
        mlp_(c, o),
        input_norm_("input_layernorm", c.hidden_size, c.norm_eps, o.dtype),
        post_norm_("post_attention_layernorm", c.hidden_size, c.norm_eps, o.dtype) {
    AddChild(&attention_);
    AddChild(&mlp_);
    AddChild(&input_norm_);
    AddChild(&post_norm_);
  }

  at::Tensor Forward(const at::Tensor& input, const Shared& shared) {
    ModuleScope scope(name());
    at::Tensor residual = input;
    at::Tensor hidden = input_norm_.Forward(input);
    // Named until the layer returns; a second run of this part finds nobody who wants them.
    const auto weights = std::make_shared<at::Tensor>();
    hidden = RunPart(Part::kAttention, hidden,
                     [this, shared, wanted = std::weak_ptr(weights)](const at::Tensor& in) {
                       auto [output, w] = attention_.Forward(in, shared);
                       if (const auto named = wanted.lock()) *named = std::move(w);
                       return output;
                     });
    hidden = residual + hidden;
    residual = hidden;
    hidden = post_norm_.Forward(hidden);
    hidden = RunPart(Part::kFeedForward, hidden,
                     [this](const at::Tensor& in) { return mlp_.Forward(in); });
    at::Tensor result = residual + hidden;
    hidden.reset();
    residual.reset();
    weights->reset();
    return result;
  }

 private:
  Attention attention_;
  Mlp mlp_;
  RmsNorm input_norm_, post_norm_;
};

// "model": everything below the output layer.
class Decoder : public Module {
 public:
  Decoder(const run::ModelConfig& c, const ModelOptions& o)
      : Module("model"),
        config_(c),
        eager_(o.attention == AttentionKind::kEager),
        embedding_("embed_tokens", c.vocab_size, c.hidden_size, o.dtype, c.initializer_range),
        norm_("norm", c.hidden_size, c.norm_eps, o.dtype),
        rotary_("rotary_emb", c) {
    AddChild(&embedding_);
    for (int64_t i = 0; i < c.layers; ++i) {
      layers_.push_back(std::make_unique<DecoderLayer>("layers." + std::to_string(i), c, o));
      AddChild(layers_.back().get());
    }
    AddChild(&norm_);
    AddChild(&rotary_);
  }

  at::Tensor Forward(const at::Tensor& ids, const LayerRunner& runner, bool inputs_require_grad) {
    ModuleScope scope(name());
    at::Tensor embedded = embedding_.Forward(ids);
    if (inputs_require_grad) embedded.requires_grad_(true);
    Shared shared;
    shared.positions = at::arange(embedded.size(1), ids.options().dtype(at::kLong));
    shared.mask = Mask(shared.positions, embedded.scalar_type(), embedded.size(0));
    std::tie(shared.cos, shared.sin) =
        rotary_.Forward(shared.positions.unsqueeze(0), embedded.scalar_type());
    at::Tensor hidden = embedded;
    std::vector<LayerFunction> functions;
    functions.reserve(layers_.size());
    for (auto& layer : layers_) {
      // By value: a recomputation comes when this frame is gone.
      functions.push_back([layer = layer.get(), shared](const at::Tensor& x, Carried&) {
        return layer->Forward(x, shared);
      });
    }
    hidden = RunLayers(runner, std::move(hidden), functions, name());
    at::Tensor result = norm_.Forward(hidden);
    functions.clear();
    for (at::Tensor* local :
         {&embedded, &shared.positions, &shared.mask, &hidden, &shared.cos, &shared.sin}) {
      local->reset();
    }
    return result;
  }

  std::vector<Module*> Layers() {
    std::vector<Module*> out;
    for (auto& layer : layers_) out.push_back(layer.get());
    return out;
  }
  const std::shared_ptr<Parameter>& embedding_weight() const { return embedding_.weight(); }

 private:
  // Additive causal mask [batch, 1, seq, seq + 1] (one column more than there are keys, as the
  // original makes it when no mask is given), or undefined where the attention operator knows that
  // it is causal.
  at::Tensor Mask(const at::Tensor& positions, at::ScalarType dtype, int64_t batch) const {
    const int64_t seq = positions.size(0);
    const bool window = config_.sliding_window > 0;
    if (!eager_ && (!window || seq < config_.sliding_window)) return {};
    const int64_t columns = seq + 1;
    at::Tensor mask =
        at::full({seq, columns}, LowestFinite(dtype), positions.options().dtype(dtype));
    // Llama's class clears the lower triangle first, the others do not.
    if (config_.type == "llama" && seq != 1) mask = at::triu(mask, 1);
    at::Tensor column = positions.reshape({-1, 1});
    at::Tensor range = at::arange(columns, positions.options());
    at::Tensor beyond = range > column;
    range.reset();
    at::Tensor before;
    if (window) {
      range = at::arange(columns, positions.options());
      at::Tensor edge = column - config_.sliding_window;
      before = range <= edge;
      range.reset();
      edge.reset();
      beyond.bitwise_or_(before);
    }
    mask.mul_(beyond);
    beyond.reset();
    before.reset();
    return mask.unsqueeze(0).unsqueeze(0).expand({batch, 1, -1, -1});
  }

  const run::ModelConfig& config_;
  bool eager_;
  Embedding embedding_;
  std::vector<std::unique_ptr<DecoderLayer>> layers_;
  RmsNorm norm_;
  RotaryEmbedding rotary_;
};

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<run::ModelConfig> config = run::ParseModelConfig(json);
  if (!config.ok()) return config.status();
  return std::make_unique<CausalModel<Decoder>>(*config, options);
}

}  // namespace

Family DeclareFamily_llama() {
  return {
      {.id = "llama",
       .title = "Llama, Qwen2, Mistral",
       .architectures = {"LlamaForCausalLM", "Qwen2ForCausalLM", "MistralForCausalLM"},
       .model_types = {"llama", "qwen2", "mistral"},
       .inputs = "token ids and labels, [batch, seq]",
       .lora = {{"q, v", {"q_proj", "v_proj"}},
                {"q, k, v, o", {"q_proj", "k_proj", "v_proj", "o_proj"}},
                {"all linear",
                 {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}}}},
      &Make};
}

}  // namespace vramscope::trainer
