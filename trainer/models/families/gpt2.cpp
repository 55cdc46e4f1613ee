// GPT-2: learned positions, LayerNorm, one matrix for query, key and value, GELU, dropout. Mirrors
// Hugging Face transformers 4.51: models/gpt2/modeling_gpt2.py, attn_implementation "eager" or
// "sdpa". Training uses no cache and no attention mask. Generation keeps keys and values in tuples
// and has a mask of the present tokens.
#include <torch/types.h>

#include <cmath>
#include <vector>

#include "trainer/models/causal_model.h"
#include "trainer/models/family.h"
#include "trainer/models/layers.h"
#include "trainer/models/parts.h"
#include "trainer/models/training_mode.h"

namespace vramscope::trainer::gpt2 {
namespace {

Linear::Options Conv1d(const run::ModelConfig& c, const ModelOptions& o, int64_t inputs,
                       int64_t outputs, bool residual = false) {
  // Layers that add to the residual stream have smaller initial weights: they are divided by the
  // square root of the number of such layers.
  const double scale = residual ? 1 / std::sqrt(2.0 * static_cast<double>(c.layers)) : 1;
  return {.inputs = inputs,
          .outputs = outputs,
          .bias = true,
          .transposed = true,
          .dtype = o.dtype,
          .standard_deviation = c.initializer_range * scale};
}

class Attention : public Module {
 public:
  Attention(const run::ModelConfig& c, const ModelOptions& o, int64_t layer)
      : Module("attn"),
        config_(c),
        eager_(o.attention == AttentionKind::kEager),
        layer_(layer),
        qkv_("c_attn", Conv1d(c, o, c.hidden_size, 3 * c.hidden_size)),
        output_("c_proj", Conv1d(c, o, c.hidden_size, c.hidden_size, true)) {
    const int64_t n = c.max_positions;
    mask_ = AddBuffer({.name = "bias", .shape = {1, 1, n, n}, .dtype = at::kBool, .value = [n] {
                         return at::ones({n, n}, at::kBool).tril().view({1, 1, n, n});
                       }});
    // transformers does not use this second buffer any more, but still moves it to the device.
    AddBuffer({.name = "masked_bias", .shape = {}, .dtype = o.dtype, .value = [type = o.dtype] {
                 return torch::tensor(-1e4F).to(type);
               }});
    AddChild(&qkv_);
    AddChild(&output_);
  }

  // If `mask` is defined, adds it to the scores of eager attention.
  at::Tensor Forward(const at::Tensor& x, const at::Tensor& mask) {
    ModuleScope scope(name());
    const int64_t batch = x.size(0), seq = x.size(1);
    std::vector<at::Tensor> parts = qkv_.Forward(x).split(config_.hidden_size, 2);
    auto heads = [&](const at::Tensor& part) {
      return part.view({batch, seq, -1, config_.head_dim}).transpose(1, 2);
    };
    at::Tensor query = heads(parts[0]);
    at::Tensor key = heads(parts[1]);
    at::Tensor value = heads(parts[2]);
    parts.clear();
    ThroughCache(key, value);
    at::Tensor output, weights;
    if (eager_) {
      std::tie(output, weights) = Eager(query, key, value, mask);
    } else {
      output = SdpaAttention(query, key, value, 1, {}, config_.attention_dropout, std::nullopt);
    }
    output = output.reshape({batch, seq, -1}).contiguous();
    at::Tensor projected = output_.Forward(output);
    output = std::move(projected);
    {
      ModuleScope inner("resid_dropout");
      output = at::dropout(output, config_.residual_dropout, Training());
    }
    query.reset();
    key.reset();
    value.reset();
    weights.reset();
    return output;
  }

