// End tokens in transformers' generate() (generation/utils.py of 4.51). After each new token,
// finished sequences are found. Finished sequences are padded until the last sequence ends. Only
// the allocations are made, a few numbers per token; the tokens' values are not computed.
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
  // Returns the tokens `next`, with padding in place of those of finished sequences.
  at::Tensor Padded(const at::Tensor& next, const at::Tensor& unfinished) const;
  // Returns whether each sequence has ended with its last token.
  at::Tensor Ended(const at::Tensor& ids) const;

 private:
  at::Tensor end_, padding_;
};

}  // namespace vramscope::trainer
