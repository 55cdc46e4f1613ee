#include "trainer/techniques/end_tokens.h"

#include <torch/types.h>

namespace vramscope::trainer {

EndTokens::EndTokens(at::Device device)
    : end_(at::zeros({}, at::kLong).to(device).unsqueeze(0)), padding_(end_.select(0, 0)) {}

void EndTokens::Check() const {
  const auto any = [](const at::Tensor& found) { found.any().item<bool>(); };
  any(at::isin(end_, padding_));
  any(end_ < 0);
}

void EndTokens::CheckForPadding(const at::Tensor& ids) const {
  if (ids.size(0) == 1) return;
  const at::Tensor count = [&] { return (ids.select(1, -1) == padding_).sum(); }();
  (count > 0).item<bool>();
}

at::Tensor EndTokens::MaskOf(const at::Tensor& ids) const {
  const at::Tensor all = at::ones(ids.sizes(), ids.options());
  const at::Tensor there = [&] { return at::isin(ids, padding_).any(); }();
  const at::Tensor differs = [&] {
    const at::Tensor same = at::isin(end_, padding_).any();
    return same.bitwise_not();
  }();
  const at::Tensor known = there * differs;
  const at::Tensor unpadded = [&] { return ids.ne(padding_).to(at::kLong); }();
  const at::Tensor first = unpadded * known;
  const at::Tensor second = [&] { return all * known.bitwise_not(); }();
  return first + second;
}

at::Tensor EndTokens::Padded(const at::Tensor& next, const at::Tensor& unfinished) const {
  const at::Tensor open = next * unfinished;
  const at::Tensor ended = [&] { return padding_ * (1 - unfinished); }();
  return open + ended;
}

at::Tensor EndTokens::Ended(const at::Tensor& ids) const {
  return at::isin(ids.select(1, -1), end_);
}

}  // namespace vramscope::trainer
