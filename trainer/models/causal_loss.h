// Functions that several model families share: the loss and an activation.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "trainer/models/options.h"

namespace vramscope::trainer {

// A function that computes the cross entropy of rows of logits. Null means PyTorch's operator.
using CrossEntropy = std::function<at::Tensor(const at::Tensor& logits, const at::Tensor& labels)>;

// Returns the mean cross entropy in fp32. The logits of token i predict token i + 1. For this,
// kLabelsShifted shifts the labels and pads them with an ignored token, as in transformers 4.51
// (loss/loss_utils.py). The other values of `path` cut off the last token's logits. For
// kUpcastInModel, the logits must already be fp32.
at::Tensor ShiftedCrossEntropy(const at::Tensor& logits, const at::Tensor& labels,
                               LossPath path = LossPath::kLabelsShifted,
                               const CrossEntropy& cross_entropy = nullptr);

// Returns the tanh approximation of GELU, computed with elementary operators ("gelu_new" in Hugging
// Face).
at::Tensor GeluNew(const at::Tensor& x);

}  // namespace vramscope::trainer
