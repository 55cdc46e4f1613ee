// Functions that several model families use before and after their layers.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "trainer/models/options.h"

namespace vramscope::trainer {

// Computes the cross entropy of rows of logits; null: PyTorch's operator does.
using CrossEntropy = std::function<at::Tensor(const at::Tensor& logits, const at::Tensor& labels)>;

// Mean cross entropy of logits in fp32, in which token i predicts token i + 1. As in Hugging Face
// transformers, either the labels are padded by one ignored token and shifted (4.51,
// loss/loss_utils.py), or the last token's logits are cut off. kUpcastInModel: the logits are
// already fp32.
at::Tensor ShiftedCrossEntropy(const at::Tensor& logits, const at::Tensor& labels,
                               LossPath path = LossPath::kLabelsShifted,
                               const CrossEntropy& cross_entropy = nullptr);

// The tanh approximation of GELU in elementary operators ("gelu_new" in Hugging Face).
at::Tensor GeluNew(const at::Tensor& x);

}  // namespace vramscope::trainer
