// End tokens in transformers' generate() (generation/utils.py of 4.51). After each new token,
// generate() determines which sequences have ended, and pads them until the last one ends. Only
// these allocations are made, a few numbers per token. The tokens' values are not computed.
#pragma once

#include <ATen/core/Tensor.h>

namespace vramscope::trainer {

class EndTokens {
 public:
  // The end token is also the padding token.
  explicit EndTokens(at::Device device);

  void Check() const;
  // If there are several sequences, checks whether a prompt ends in padding.
  void CheckForPadding(const at::Tensor& ids) const;
  // The mask of a prompt's present tokens.
  at::Tensor MaskOf(const at::Tensor& ids) const;
  // Returns the tokens `next`, in which finished sequences get the padding token.
  at::Tensor Padded(const at::Tensor& next, const at::Tensor& unfinished) const;
  // Returns a flag for each sequence: whether its last token is the end token.
  at::Tensor Ended(const at::Tensor& ids) const;

 private:
  at::Tensor end_, padding_;
};

}  // namespace vramscope::trainer
