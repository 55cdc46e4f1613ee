// Rotary position embedding, as in the Llama family's Hugging Face implementation.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "profiler/run/model_config.h"
#include "trainer/models/module.h"

namespace vramscope::trainer {

// Inverse frequencies [head_dim / 2] with the config's scaling applied. The llama3 rule: long
// wavelengths are divided by `factor`, short ones kept, between them interpolated (Hugging Face
// transformers, modeling_rope_utils.py).
std::vector<float> InverseFrequencies(const run::ModelConfig& config);

class RotaryEmbedding : public Module {
 public:
  // What is not the config's: rope_theta (then without the config's scaling), and how much of a
  // head is turned; 0: as the config has it.
  struct Own {
    double theta = 0;
    int64_t width = 0;
  };
  RotaryEmbedding(std::string name, const run::ModelConfig& config, const Own& own);
  RotaryEmbedding(std::string name, const run::ModelConfig& config)
      : RotaryEmbedding(std::move(name), config, Own{}) {}
  // cos and sin, [1, seq, head_dim], of `dtype`. position_ids: int64 [1, seq]. Computed in fp32
  // outside autograd and autocast.
  std::pair<at::Tensor, at::Tensor> Forward(const at::Tensor& position_ids, at::ScalarType dtype);

 private:
  Buffer* inverse_frequencies_;
};

// x * cos + rotate_half(x) * sin.
at::Tensor Rotated(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin);

// Rotates query and key [b, heads, s, d] in place of the arguments.
void ApplyRotary(at::Tensor& query, at::Tensor& key, const at::Tensor& cos, const at::Tensor& sin);

}  // namespace vramscope::trainer
