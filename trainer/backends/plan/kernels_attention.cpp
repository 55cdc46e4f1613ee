// scaled_dot_product_attention: which kernel LibTorch would choose, and what the flash and
// memory-efficient ones ask for.
#include <ATen/Context.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "trainer/backends/plan/kernels.h"
#include "trainer/backends/plan/plan_memory.h"
#include "trainer/backends/plan/scratch.h"

namespace vramscope::trainer::plan {
namespace {

using at::Tensor;

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

void LaunchAttention(const Tensor& query, const Tensor& key, double products, bool causal,
                     uint64_t bytes) {
  // Each product: every query with every key, over the head's width.
  double flops =
      products * 2.0 * static_cast<double>(query.numel()) * static_cast<double>(key.size(2));
  if (causal) flops /= 2;
  PlanMemory::Get().roofline().Advance(
      {.bytes = bytes,
       .flops = flops,
       .rate = IsHalf(query.scalar_type()) ? Rate::kBf16 : Rate::kFp32});
}

// As sdp::select_sdp_backend does in its order of preference, under the switches of at::Context.
// Not modelled: cuDNN's kernel, which LibTorch tries last unless asked for.
int64_t Choose(const Tensor& query, const Tensor& key, const Tensor& value,
               const std::optional<Tensor>& mask, double, bool, std::optional<double>,
               bool enable_gqa) {
  const auto& context = at::globalContext();
  const uint32_t capability = PlanMemory::Get().profile().compute_capability;
  const bool same_heads = query.size(1) == key.size(1) && query.size(1) == value.size(1);
  const bool flash = context.userEnabledFlashSDP() && capability >= 80 &&
                     IsHalf(query.scalar_type()) && !mask.has_value() && query.dim() == 4 &&
                     query.size(3) <= 256 && query.size(3) == value.size(3) &&
                     (same_heads || enable_gqa);
  if (flash) return static_cast<int64_t>(at::SDPBackend::flash_attention);
  const int64_t multiple = EfficientHeadMultiple(IsHalf(query.scalar_type()));
  const bool efficient = context.userEnabledMemEfficientSDP() && capability >= 50 &&
                         query.dim() == 4 && same_heads && query.scalar_type() != at::kDouble &&
                         query.size(3) % multiple == 0 && value.size(3) % multiple == 0;
  if (efficient) return static_cast<int64_t>(at::SDPBackend::efficient_attention);
  TORCH_CHECK(context.userEnabledMathSDP(),
              "No available kernel. Aborting execution. (flash needs fp16 or bf16 without a mask, "
              "compute capability 8.0 and a head width up to 256, efficient a head width that is a "
              "multiple of ",
              multiple, "; this is ", query.scalar_type(), " with a head width of ", query.size(3),
              ")");
  return static_cast<int64_t>(at::SDPBackend::math);
}

using FlashResult =
    std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt, Tensor, Tensor, Tensor>;

// [S] mha_fwd of flash_api.cpp. Tensors arrive as [B,H,T,D]; the kernel works on [B,T,H,D].
FlashResult FlashForward(const Tensor& query, const Tensor& key, const Tensor& value,
                         double dropout, bool causal, bool, std::optional<double>) {
  const int64_t batch = query.size(0), heads = query.size(1), queries = query.size(2),
                width = query.size(3), keys = key.size(2);
  Tensor out = at::empty_like(query.transpose(1, 2)).transpose(1, 2);
  Tensor lse = at::empty({batch, heads, queries}, query.options().dtype(at::kFloat));
  std::optional<Scratch> lse_parts, out_parts;
  if (dropout == 0.0) {
    const int64_t splits =
        FlashSplits(batch, heads, queries, keys, width, PlanMemory::Get().profile().sm_count);
    if (splits > 1) {
      const int64_t rounded = RoundUp(width, width <= 128 ? 32 : 64);
      lse_parts.emplace(splits * batch * heads * queries * 4);
      out_parts.emplace(splits * batch * heads * queries * rounded * 4);
    }
  }
  // Philox seed and offset, as one pair; an unused scalar.
  Tensor rng = at::empty({2}, query.options().dtype(at::kUInt64));
  Tensor unused = at::empty({}, query.options().dtype(at::kUInt64));
  LaunchAttention(query, key, 2, causal, Bytes(query, key, value, out));
  return {
      out, lse, Tensor(), Tensor(), queries, keys, rng, unused, at::empty({0}, query.options())};
}

// [S] mha_bwd: gradients, then the row sums and the fp32 accumulator of the query's gradient.
std::tuple<Tensor, Tensor, Tensor> FlashBackward(const Tensor& grad, const Tensor& query,
                                                 const Tensor& key, const Tensor& value,
                                                 const Tensor& out, const Tensor&, const Tensor&,
                                                 const Tensor&, c10::SymInt, c10::SymInt, double,
                                                 bool causal, const Tensor&, const Tensor&,
                                                 std::optional<double>) {
  const int64_t batch = query.size(0), heads = query.size(1), queries = query.size(2),
                width = query.size(3), key_heads = key.size(1);
  const auto like = [](const Tensor& t) {
    return at::empty_like(t.transpose(1, 2)).transpose(1, 2);
  };
  Tensor query_grad = like(query), key_grad = like(key), value_grad = like(value);
  const int64_t rows = RoundUp(queries, 128);
  const int64_t rounded = RoundUp(width, width <= 128 ? 32 : 64);
  {
    Scratch row_sums(batch * heads * rows * 4);
    Scratch accumulator(batch * rows * heads * rounded * 4);
    std::optional<Scratch> key_expanded, value_expanded;
    if (key_heads != heads) {
      const int64_t bytes =
          batch * key.size(2) * heads * width * static_cast<int64_t>(key.element_size());
      key_expanded.emplace(bytes);
      value_expanded.emplace(bytes);
    }
    LaunchAttention(query, key, 5, causal,
                    Bytes(grad, query, key, value, out, query_grad, key_grad, value_grad));
  }
  return {query_grad, key_grad, value_grad};
}

EfficientAttention EfficientShape(const Tensor& query, const Tensor& key, double dropout) {
  return {.batch = query.size(0),
          .heads = query.size(1),
          .queries = query.size(2),
          .keys = key.size(2),
          .head_size = query.size(3),
          .half = IsHalf(query.scalar_type()),
          .dropout = dropout != 0,
          .compute_capability = static_cast<int>(PlanMemory::Get().profile().compute_capability)};
}

// [S] efficient_attention_forward of attention.cu.
std::tuple<Tensor, Tensor, Tensor, Tensor> EfficientForward(const Tensor& query, const Tensor& key,
                                                            const Tensor& value,
                                                            const std::optional<Tensor>&,
                                                            bool compute_lse, double dropout,
                                                            bool causal, std::optional<double>) {
  const int64_t batch = query.size(0), heads = query.size(1), queries = query.size(2);
  Tensor out = at::empty({batch, queries, heads, value.size(3)}, query.options()).transpose(1, 2);
  // [R] rows are padded to 32: the backward kernel loads them in aligned vectors.
  Tensor lse = at::empty({batch, heads, compute_lse ? RoundUp(queries, 32) : 0},
                         query.options().dtype(at::kFloat));
  const int64_t accumulator = EfficientForwardAccumulator(EfficientShape(query, key, dropout));
  std::optional<Scratch> accumulated;
  if (accumulator > 0) accumulated.emplace(accumulator);
  // Philox seed and offset stay on the host without CUDA graphs.
  const auto host = at::TensorOptions().dtype(at::kLong).device(at::kCPU);
  LaunchAttention(query, key, 2, causal, Bytes(query, key, value, out));
  return {out, lse, at::empty({}, host), at::empty({}, host)};
}

// [R] one recorded shape, in fp32: gradients, then the row sums of grad * out, then the kernel's
// workspace. [S] In 16 bits the kernel makes the row sums itself.
std::tuple<Tensor, Tensor, Tensor, Tensor> EfficientBackward(
    const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& bias, const Tensor& out, const Tensor&, const Tensor&, const Tensor&,
    double dropout, std::array<bool, 4> mask, bool causal, std::optional<double>) {
  const int64_t batch = query.size(0), heads = query.size(1), queries = query.size(2),
                width = query.size(3);
  const auto like = [](const Tensor& t) {
    return at::empty({t.size(0), t.size(2), t.size(1), t.size(3)}, t.options()).transpose(1, 2);
  };
  Tensor query_grad = like(query), key_grad = like(key), value_grad = like(value), bias_grad;
  if (bias.defined() && mask[3]) bias_grad = at::empty_like(bias);
  {
    std::optional<Scratch> product, sum;
    if (!IsHalf(query.scalar_type())) {
      product.emplace(batch * heads * queries * width * 4);
      sum.emplace(batch * heads * queries * 4);
    }
    Scratch delta(batch * heads * queries * 4);
    sum.reset();
    product.reset();
    Scratch workspace(EfficientBackwardWorkspace(EfficientShape(query, key, dropout)));
    LaunchAttention(query, key, 5, causal,
                    Bytes(grad, query, key, value, out, query_grad, key_grad, value_grad));
    delta.Release();
  }
  return {query_grad, key_grad, value_grad, bias_grad};
}

}  // namespace

void RegisterAttentionKernels(torch::Library& m) {
  at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&Choose);
  m.impl("_scaled_dot_product_flash_attention", FlashForward);
  m.impl("_scaled_dot_product_flash_attention_backward", FlashBackward);
  m.impl("_scaled_dot_product_efficient_attention", EfficientForward);
  m.impl("_scaled_dot_product_efficient_attention_backward", EfficientBackward);
}

}  // namespace vramscope::trainer::plan
