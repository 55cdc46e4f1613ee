// Functions for what several model families do before and after their layers.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "trainer/models/options.h"

namespace vramscope::trainer {

// Computes the cross entropy of rows of logits. If null, PyTorch's operator computes it.
using CrossEntropy = std::function<at::Tensor(const at::Tensor& logits, const at::Tensor& labels)>;

// Returns the mean cross entropy in fp32, where token i predicts token i + 1. Like versions of
// Hugging Face transformers, either pads the labels by one ignored token and shifts them (4.51,
// loss/loss_utils.py), or cuts off the logits of the last token. For kUpcastInModel, logits must be
// fp32.
at::Tensor ShiftedCrossEntropy(const at::Tensor& logits, const at::Tensor& labels,
                               LossPath path = LossPath::kLabelsShifted,
                               const CrossEntropy& cross_entropy = nullptr);

// The tanh approximation of GELU, made of elementary operators ("gelu_new" in Hugging Face).
at::Tensor GeluNew(const at::Tensor& x);

}  // namespace vramscope::trainer