 private:
  std::pair<at::Tensor, at::Tensor> Eager(const at::Tensor& query, const at::Tensor& key,
                                          const at::Tensor& value, const at::Tensor& given) const {
    at::Tensor weights = at::matmul(query, key.transpose(-1, -2));
    const at::TensorOptions scalar = weights.options();
    if (config_.scale_attention) {
      at::Tensor root = at::full({}, std::sqrt(static_cast<double>(value.size(-1))), scalar);
      at::Tensor scaled = weights / root;
      root.reset();
      weights = std::move(scaled);
    }
    if (config_.scale_by_layer) weights = weights / static_cast<double>(layer_ + 1);
    const int64_t rows = query.size(-2), columns = key.size(-2);
    const at::Tensor mask = mask_->tensor.slice(2, columns - rows, columns).slice(3, 0, columns);
    at::Tensor lowest = at::full({}, LowestFinite(weights.scalar_type()), scalar);
    weights = at::where(mask, weights, lowest);
    if (given.defined()) weights = weights + given;
    weights = at::softmax(weights, -1);
    weights = weights.to(value.scalar_type());
    {
      ModuleScope scope("attn_dropout");
      weights = at::dropout(weights, config_.attention_dropout, Training());
    }
    at::Tensor output = at::matmul(weights, value);
    output = output.transpose(1, 2);
    lowest.reset();
    return {std::move(output), std::move(weights)};
  }

  const run::ModelConfig& config_;
  bool eager_;
  int64_t layer_;
  Buffer* mask_;
  Linear qkv_, output_;
};

class Mlp : public Module {
 public:
  Mlp(const run::ModelConfig& c, const ModelOptions& o)
      : Module("mlp"),
        config_(c),
        up_("c_fc", Conv1d(c, o, c.hidden_size, c.intermediate_size)),
        down_("c_proj", Conv1d(c, o, c.intermediate_size, c.hidden_size, true)) {
    AddChild(&up_);
    AddChild(&down_);
  }

  at::Tensor Forward(const at::Tensor& x) {
    ModuleScope scope(name());
    at::Tensor hidden = up_.Forward(x);
    hidden = Activate(hidden);
    hidden = down_.Forward(hidden);
    ModuleScope inner("dropout");
    hidden = at::dropout(hidden, config_.residual_dropout, Training());
    return hidden;
  }

