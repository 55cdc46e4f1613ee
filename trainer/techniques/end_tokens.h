// What transformers' generate() does about an end token (generation/utils.py of 4.51): which
// sequences are finished is asked of each new token, and finished ones are padded until the last
// one ends. A few numbers a token; what the tokens are is not computed here.
#pragma once

#include <ATen/core/Tensor.h>

namespace vramscope::trainer {

class EndTokens {
 public:
  // Without a padding token of its own: the end token is it.
  explicit EndTokens(at::Device device);

  void Check() const;
  // Whether a prompt ends in padding, of several sequences.
  void LookForPadding(const at::Tensor& ids) const;
  // Which tokens of a prompt are there.
  at::Tensor MaskOf(const at::Tensor& ids) const;
  // `next`, padded where a sequence is finished.
  at::Tensor Padded(const at::Tensor& next, const at::Tensor& unfinished) const;
  // Which sequences end with their last token.
  at::Tensor Ended(const at::Tensor& ids) const;

 private:
  at::Tensor end_, padding_;
};

}  // namespace vramscope::trainer
