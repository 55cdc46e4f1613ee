// T5's attention: a bias that depends on the relative position is added to the scores. T5 has no
// position embedding. The first layer of a stack looks up the bias in a table that has a row per
// bucket of distances. The other layers reuse the bias.
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
// A projection without bias. `deviation` is multiplied by the config's initializer factor.
Linear::Options Dense(const RelativeAttentionConfig& config, int64_t inputs, int64_t outputs,
                      double deviation);

// Tensors without a gradient that all layers of a stack share in one forward pass.
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
  // Returns the bucket of each distance. Buckets are exact up to a limit, then logarithmic.
  at::Tensor Buckets(const at::Tensor& distance) const;

  const RelativeAttentionConfig& config_;
  const bool decoder_, cross_, first_;
  Linear q_, k_, v_, o_;
  Embedding bias_;
};

}  // namespace vramscope::trainer
