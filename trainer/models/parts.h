// Parts of a layer that a technique may run differently. For example, the feed-forward part can be
// checkpointed separately.
//
//   hidden = RunPart(Part::kFeedForward, hidden, [this](const at::Tensor& x) {
//     return mlp_.Forward(x);
//   });
//
// RunPart is called on the loop's thread; the part may run again in backward, on autograd's thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace vramscope::trainer {

enum class Part : uint8_t { kAttention, kFeedForward };

using PartFunction = std::function<at::Tensor(const at::Tensor&)>;
using PartRunner =
    std::function<at::Tensor(Part part, const at::Tensor& input, const PartFunction& function)>;

// Runs `function`. If this thread has a PartRunner, that runner calls it.
at::Tensor RunPart(Part part, const at::Tensor& input, const PartFunction& function);

// Sets this thread's PartRunner while the scope exists. `runner` must outlive the scope.
class PartRunnerScope {
 public:
  explicit PartRunnerScope(const PartRunner* runner);
  ~PartRunnerScope();
  PartRunnerScope(const PartRunnerScope&) = delete;
  PartRunnerScope& operator=(const PartRunnerScope&) = delete;

 private:
  const PartRunner* outer_;
};

}  // namespace vramscope::trainer
