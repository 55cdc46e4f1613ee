// Parts that BERT and the encoders derived from it have in common: keys of config.json, full
// self-attention, and the projections back to the residual stream.
//
//   EncoderConfig config;
//   if (absl::Status status = ReadEncoder(reader, options, config); !status.ok()) return status;
//   FullAttention self(config);
//
// Mirrors Hugging Face transformers 4.51: models/bert/modeling_bert.py. Not thread-safe; see
// module.h.
#pragma once

#include <ATen/core/Tensor.h>
#include <absl/status/status.h>

#include <string>

#include "profiler/run/config_reader.h"
#include "profiler/run/model_config.h"
#include "trainer/models/layers.h"
#include "trainer/models/model.h"

namespace vramscope::trainer {

struct EncoderConfig {
  int64_t vocab = 0, hidden = 0, layers = 0, heads = 0, inner = 0, positions = 0, types = 0;
  int64_t classes = 2;
  double dropout = 0, attention_dropout = 0, classifier_dropout = 0;
  double eps = 1e-12, range = 0.02;
  run::Activation activation = run::Activation::kGelu;
  bool qkv_bias = true;
  bool eager = true;
  at::ScalarType dtype = at::kFloat;
};

// `config` must contain the defaults of the model's class. kInvalidArgument names the wrong key.
absl::Status ReadEncoder(run::ConfigReader& reader, const ModelOptions& options,
                         EncoderConfig& config);

Linear::Options Dense(const EncoderConfig& config, int64_t inputs, int64_t outputs);
at::Tensor Dropout(const at::Tensor& x, double p);
// Returns an additive mask [batch, 1, 1, seq], which is zero for tokens that are not padding.
at::Tensor AdditiveMask(const at::Tensor& given, at::ScalarType dtype);

class FullAttention : public Module {
 public:
  explicit FullAttention(const EncoderConfig& config);
  at::Tensor Forward(const at::Tensor& x, const at::Tensor& mask);

 protected:
  // Reshapes [batch, seq, hidden] to [batch, heads, seq, width].
  at::Tensor Heads(const at::Tensor& projected) const;
  const EncoderConfig& config_;
  Linear query_, key_, value_;
};

// "output": a projection back to the residual stream, and its norm.
class ResidualOutput : public Module {
 public:
  ResidualOutput(const EncoderConfig& config, int64_t inputs);
  at::Tensor Forward(const at::Tensor& x, const at::Tensor& residual);

 private:
  double dropout_;
  Linear dense_;
  LayerNorm norm_;
};

class Intermediate : public Module {
 public:
  explicit Intermediate(const EncoderConfig& config);
  at::Tensor Forward(const at::Tensor& x);

 private:
  run::Activation activation_;
  Linear dense_;
};

}  // namespace vramscope::trainer
