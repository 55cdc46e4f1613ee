// Attention whose scores get a bias by relative position, instead of positions in the embedding
// (T5). The first layer of a stack computes the bias (a table by distance, in buckets) for all
// layers after it.
//
//   RelativeAttention self("SelfAttention", config, /*decoder=*/true, /*cross=*/false, first);
//   at::Tensor bias;  // of the stack
//   at::Tensor y = self.Forward(x, {}, masks, bias);
//
// Mirrors Hugging Face transformers 4.51: T5Attention of models/t5/modeling_t5.py, which has no
// sdpa. Not thread-safe; see module.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "trainer/models/layers.h"

namespace vramscope::trainer {

struct RelativeAttentionConfig {
  int64_t width = 0, head_dim = 0, heads = 0;
  int64_t buckets = 32, max_distance = 128;
  double dropout = 0.1, factor = 1;
  at::ScalarType dtype = at::kFloat;
};

double Power(int64_t value, double exponent);
// A projection without bias. `deviation` is scaled by the config's initial factor.
Linear::Options Dense(const RelativeAttentionConfig& config, int64_t inputs, int64_t outputs,
                      double deviation);

// Tensors that the layers of one stack share in a forward pass and that have no gradient.
struct StackMasks {
  at::Tensor positions;  // 0, 1, ... of the stack's own sequence
  at::Tensor mask;       // additive, for the self-attention
  at::Tensor cross_mask;
  bool checkpointed = false;
};

class RelativeAttention : public Module {
 public:
  // `first`: the attention is the first of its stack. `cross`: keys and values are computed from
  // the encoder's output, and the bias is zero.
  RelativeAttention(std::string name, const RelativeAttentionConfig& config, bool decoder,
                    bool cross, bool first);
  // Sets `bias` if it is undefined. `memory`: the encoder's output.
  at::Tensor Forward(const at::Tensor& x, const at::Tensor& memory, const StackMasks& shared,
                     at::Tensor& bias);

 private:
  at::Tensor MakeBias(int64_t targets, int64_t sources, const at::Tensor& scores,
                      const StackMasks& shared);
  // The bucket of each distance: exact for small distances, logarithmic for large ones.
  at::Tensor Buckets(const at::Tensor& distance) const;

  const RelativeAttentionConfig& config_;
  const bool decoder_, cross_, first_;
  Linear q_, k_, v_, o_;
  Embedding bias_;
};

}  // namespace vramscope::trainer
