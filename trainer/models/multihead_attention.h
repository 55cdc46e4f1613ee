// torch.nn.MultiheadAttention as called by the layers of torch.nn and torchvision: one matrix for
// query, key and value, need_weights=False, no mask.
//
//   MultiheadAttention attention("self_attn", {.width = 512, .heads = 2, .dropout = 0.1});
//   at::Tensor y = attention.Forward(x, x);          // self-attention
//   at::Tensor z = attention.Forward(x, memory);     // memory is key and value
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "trainer/models/module.h"

namespace vramscope::trainer {

class MultiheadAttention : public Module {
 public:
  struct Options {
    int64_t width = 0;
    int64_t heads = 1;
    double dropout = 0;
    bool batch_first = false;  // [batch, seq, width] instead of [seq, batch, width]
    at::ScalarType dtype = at::kFloat;
  };
  MultiheadAttention(std::string name, const Options& options);
  at::Tensor Forward(const at::Tensor& query, const at::Tensor& memory);

 private:
  class Output;
  Options options_;
  std::shared_ptr<Parameter> weight_, bias_, output_weight_, output_bias_;
  std::unique_ptr<Module> output_;
};

}  // namespace vramscope::trainer
