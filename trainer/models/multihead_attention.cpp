#include "trainer/models/multihead_attention.h"

#include <torch/types.h>

#include <cmath>
#include <vector>

#include "trainer/capture/cancel.h"
#include "trainer/models/training_mode.h"

namespace vramscope::trainer {
namespace {

// Splits a product into its `parts` projections: [rows.., parts * width] -> [parts, rows.., width].
at::Tensor Apart(const at::Tensor& product, int64_t parts, int64_t width) {
  return product.unflatten(-1, {parts, width})
      .unsqueeze(0)
      .transpose(0, -2)
      .squeeze(-2)
      .contiguous();
}

struct Heads {
  at::Tensor query, key, value;
};

}  // namespace

// Only has parameters. The attention reads them directly and never calls this module.
class MultiheadAttention::Output : public Module {
 public:
  explicit Output(const Options& o) : Module("out_proj") {
    weight = AddParameter(
        "weight", {.shape = {o.width, o.width}, .dtype = o.dtype, .init = Init::kKaimingUniform});
    bias = AddParameter("bias", {.shape = {o.width}, .dtype = o.dtype, .init = Init::kZeros});
  }
  std::shared_ptr<Parameter> weight, bias;
};

MultiheadAttention::MultiheadAttention(std::string name, const Options& options)
    : Module(std::move(name)), options_(options) {
  const int64_t width = options.width;
  // Xavier initialization of a matrix of [3 width, width]
  const double deviation = std::sqrt(2.0 / static_cast<double>(4 * width));
  weight_ = AddParameter(
      "in_proj_weight",
      {.shape = {3 * width, width}, .dtype = options.dtype, .standard_deviation = deviation});
  bias_ = AddParameter("in_proj_bias",
                       {.shape = {3 * width}, .dtype = options.dtype, .init = Init::kZeros});
  auto output = std::make_unique<Output>(options);
  output_weight_ = output->weight;
  output_bias_ = output->bias;
  AddChild(output.get());
  output_ = std::move(output);
}

at::Tensor MultiheadAttention::Forward(const at::Tensor& query_in, const at::Tensor& memory_in) {
  ThrowIfCancelled();
  ModuleScope scope(name());
  const bool self = query_in.is_same(memory_in);
  at::Tensor query = options_.batch_first ? query_in.transpose(1, 0) : query_in;
  at::Tensor memory = self ? query : options_.batch_first ? memory_in.transpose(1, 0) : memory_in;
  const int64_t width = options_.width, heads = options_.heads, head_dim = width / heads;
  const int64_t targets = query.size(0), batch = query.size(1);
  Heads parts;
  if (self) {
    at::Tensor product = at::linear(query, weight_->tensor, bias_->tensor);
    product = Apart(product, 3, width);
    parts = {product[0], product[1], product[2]};
  } else {
    const std::vector<at::Tensor> w = weight_->tensor.split_with_sizes({width, 2 * width});
    const std::vector<at::Tensor> b = bias_->tensor.split_with_sizes({width, 2 * width});
    at::Tensor q = at::linear(query, w[0], b[0]);
    at::Tensor product = at::linear(memory, w[1], b[1]);
    product = Apart(product, 2, width);
    parts = {q, product[0], product[1]};
  }
  // Two loops, because the order of these operators determines the order of backward.
  for (at::Tensor* x : {&parts.query, &parts.key, &parts.value}) {
    *x = x->view({x->size(0), batch * heads, head_dim}).transpose(0, 1);
  }
  for (at::Tensor* x : {&parts.query, &parts.key, &parts.value}) {
    *x = x->view({batch, heads, x->size(1), head_dim});
  }
  at::Tensor output = at::scaled_dot_product_attention(
      parts.query, parts.key, parts.value, {}, DropoutNow(options_.dropout), /*is_causal=*/false);
  output = output.permute({2, 0, 1, 3}).contiguous().view({batch * targets, width});
  output = at::linear(output, output_weight_->tensor, output_bias_->tensor);
  output = output.view({targets, batch, width});
  if (options_.batch_first) output = output.transpose(1, 0);
  query.reset();
  memory.reset();
  parts.query.reset();
  parts.key.reset();
  parts.value.reset();
  return output;
}

}  // namespace vramscope::trainer