 private:
  at::Tensor Activate(const at::Tensor& x) const {
    ModuleScope scope("act");
    switch (config_.activation) {
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

  const run::ModelConfig& config_;
  Linear up_, down_;
};

class Block : public Module {
 public:
  Block(std::string name, const run::ModelConfig& c, const ModelOptions& o, int64_t layer)
      : Module(std::move(name)),
        norm1_("ln_1", c.hidden_size, c.norm_eps, o.dtype),
        attention_(c, o, layer),
        norm2_("ln_2", c.hidden_size, c.norm_eps, o.dtype),
        mlp_(c, o) {
    AddChild(&norm1_);
    AddChild(&attention_);
    AddChild(&norm2_);
    AddChild(&mlp_);
  }

  at::Tensor Forward(const at::Tensor& input, const at::Tensor& mask) {
    ModuleScope scope(name());
    at::Tensor residual = input;
    at::Tensor hidden = norm1_.Forward(input);
    at::Tensor output = RunPart(Part::kAttention, hidden, [this, mask](const at::Tensor& in) {
      return attention_.Forward(in, mask);
    });
    hidden = output + residual;
    residual = hidden;
    hidden = norm2_.Forward(hidden);
    at::Tensor forward = RunPart(Part::kFeedForward, hidden,
                                 [this](const at::Tensor& in) { return mlp_.Forward(in); });
    hidden = residual + forward;
    residual.reset();
    output.reset();
    forward.reset();
    return hidden;
  }

 private:
  LayerNorm norm1_;
  Attention attention_;
  LayerNorm norm2_;
  Mlp mlp_;
};

// "transformer": all of the model except the output layer.
class Decoder : public Module {
 public:
  using Config = run::ModelConfig;
  Decoder(const run::ModelConfig& c, const ModelOptions& o)
      : Module("transformer"),
        config_(c),
        options_(o),
        tokens_("wte", c.vocab_size, c.hidden_size, o.dtype, c.initializer_range),
        positions_("wpe", c.max_positions, c.hidden_size, o.dtype, c.initializer_range),
        norm_("ln_f", c.hidden_size, c.norm_eps, o.dtype) {
    AddChild(&tokens_);
    AddChild(&positions_);
    for (int64_t i = 0; i < c.layers; ++i) {
      blocks_.push_back(std::make_unique<Block>("h." + std::to_string(i), c, o, i));
      AddChild(blocks_.back().get());
    }
    AddChild(&norm_);
  }

  at::Tensor Forward(const at::Tensor& ids, const LayerRunner& runner, bool inputs_require_grad) {
    ModuleScope scope(name());
    const GenerationPass* generation = Generating();
    if (generation != nullptr && generation->prepared) generation->prepared();
    at::Tensor position_ids =
        generation != nullptr
            ? generation->position_ids
            : at::arange(ids.size(1), ids.options().dtype(at::kLong)).unsqueeze(0);
    at::Tensor tokens = tokens_.Forward(ids);
    if (inputs_require_grad) tokens.requires_grad_(true);
    at::Tensor positions = positions_.Forward(position_ids);
    at::Tensor hidden = tokens + positions;
    at::Tensor mask;
    if (generation != nullptr) mask = MaskOf(*generation);
    {
      ModuleScope inner("drop");
      hidden = at::dropout(hidden, config_.embedding_dropout, Training());
    }
    std::vector<LayerFunction> functions;
    functions.reserve(blocks_.size());
    for (auto& block : blocks_) {
      functions.push_back([block = block.get(), mask](const at::Tensor& x, Carried&) {
        return block->Forward(x, mask);
      });
    }
    hidden = RunLayers(runner, std::move(hidden), functions, name());
    hidden = norm_.Forward(hidden);
    for (at::Tensor* local : {&position_ids, &tokens, &positions, &mask}) local->reset();
    return hidden;
  }

  std::vector<Module*> Layers() {
    std::vector<Module*> out;
    for (auto& block : blocks_) out.push_back(block.get());
    return out;
  }
  const std::shared_ptr<Parameter>& embedding_weight() const { return tokens_.weight(); }

 private:
  // No token is masked, so SDPA gets no mask, and eager attention adds a mask of zeros.
  at::Tensor MaskOf(const GenerationPass& pass) const {
    if (options_.attention != AttentionKind::kEager) {
      const at::Tensor there = [&] { return at::all(pass.mask == 1); }();
      there.item<bool>();
      return {};
    }
    at::Tensor mask = pass.mask.unsqueeze(1).unsqueeze(1).to(options_.dtype);
    at::Tensor inverse = 1.0 - mask;
    return inverse * LowestFinite(options_.dtype);
  }

  const run::ModelConfig& config_;
  const ModelOptions options_;
  Embedding tokens_, positions_;
  std::vector<std::unique_ptr<Block>> blocks_;
  LayerNorm norm_;
};

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<run::ModelConfig> config = run::ParseModelConfig(json);
  if (!config.ok()) return config.status();
  return std::make_unique<CausalModel<Decoder>>(*config, options, CausalHead{.tuples = true});
}

}  // namespace

Family Declare() {
  return {{.id = "gpt2",
           .title = "GPT-2",
           .architectures = {"GPT2LMHeadModel"},
           .model_types = {"gpt2"},
           .inputs = "token ids and labels, [batch, seq]",
           .lora = {{"attention input", {"c_attn"}},
                    {"attention", {"c_attn", "c_proj"}},
                    {"all linear", {"c_attn", "c_proj", "c_fc"}}}},
          &Make};
}

}  // namespace vramscope::trainer::gpt2
