// Parts of a layer that a technique may run differently. For example, the feed-forward part can be
// checkpointed separately.
//
//   hidden = RunPart(Part::kFeedForward, hidden, [this](const at::Tensor& x) {
//     return mlp_.Forward(x);
//   });
//
// Called on the loop's thread; the function may run again in backward, on autograd's thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace vramscope::trainer {

enum class Part : uint8_t { kAttention, kFeedForward };

using PartFunction = std::function<at::Tensor(const at::Tensor&)>;
using PartRunner =
    std::function<at::Tensor(Part part, const at::Tensor& input, const PartFunction& function)>;

// Calls `function`, through this thread's runner if there is one.
at::Tensor RunPart(Part part, const at::Tensor& input, const PartFunction& function);

// During its life, the parts of this thread go through `runner`, which must outlive it.
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
