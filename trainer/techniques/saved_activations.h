// The base class of techniques that change how autograd keeps saved tensors. The model's own
// tensors, and tensors for which IsWorthIt() is false, are saved unchanged.
//
//   class OnHost : public SavedActivations {
//     bool IsWorthIt(const at::Tensor& tensor) const override { return tensor.nbytes() >= 1024; }
//     std::unique_ptr<PackedTensor> Pack(const at::Tensor& tensor) override { ... }
//   };
#pragma once

#include <unordered_set>

#include "trainer/capture/taps.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {

class SavedActivations : public Technique, public SavedTensorPacker {
 public:
  void AfterSetUp(const RunContext&, Model& model, std::span<const at::Tensor>) override;
  std::unique_ptr<Held> AroundForward(const RunContext&) override;

 protected:
  virtual bool IsWorthIt(const at::Tensor& tensor) const = 0;

 private:
  bool Takes(const at::Tensor& tensor) const override;

  std::unordered_set<uint64_t> stays_;  // storages of parameters and buffers
};

}  // namespace vramscope::trainer
