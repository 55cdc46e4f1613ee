// Functions for what several model families do before and after their layers.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "trainer/models/options.h"

namespace vramscope::trainer {

// Computes the cross entropy of rows of logits. If it is null, PyTorch's operator is used.
using CrossEntropy = std::function<at::Tensor(const at::Tensor& logits, const at::Tensor& labels)>;

// Returns the mean cross entropy in fp32. The logits of token i predict token i + 1. As in
// transformers, either the labels are shifted and padded with an ignored token (4.51,
// loss/loss_utils.py), or the last token's logits are cut off. For kUpcastInModel, the logits must
// already be fp32.
at::Tensor ShiftedCrossEntropy(const at::Tensor& logits, const at::Tensor& labels,
                               LossPath path = LossPath::kLabelsShifted,
                               const CrossEntropy& cross_entropy = nullptr);

// The tanh approximation of GELU, made of elementary operators ("gelu_new" in Hugging Face).
at::Tensor GeluNew(const at::Tensor& x);

}  // namespace vramscope::trainer
