// Autocast and loss scaling, for the technique precision and for techniques that recompute parts of
// the model.
//
//   { AutocastScope autocast(device.type(), AutocastState{at::kBFloat16}); loss = forward(); }
//   GradScaler scaler(device);
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <optional>

#include "trainer/optimizers/optimizer.h"
#include "trainer/techniques/shares_training.h"

namespace vramscope::trainer {

// The arguments of torch.autocast.
struct AutocastState {
  at::ScalarType dtype = at::kBFloat16;
  bool caches = true;  // casts of weights are cached
};

// torch.autocast as a scope. With nullopt as `state`, the scope does nothing. The end of the
// outermost scope drops the cached casts of weights.
class AutocastScope {
 public:
  AutocastScope(c10::DeviceType device, std::optional<AutocastState> state);
  // Returns autocast's current state, or nullopt if autocast is off.
  static std::optional<AutocastState> Current(c10::DeviceType device);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  c10::DeviceType device_;
  bool active_;
  bool was_enabled_ = false;
  at::ScalarType old_dtype_ = at::kFloat;
  bool cached_ = true;
};

// torch.amp.GradScaler with its defaults: scale 2^16, doubled after 2000 steps without overflow. A
// step with an overflow is skipped, and halves the scale. The scaler makes its tensors at the same
// points of a step as PyTorch's.
class GradScaler {
 public:
  explicit GradScaler(c10::Device device) : device_(device) {}
  at::Tensor Scale(const at::Tensor& loss);
  // Like PyTorch's unscale_(). Call it before Step() if unscaled gradients are needed earlier.
  void UnscaleFirst(const std::vector<at::Tensor>& gradients);
  // Unscales the gradients unless UnscaleFirst() did, and steps unless a gradient has overflowed.
  // The tensor with the overflow flag lives until Update().
  void Step(Optimizer& optimizer);
  void Update();
  // Makes this scaler a ShardedGradScaler, for ranks that share gradients.
  void Share(SharesTraining* sharing) { sharing_ = sharing; }

 private:
  at::Tensor Full(double value, at::ScalarType dtype) const;
  std::vector<at::Tensor> Gradients(const Optimizer& optimizer) const;
  // Checks for overflows (found_inf_) and multiplies by `inverse`.
  void Unscale(const std::vector<at::Tensor>& gradients, at::Tensor inverse);
  at::Tensor Inverse() const;

  void FindOverRanks();

  c10::Device device_;
  bool unscaled_ = false;
  SharesTraining* sharing_ = nullptr;
  at::Tensor scale_, growth_tracker_, found_inf_;
};

}  // namespace vramscope::trainer
