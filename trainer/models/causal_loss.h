// What the model families share below and above their layers.
#pragma once

#include <ATen/core/Tensor.h>

namespace vramscope::trainer {

// Token i predicts token i + 1: logits upcast to fp32, labels padded by one ignored token and
// shifted, mean cross entropy (Hugging Face transformers 4.51, loss/loss_utils.py).
at::Tensor ShiftedCrossEntropy(const at::Tensor& logits, const at::Tensor& labels);

// The tanh approximation of GELU in elementary operators, as Hugging Face's "gelu_new".
at::Tensor GeluNew(const at::Tensor& x);

}  // namespace vramscope::trainer
