// Layers whose Meta kernel LibTorch has in Python only: embedding, layer norm, dropout; and the
// backward of indexing, which sorts.
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <vector>

#include "trainer/backends/plan/kernels.h"
#include "trainer/backends/plan/plan_memory.h"
#include "trainer/backends/plan/scratch.h"

namespace vramscope::trainer::plan {
namespace {

using at::Tensor;

Tensor IndexSelect(const Tensor& self, int64_t dim, const Tensor& index) {
  dim = at::maybe_wrap_dim(dim, self.dim());
  std::vector<int64_t> size = self.sizes().vec();
  if (!size.empty()) size[dim] = index.numel();
  Tensor out = at::empty(size, self.options());
  Launch(2 * Bytes(out) + Bytes(index));
  return out;
}

// [S] Embedding.cu, EmbeddingBackwardKernel.cu: few indices are summed by one kernel; many are
// sorted (all 64 bits of the key), cut into segments of equal index and summed in two passes. Not
// modelled: cub's temporaries of the two scans, some 10 KiB.
Tensor EmbeddingDenseBackward(const Tensor& grad, const Tensor& indices, c10::SymInt num_weights,
                              c10::SymInt, bool scale_grad_by_freq) {
  constexpr int64_t kFew = 3072;
  constexpr int64_t kRowsPerThread = 10;
  constexpr int kKeyBits = 64;
  const int64_t rows = num_weights.expect_int();
  const int64_t width = grad.size(-1);
  const int64_t n = indices.numel();
  const Tensor index = indices.contiguous();
  const Tensor gradient = grad.contiguous();
  if (n <= kFew && !scale_grad_by_freq) {
    Tensor weight_grad = at::zeros({rows, width}, grad.options());
    Launch(Bytes(gradient, index, weight_grad));
    return weight_grad;
  }
  const auto key = static_cast<int64_t>(index.element_size());
  Scratch sorted(n * key), original(n * key);
  {
    Scratch range(n * key);
    Scratch temporary(RadixSortScratch(n, kKeyBits));
  }
  std::optional<Scratch> counts;
  if (scale_grad_by_freq) counts.emplace(n * key);
  Tensor weight_grad = at::zeros({rows, width}, grad.options());
  const int64_t segments = std::min(n, rows);
  const int64_t partials = n / kRowsPerThread + segments;
  Scratch segment_offsets(n * key), segment_count(8);
  Scratch per_segment(segments * key), offsets(segments * key), partial_count(8);
  Scratch partial_offsets(partials * key);
  const int64_t accumulator =
      IsHalf(grad.scalar_type()) ? 4 : static_cast<int64_t>(grad.element_size());
  const int64_t partial_bytes = partials * width * accumulator;
  Scratch partial_sums(partial_bytes);
  Launch(Bytes(gradient) + static_cast<uint64_t>(partial_bytes));
  Launch(Bytes(weight_grad) + static_cast<uint64_t>(partial_bytes));
  return weight_grad;
}

// index_put_ with accumulation sorts the linear index (one index tensor; more are not modelled).
Tensor& IndexPut(Tensor& self, const c10::List<std::optional<Tensor>>& indices,
                 const Tensor& values, bool accumulate, bool) {
  int64_t n = 0;
  int tensors = 0;
  for (const std::optional<Tensor>& index : indices) {
    if (!index || !index->defined()) continue;
    n = std::max(n, index->numel());
    ++tensors;
  }
  if (accumulate && n > 0 && tensors == 1) {
    Scratch remainder(8 * n);
    Scratch linear(8 * n);
    remainder.Release();
    std::optional<Scratch> contiguous;
    if (!values.is_contiguous()) contiguous.emplace(Bytes(values));
    Scratch sorted(8 * n), original(8 * n);
    {
      Scratch range(8 * n);
      Scratch temporary(RadixSortScratch(n, BitWidth(static_cast<uint64_t>(self.size(0)))));
    }
    // Released in reverse, with the linear index last.
  }
  Launch(2 * Bytes(values));
  return self;
}

std::tuple<Tensor, Tensor, Tensor> LayerNorm(const Tensor& input, c10::SymIntArrayRef shape,
                                             const std::optional<Tensor>&,
                                             const std::optional<Tensor>&, double) {
  const Tensor x = input.contiguous();
  std::vector<int64_t> stat = x.sizes().vec();
  for (size_t i = 0; i < shape.size(); ++i) stat[stat.size() - 1 - i] = 1;
  const at::ScalarType type = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  Tensor out = at::empty_like(x, at::MemoryFormat::Contiguous);
  Tensor mean = at::empty(stat, x.options().dtype(type));
  Tensor rstd = at::empty(stat, x.options().dtype(type));
  Launch(Bytes(x, out));
  return {out, mean, rstd};
}

std::tuple<Tensor, Tensor, Tensor> LayerNormBackward(const Tensor& grad, const Tensor& input,
                                                     c10::SymIntArrayRef, const Tensor&,
                                                     const Tensor&,
                                                     const std::optional<Tensor>& weight,
                                                     const std::optional<Tensor>& bias,
                                                     std::array<bool, 3> mask) {
  const Tensor x = input.contiguous();
  Tensor input_grad, weight_grad, bias_grad;
  if (mask[0]) input_grad = at::empty_like(x, at::MemoryFormat::Contiguous);
  if (mask[1]) weight_grad = at::empty_like(*weight, at::MemoryFormat::Contiguous);
  if (mask[2]) bias_grad = at::empty_like(*bias, at::MemoryFormat::Contiguous);
  const Tensor gradient = grad.contiguous();
  Launch(Bytes(gradient, x, input_grad));
  if (mask[1] || mask[2]) Launch(Bytes(gradient, x));
  return {input_grad, weight_grad, bias_grad};
}

std::tuple<Tensor, Tensor> Dropout(const Tensor& input, double p, std::optional<bool> train) {
  if (train.has_value() && !*train) {
    Tensor mask = at::empty_like(input, input.options().dtype(at::kBool));
    return {input.clone(), mask};
  }
  if (p == 1) {
    Tensor out = at::zeros_like(input);
    return {out, at::zeros_like(input, input.options().dtype(at::kBool))};
  }
  Tensor out = at::empty_like(input);
  Tensor mask = at::empty_like(input, input.options().dtype(at::kBool));
  Launch(Bytes(input, out, mask));
  return {out, mask};
}

Tensor DropoutBackward(const Tensor& grad, const Tensor& mask, double) {
  Tensor out = at::empty_like(grad);
  Launch(Bytes(grad, mask, out));
  return out;
}

}  // namespace

void RegisterNnKernels(torch::Library& m) {
  m.impl("index_select", IndexSelect);
  m.impl("embedding_dense_backward", EmbeddingDenseBackward);
  m.impl("_index_put_impl_", IndexPut);
  m.impl("native_layer_norm", LayerNorm);
  m.impl("native_layer_norm_backward", LayerNormBackward);
  m.impl("native_dropout", Dropout);
  m.impl("native_dropout_backward", DropoutBackward);
}

}  // namespace vramscope::trainer::plan
