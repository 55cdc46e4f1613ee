#include "trainer/models/causal_loss.h"

#include <torch/torch.h>

#include <cmath>
#include <numbers>

namespace vramscope::trainer {

namespace {
constexpr int64_t kIgnoreIndex = -100;
}

at::Tensor ShiftedCrossEntropy(const at::Tensor& logits, const at::Tensor& labels) {
  at::Tensor upcast = logits.to(at::kFloat);
  at::Tensor padded = at::constant_pad_nd(labels, {0, 1}, kIgnoreIndex);
  at::Tensor shifted = padded.slice(-1, 1).contiguous();
  upcast = upcast.view({-1, upcast.size(-1)});
  shifted = shifted.view(-1);
  at::Tensor loss =
      at::cross_entropy_loss(upcast, shifted, {}, at::Reduction::Mean, kIgnoreIndex, 0.0);
  upcast.reset();
  padded.reset();
  shifted.reset();
  return loss;
}

at::Tensor GeluNew(const at::Tensor& x) {
  at::Tensor half = x * 0.5;
  at::Tensor cube = at::pow(x, 3.0);
  at::Tensor scaled = cube * 0.044715;
  cube.reset();
  at::Tensor sum = x + scaled;
  scaled.reset();
  at::Tensor inner = sum * std::sqrt(2.0 / std::numbers::pi);
  sum.reset();
  at::Tensor curve = at::tanh(inner);
  inner.reset();
  at::Tensor shifted = curve + 1.0;
  curve.reset();
  at::Tensor result = half * shifted;
  half.reset();
  shifted.reset();
  return result;
}

}  // namespace vramscope::trainer
