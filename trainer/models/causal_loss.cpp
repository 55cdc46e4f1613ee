#include "trainer/models/causal_loss.h"

#include <torch/types.h>

#include <cmath>
#include <numbers>

namespace vramscope::trainer {

namespace {
constexpr int64_t kIgnoreIndex = -100;

at::Tensor Loss(const CrossEntropy& own, const at::Tensor& logits, const at::Tensor& labels) {
  if (own) return own(logits, labels);
  return at::cross_entropy_loss(logits, labels, {}, at::Reduction::Mean, kIgnoreIndex, 0.0);
}

at::Tensor CutCrossEntropy(at::Tensor logits, const at::Tensor& labels, const CrossEntropy& own) {
  at::Tensor cut = logits.slice(-2, 0, -1).contiguous();
  at::Tensor shifted = labels.slice(-1, 1).contiguous();
  cut = cut.view({-1, cut.size(-1)});
  shifted = shifted.view(-1);
  at::Tensor loss = Loss(own, cut, shifted);
  logits.reset();
  cut.reset();
  shifted.reset();
  return loss;
}

}  // namespace

at::Tensor ShiftedCrossEntropy(const at::Tensor& logits, const at::Tensor& labels, LossPath path,
                               const CrossEntropy& own) {
  at::Tensor upcast = logits.to(at::kFloat);
  if (path != LossPath::kLabelsShifted) return CutCrossEntropy(std::move(upcast), labels, own);
  at::Tensor padded = at::constant_pad_nd(labels, {0, 1}, kIgnoreIndex);
  at::Tensor shifted = padded.slice(-1, 1).contiguous();
  upcast = upcast.view({-1, upcast.size(-1)});
  shifted = shifted.view(-1);
  at::Tensor loss = Loss(own, upcast, shifted);
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
