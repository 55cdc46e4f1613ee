#include "trainer/models/bert_parts.h"

#include <torch/types.h>

#include <cmath>

#include "profiler/run/rotary_decoder.h"
#include "trainer/models/decoder.h"
#include "trainer/models/training_mode.h"

namespace vramscope::trainer {

absl::Status ReadEncoder(run::ConfigReader& reader, const ModelOptions& options, EncoderConfig& c) {
  c.vocab = reader.Integer({"vocab_size"}, 2, run::kMaxVocabulary, c.vocab);
  c.hidden = reader.Integer({"hidden_size"}, 1, run::kMaxHidden, int64_t{768});
  c.layers = reader.Integer({"num_hidden_layers"}, 1, run::kMaxLayers, int64_t{12});
  c.heads = reader.Integer({"num_attention_heads"}, 1, run::kMaxHeads, int64_t{12});
  c.inner = reader.Integer({"intermediate_size"}, 1, run::kMaxIntermediate, int64_t{3072});
  c.positions = reader.Integer({"max_position_embeddings"}, 1, 1 << 20, c.positions);
  c.types = reader.Integer({"type_vocab_size"}, 1, 1 << 20, int64_t{2});
  c.classes = reader.Classes();
  c.dropout = reader.Number("hidden_dropout_prob", 0, 0.999, 0.1);
  c.attention_dropout = reader.Number("attention_probs_dropout_prob", 0, 0.999, 0.1);
  c.classifier_dropout = reader.Number("classifier_dropout", 0, 0.999, c.dropout);
  c.eps = reader.Number("layer_norm_eps", 0, 1, 1e-12);
  c.range = reader.Number("initializer_range", 0, 10, 0.02);
  reader.Only("position_embedding_type", "absolute");
  if (!reader.status().ok()) return reader.status();
  if (c.hidden % c.heads != 0) {
    reader.Fail("hidden_size " + std::to_string(c.hidden) +
                " is not a multiple of num_attention_heads " + std::to_string(c.heads));
  }
  if (reader.Bool("is_decoder", false)) reader.Fail("is_decoder = true is not supported");
  if (!reader.status().ok()) return reader.status();
  if (options.seq > c.positions) {
    return absl::InvalidArgumentError("seq = " + std::to_string(options.seq) +
                                      " is longer than the model's " + std::to_string(c.positions) +
                                      " positions");
  }
  c.eager = options.attention == AttentionKind::kEager;
  c.dtype = options.dtype;
  return absl::OkStatus();
}

Linear::Options Dense(const EncoderConfig& c, int64_t inputs, int64_t outputs) {
  return {.inputs = inputs,
          .outputs = outputs,
          .bias = true,
          .dtype = c.dtype,
          .standard_deviation = c.range};
}

at::Tensor Dropout(const at::Tensor& x, double p) {
  ModuleScope scope("dropout");
  return at::dropout(x, p, Training());
}

at::Tensor AdditiveMask(const at::Tensor& given, at::ScalarType dtype) {
  at::Tensor mask = given.unsqueeze(1).unsqueeze(2).to(dtype);
  at::Tensor inverse = 1.0 - mask;
  at::Tensor additive = inverse * LowestFinite(dtype);
  inverse.reset();
  return additive;
}

namespace {

Linear::Options QkvOf(const EncoderConfig& c) {
  Linear::Options options = Dense(c, c.hidden, c.hidden);
  options.bias = c.qkv_bias;
  return options;
}

}  // namespace

FullAttention::FullAttention(const EncoderConfig& c)
    : Module("self"),
      config_(c),
      query_("query", QkvOf(c)),
      key_("key", QkvOf(c)),
      value_("value", QkvOf(c)) {
  for (Linear* projection : {&query_, &key_, &value_}) AddChild(projection);
}

at::Tensor FullAttention::Heads(const at::Tensor& projected) const {
  return projected
      .view({projected.size(0), projected.size(1), config_.heads, config_.hidden / config_.heads})
      .permute({0, 2, 1, 3});
}

at::Tensor FullAttention::Forward(const at::Tensor& x, const at::Tensor& mask) {
  ModuleScope scope(name());
  const int64_t batch = x.size(0), seq = x.size(1), width = config_.hidden / config_.heads;
  if (!config_.eager) {
    at::Tensor query = Heads(query_.Forward(x));
    at::Tensor key = Heads(key_.Forward(x));
    at::Tensor value = Heads(value_.Forward(x));
    at::Tensor output = at::scaled_dot_product_attention(
        query, key, value, {}, DropoutNow(config_.attention_dropout), false);
    output = output.transpose(1, 2);
    output = output.reshape({batch, seq, config_.hidden});
    for (at::Tensor* local : {&query, &key, &value}) local->reset();
    return output;
  }
  at::Tensor mixed = query_.Forward(x);
  at::Tensor key = Heads(key_.Forward(x));
  at::Tensor value = Heads(value_.Forward(x));
  at::Tensor query = Heads(mixed);
  at::Tensor scores = at::matmul(query, key.transpose(-1, -2));
  scores = scores / std::sqrt(static_cast<double>(width));
  scores = scores + mask;
  at::Tensor weights = at::softmax(scores, -1);
  weights = Dropout(weights, config_.attention_dropout);
  at::Tensor context = at::matmul(weights, value);
  context = context.permute({0, 2, 1, 3}).contiguous();
  context = context.view({batch, seq, config_.hidden});
  for (at::Tensor* local : {&mixed, &key, &value, &query, &scores, &weights}) local->reset();
  return context;
}

ResidualOutput::ResidualOutput(const EncoderConfig& c, int64_t inputs)
    : Module("output"),
      dropout_(c.dropout),
      dense_("dense", Dense(c, inputs, c.hidden)),
      norm_("LayerNorm", c.hidden, c.eps, c.dtype) {
  AddChild(&dense_);
  AddChild(&norm_);
}

at::Tensor ResidualOutput::Forward(const at::Tensor& x, const at::Tensor& residual) {
  ModuleScope scope(name());
  at::Tensor hidden = dense_.Forward(x);
  hidden = Dropout(hidden, dropout_);
  hidden = norm_.Forward(hidden + residual);
  return hidden;
}

Intermediate::Intermediate(const EncoderConfig& c)
    : Module("intermediate"),
      activation_(c.activation),
      dense_("dense", Dense(c, c.hidden, c.inner)) {
  AddChild(&dense_);
}

at::Tensor Intermediate::Forward(const at::Tensor& x) {
  ModuleScope scope(name());
  at::Tensor hidden = dense_.Forward(x);
  hidden = Activate(activation_, "intermediate_act_fn", hidden);
  return hidden;
}

}  // namespace vramscope::trainer
