// Rotary position embedding, as in the Hugging Face implementation of the Llama family.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "profiler/run/model_config.h"
#include "trainer/models/module.h"

namespace vramscope::trainer {

// Returns the inverse frequencies [head_dim / 2], with the config's scaling applied. In the llama3
// scaling, the frequencies of long wavelengths are divided by `factor`, short wavelengths are kept,
// and the rest is interpolated (Hugging Face transformers, modeling_rope_utils.py).
std::vector<float> InverseFrequencies(const run::ModelConfig& config);

class RotaryEmbedding : public Module {
 public:
  // Overrides of the config; 0 keeps the config's value. `theta` replaces rope_theta and turns off
  // the config's scaling. `width` replaces the rotated width of a head.
  struct Own {
    double theta = 0;
    int64_t width = 0;
  };
  RotaryEmbedding(std::string name, const run::ModelConfig& config, const Own& own);
  RotaryEmbedding(std::string name, const run::ModelConfig& config)
      : RotaryEmbedding(std::move(name), config, Own{}) {}
  // Returns cos and sin, [1, seq, head_dim], of type `dtype`. position_ids: int64 [1, seq].
  // They are computed in fp32, outside of autograd and autocast.
  std::pair<at::Tensor, at::Tensor> Forward(const at::Tensor& position_ids, at::ScalarType dtype);

 private:
  Buffer* inverse_frequencies_;
};

// Returns x * cos + rotate_half(x) * sin.
at::Tensor Rotated(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin);

// Rotates `query` and `key` [b, heads, s, d].
void ApplyRotary(at::Tensor& query, at::Tensor& key, const at::Tensor& cos, const at::Tensor& sin);

}  // namespace vramscope::trainer
