#include "trainer/models/decoder.h"

#include <ATen/autocast_mode.h>
#include <fmt/format.h>
#include <torch/types.h>

#include <cmath>

#include "trainer/models/causal_loss.h"
#include "trainer/models/training_mode.h"

namespace vramscope::trainer {

std::vector<run::FamilyDeclaration::LoraChoice> GatedDecoderAdapters() {
  return {{"q, v", {"q_proj", "v_proj"}},
          {"q, k, v, o", {"q_proj", "k_proj", "v_proj", "o_proj"}},
          {"all linear",
           {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}}};
}

absl::Status CheckWindow(const DecoderConfig& config, const ModelOptions& options) {
  const bool flash =
      options.attention == AttentionKind::kFlash || options.attention == AttentionKind::kFlash2;
  if (!flash || config.sliding_window == 0 || options.seq < config.sliding_window) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("attention=flash can't apply a sliding window of {} to sequences of {}: use "
                  "attention=math or eager, or seq < {}",
                  config.sliding_window, options.seq, config.sliding_window));
}

at::Tensor Activate(run::Activation activation, const std::string& name, const at::Tensor& x) {
  ModuleScope scope(name);
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

at::Tensor CausalMask(const DecoderConfig& config, AttentionKind attention,
                      const at::Tensor& positions, at::ScalarType dtype, int64_t batch,
                      int64_t prefix) {
  // The flash-attn package accepts no mask. The attention gets the positions in place of a mask, to
  // find packed samples.
  if (attention == AttentionKind::kFlash2) return positions.unsqueeze(0);
  const int64_t seq = positions.size(0);
  const bool window = config.sliding_window > 0 && !config.mask_always;
  if (attention != AttentionKind::kEager && !config.mask_always && prefix == 0 &&
      (!window || seq < config.sliding_window)) {
    return {};
  }
  const int64_t columns = prefix + seq + config.mask_extra_columns;
  at::Tensor mask = at::full({seq, columns}, LowestFinite(dtype), positions.options().dtype(dtype));
  if (config.mask_by_triangle && seq != 1) mask = at::triu(mask, 1);
  at::Tensor column = positions.reshape({-1, 1});
  at::Tensor range = at::arange(columns, positions.options());
  at::Tensor beyond = range > column;
  range.reset();
  at::Tensor before;
  if (window) {
    range = at::arange(columns, positions.options());
    at::Tensor edge = column - config.sliding_window;
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

namespace {

// Makes the mask [batch, 1, s, columns] from `pass.mask`, which says which tokens are present.
at::Tensor MaskOf(const DecoderConfig& config, const GenerationPass& pass, int64_t columns,
                  at::ScalarType dtype) {
  const int64_t rows = pass.positions.size(0), batch = pass.mask.size(0);
  const double lowest = LowestFinite(dtype);
  at::Tensor mask = at::full({rows, columns}, lowest, pass.positions.options().dtype(dtype));
  if (config.mask_by_triangle && rows != 1) mask = at::triu(mask, 1);
  const at::Tensor row = pass.positions.reshape({-1, 1});
  at::Tensor beyond = [&] { return at::arange(columns, pass.positions.options()) > row; }();
  at::Tensor before;
  const bool rolls = pass.cache != nullptr && pass.cache->slides();
  if (config.sliding_window > 0 && (!rolls || rows > columns)) {
    before = [&] {
      const at::Tensor range = at::arange(columns, pass.positions.options());
      return range <= row - config.sliding_window;
    }();
    beyond.bitwise_or_(before);
  }
  mask.mul_(beyond);
  if (config.mask_by_triangle) beyond.reset();
  mask = mask.unsqueeze(0).unsqueeze(0).expand({batch, 1, -1, -1});
  mask = mask.clone(at::MemoryFormat::Contiguous);
  const at::Tensor there = pass.mask.size(1) > columns ? pass.mask.slice(1, 0, columns) : pass.mask;
  const int64_t known = there.size(1);
  at::Tensor padding = mask.slice(3, 0, known) + there.unsqueeze(1).unsqueeze(1);
  padding = padding == 0;
  mask.slice(3, 0, known).copy_(mask.slice(3, 0, known).masked_fill(padding, lowest));
  return mask;
}

}  // namespace

void PrepareMask(const DecoderConfig& config, GenerationPass& pass, at::ScalarType dtype) {
  if (pass.cache != nullptr && pass.cache->room() > 0) {
    pass.mask = MaskOf(config, pass, pass.cache->room(), dtype);
  }
  if (pass.prepared) pass.prepared();
}

at::Tensor GenerationMask(const DecoderConfig& config, AttentionKind attention,
                          const GenerationPass& pass, at::ScalarType dtype) {
  const int64_t room = pass.cache != nullptr ? pass.cache->room() : 0;
  const bool eager = attention == AttentionKind::kEager;
  at::Tensor seen;  // number of present tokens, which the model counts in a cache of fixed size
  if (room > 0) {
    const at::Tensor any = pass.cache->first().select(0, 0).select(0, 0).any(-1);
    seen = any.sum();
  }
  const bool window = config.sliding_window > 0;
  if (!eager && room == 0 && (!window || pass.mask.size(1) < config.sliding_window)) {
    // transformers first checks that no token is masked. The operator then applies the causal mask.
    const at::Tensor there = [&] { return at::all(pass.mask == 1); }();
    there.item<bool>();
    return {};
  }
  at::Tensor mask = pass.mask.dim() == 4
                        ? pass.mask
                        : MaskOf(config, pass, room > 0 ? room : pass.mask.size(1), dtype);
  if (eager || !mask.is_cuda()) return mask;
  at::Tensor open = [&] {
    const at::Tensor closed = at::all(mask == LowestFinite(dtype), -1, /*keepdim=*/true);
    return closed.bitwise_not();
  }();
  return mask.mul(open);
}

namespace {

// If positions decrease, another sample starts there. A row of this run has only one sample, but
// transformers checks this in every layer and waits for the result.
void LookForPackedSamples(const at::Tensor& position_ids) {
  at::Tensor rising = at::diff(position_ids);
  rising = rising >= 0;
  rising = rising.all();
  static_cast<void>(rising.item());
}

}  // namespace

AttentionOperator::AttentionOperator(const DecoderConfig& config, const ModelOptions& options)
    : kind_(options.attention),
      groups_(config.heads / config.kv_heads),
      scale_(config.attention_scale > 0 ? config.attention_scale
                                        : 1 / std::sqrt(static_cast<double>(config.head_dim))),
      cap_(config.attention_cap),
      dropout_(config.attention_dropout) {}

std::pair<at::Tensor, at::Tensor> AttentionOperator::operator()(const at::Tensor& query,
                                                                const at::Tensor& key,
                                                                const at::Tensor& value,
                                                                const at::Tensor& mask) const {
  if (kind_ == AttentionKind::kEager) return Eager(query, key, value, mask);
  if (kind_ == AttentionKind::kFlash2) {
    at::Tensor q = query.transpose(1, 2), k = key.transpose(1, 2), v = value.transpose(1, 2);
    // The package only accepts 16-bit tensors. Under autocast, rotated queries and keys are fp32.
    if (q.scalar_type() == at::kFloat && at::autocast::is_autocast_enabled(q.device().type())) {
      const at::ScalarType type = at::autocast::get_autocast_dtype(q.device().type());
      for (at::Tensor* tensor : {&q, &k, &v}) *tensor = tensor->to(type);
    }
    if (mask.defined()) LookForPackedSamples(mask);
    return {FlashTwoAttention(q, k, v, dropout_, scale_), {}};
  }
  return {SdpaAttention(query, key, value, groups_, mask, dropout_, scale_), {}};
}

std::pair<at::Tensor, at::Tensor> AttentionOperator::Eager(const at::Tensor& query,
                                                           const at::Tensor& key,
                                                           const at::Tensor& value,
                                                           const at::Tensor& mask) const {
  at::Tensor keys = RepeatKv(key, groups_);
  at::Tensor values = RepeatKv(value, groups_);
  at::Tensor product = at::matmul(query, keys.transpose(2, 3));
  at::Tensor weights = product * scale_;
  product.reset();
  if (cap_ > 0) {
    weights = weights / cap_;
    weights = at::tanh(weights);
    weights = weights * cap_;
  }
  weights = weights + mask.slice(-1, 0, keys.size(-2));
  at::Tensor probabilities = at::softmax(weights, -1, at::kFloat);
  at::Tensor cast = probabilities.to(query.scalar_type());
  probabilities.reset();
  weights = std::move(cast);
  weights = at::dropout(weights, dropout_, Training());
  at::Tensor output = at::matmul(weights, values);
  output = output.transpose(1, 2).contiguous();
  keys.reset();
  values.reset();
  return {std::move(output), std::move(weights)};
}

Linear::Options Projection(const DecoderConfig& config, const ModelOptions& options, int64_t inputs,
                           int64_t outputs, bool bias) {
  return {.inputs = inputs,
          .outputs = outputs,
          .bias = bias,
          .dtype = options.dtype,
          .standard_deviation = config.initializer_range};
}

SelfAttention::SelfAttention(const DecoderConfig& c, const ModelOptions& o)
    : AttentionLayer("self_attn"),
      config_(c),
      attend_(c, o),
      q_("q_proj", Projection(c, o, c.hidden_size, c.heads * c.head_dim, c.qkv_bias)),
      k_("k_proj", Projection(c, o, c.hidden_size, c.kv_heads * c.head_dim, c.qkv_bias)),
      v_("v_proj", Projection(c, o, c.hidden_size, c.kv_heads * c.head_dim, c.qkv_bias)),
      o_("o_proj", Projection(c, o, c.heads * c.head_dim, c.hidden_size, c.output_bias)) {
  for (Linear* projection : {&q_, &k_, &v_, &o_}) AddChild(projection);
  if (c.head_norms == DecoderConfig::HeadNorms::kNone) return;
  q_norm_ = std::make_unique<RmsNorm>("q_norm", c.head_dim, c.norm_eps, o.dtype, c.norm_scale);
  k_norm_ = std::make_unique<RmsNorm>("k_norm", c.head_dim, c.norm_eps, o.dtype, c.norm_scale);
  AddChild(q_norm_.get());
  AddChild(k_norm_.get());
}

std::pair<at::Tensor, at::Tensor> SelfAttention::Forward(const at::Tensor& x,
                                                         const at::Tensor& mask,
                                                         const at::Tensor& cos,
                                                         const at::Tensor& sin) {
  ModuleScope scope(name());
  using HeadNorms = DecoderConfig::HeadNorms;
  const int64_t batch = x.size(0), seq = x.size(1);
  const auto heads = [&](Linear& projection, RmsNorm* norm) {
    at::Tensor projected = projection.Forward(x).view({batch, seq, -1, config_.head_dim});
    if (norm != nullptr) projected = norm->Forward(projected);
    return projected.transpose(1, 2);
  };
  const bool each = config_.head_norms == HeadNorms::kEach;
  at::Tensor query = heads(q_, each ? q_norm_.get() : nullptr);
  at::Tensor key = heads(k_, each ? k_norm_.get() : nullptr);
  at::Tensor value = heads(v_, nullptr);
  if (config_.head_norms == HeadNorms::kAfterProjections) {
    query = q_norm_->Forward(query);
    key = k_norm_->Forward(key);
  }
  ApplyRotary(query, key, cos, sin);
  ThroughCache(key, value);
  auto [output, weights] = attend_(query, key, value, mask);
  output = output.reshape({batch, seq, -1}).contiguous();
  at::Tensor projected = o_.Forward(output);
  output = std::move(projected);
  query.reset();
  key.reset();
  value.reset();
  return {std::move(output), std::move(weights)};
}

GatedMlp::GatedMlp(std::string name, const DecoderConfig& c, const ModelOptions& o, int64_t inner,
                   const Names& names)
    : FeedForward(std::move(name)),
      activation_(c.activation),
      gate_(names.gate, Projection(c, o, c.hidden_size, inner, c.mlp_bias)),
      up_(names.up, Projection(c, o, c.hidden_size, inner, c.mlp_bias)),
      down_(names.down, Projection(c, o, inner, c.hidden_size, c.mlp_bias)) {
  AddChild(&gate_);
  AddChild(names.down_second ? &down_ : &up_);
  AddChild(names.down_second ? &up_ : &down_);
}

bool GatedMlp::SetKernel(Kernel kernel) {
  if (activation_ != run::Activation::kSilu) return false;
  kernel_ = std::move(kernel);
  return true;
}

at::Tensor GatedMlp::Forward(const at::Tensor& x) {
  ModuleScope scope(name());
  at::Tensor gate = gate_.Forward(x);
  if (kernel_) {
    at::Tensor up = up_.Forward(x);
    at::Tensor product = kernel_(gate, up);
    gate.reset();
    up.reset();
    return down_.Forward(product);
  }
  at::Tensor active = Activate(activation_, "act_fn", gate);
  gate.reset();
  at::Tensor up = up_.Forward(x);
  at::Tensor product = active * up;
  active.reset();
  up.reset();
  return down_.Forward(product);
}

DecoderLayer::DecoderLayer(std::string name, const DecoderConfig& c, const ModelOptions& o,
                           std::unique_ptr<AttentionLayer> attention,
                           std::unique_ptr<FeedForward> feed)
    : Module(std::move(name)),
      dropout_(c.residual_dropout),
      attention_(std::move(attention)),
      feed_(std::move(feed)),
      input_norm_("input_layernorm", c.hidden_size, c.norm_eps, o.dtype, c.norm_scale),
      post_norm_("post_attention_layernorm", c.hidden_size, c.norm_eps, o.dtype, c.norm_scale) {
  AddChild(attention_.get());
  AddChild(feed_.get());
  AddChild(&input_norm_);
  AddChild(&post_norm_);
}

DecoderLayer::DecoderLayer(std::string name, const DecoderConfig& c, const ModelOptions& o, int64_t)
    : DecoderLayer(std::move(name), c, o, std::make_unique<SelfAttention>(c, o),
                   std::make_unique<GatedMlp>(c, o)) {}

at::Tensor DecoderLayer::Forward(const at::Tensor& input, const DecoderPass& pass) {
  ModuleScope scope(name());
  at::Tensor residual = input;
  at::Tensor hidden = input_norm_.Forward(input);
  // The attention weights live until the layer returns. When backward runs this part again, the new
  // weights are discarded.
  const auto weights = std::make_shared<at::Tensor>();
  at::Tensor kept;
  hidden = RunPart(Part::kAttention, hidden,
                   [this, pass, wanted = std::weak_ptr(weights)](const at::Tensor& in) {
                     auto [output, w] = attention_->Forward(in, pass.mask, pass.cos, pass.sin);
                     if (const auto named = wanted.lock()) *named = std::move(w);
                     return output;
                   });
  hidden = residual + at::dropout(hidden, dropout_, Training());
  residual = hidden;
  hidden = post_norm_.Forward(hidden);
  hidden = feed_->Run(hidden, kept);
  at::Tensor result = residual + at::dropout(hidden, dropout_, Training());
  for (at::Tensor* local : {&hidden, &residual, weights.get(), &kept}) local->reset();
  return result;
}

DecoderEmbedding::DecoderEmbedding(const DecoderConfig& c, const ModelOptions& o)
    : Embedding("embed_tokens", c.vocab_size, c.hidden_size, o.dtype, c.initializer_range) {
  if (c.embedding_scaling != DecoderConfig::Scaling::kBuffer) return;
  const double root = std::sqrt(static_cast<double>(c.hidden_size));
  scale_ = AddBuffer({.name = "embed_scale", .shape = {}, .dtype = o.dtype, .value = [root, o] {
                        return at::scalar_tensor(root, o.dtype);
                      }});
}

at::Tensor DecoderEmbedding::Forward(const at::Tensor& ids) {
  const at::Tensor embedded = Embedding::Forward(ids);
  if (scale_ == nullptr) return embedded;
  ModuleScope scope(name());
  return embedded * scale_->tensor.to(weight()->tensor.scalar_type());
}

at::Tensor Positions(const at::Tensor& ids, int64_t before) {
  return at::arange(before, before + ids.size(1), ids.options().dtype(at::kLong));
}

at::Tensor Scaled(const DecoderConfig& config, const at::Tensor& embedded) {
  if (config.embedding_scaling != DecoderConfig::Scaling::kNumber) return embedded;
  const at::Tensor root =
      at::scalar_tensor(std::sqrt(static_cast<double>(embedded.size(-1))), embedded.scalar_type());
  return embedded * root;
}

at::Tensor Dropped(const DecoderConfig& config, const at::Tensor& embedded) {
  return config.embedding_dropout > 0 ? at::dropout(embedded, config.embedding_dropout, Training())
                                      : embedded;
}

}  // namespace vramscope::trainer
