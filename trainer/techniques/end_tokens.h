// End tokens in transformers' generate() (generation/utils.py of 4.51). After each new token,
// generate() determines which sequences have ended, and pads them until the last one ends. This
// code makes only the allocations for that, a few numbers per token, and computes no tokens.
#pragma once

#include <ATen/core/Tensor.h>

namespace vramscope::trainer {

class EndTokens {
 public:
  // The end token is also the padding token.
  explicit EndTokens(at::Device device);

  void Check() const;
  // Checks whether a prompt ends in padding, if there are several prompts.
  void CheckForPadding(const at::Tensor& ids) const;
  // Returns the mask of a prompt's tokens that are not padding.
  at::Tensor MaskOf(const at::Tensor& ids) const;
  // Returns the tokens `next`, in which finished sequences get the padding token.
  at::Tensor Padded(const at::Tensor& next, const at::Tensor& unfinished) const;
  // Returns a flag for each sequence: whether its last token is the end token.
  at::Tensor Ended(const at::Tensor& ids) const;

 private:
  at::Tensor end_, padding_;
};

}  // namespace vramscope::trainer
