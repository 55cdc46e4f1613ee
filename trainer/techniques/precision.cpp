#include "trainer/techniques/precision.h"

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include "trainer/capture/free_order.h"
#include "trainer/capture/scopes.h"

namespace vramscope::trainer {

PrecisionPlan PlanPrecision(run::Precision precision) {
  switch (precision) {
    case run::Precision::kFp32:
      return {};
    case run::Precision::kBf16:
      return {.weights = at::kBFloat16, .autocast = {}};
    case run::Precision::kFp16:
      return {.weights = at::kHalf, .autocast = {}};
    case run::Precision::kAmpBf16:
      return {.autocast = at::kBFloat16};
    case run::Precision::kAmpFp16:
      return {.autocast = at::kHalf, .scale_loss = true};
  }
  return {};
}

AutocastScope::AutocastScope(c10::DeviceType device, std::optional<at::ScalarType> dtype)
    : device_(device), active_(dtype.has_value()) {
  if (!active_) return;
  was_enabled_ = at::autocast::is_autocast_enabled(device_);
  old_dtype_ = at::autocast::get_autocast_dtype(device_);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::set_autocast_dtype(device_, *dtype);
  at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope() {
  if (!active_) return;
  if (at::autocast::decrement_nesting() == 0) {
    FreeOrderScope order;
    at::autocast::clear_cache();
  }
  at::autocast::set_autocast_enabled(device_, was_enabled_);
  at::autocast::set_autocast_dtype(device_, old_dtype_);
}

namespace {
constexpr double kInitialScale = 65536.0;
constexpr double kGrowthFactor = 2.0;
constexpr double kBackoffFactor = 0.5;
constexpr int64_t kGrowthInterval = 2000;
}  // namespace

at::Tensor GradScaler::Full(double value, at::ScalarType dtype) const {
  return at::full({}, value, at::TensorOptions().dtype(dtype).device(device_));
}

at::Tensor GradScaler::Scale(const at::Tensor& loss) {
  if (!scale_.defined()) {
    CategoryScope category(trace::Category::kBuffer);
    scale_ = Full(kInitialScale, at::kFloat);
    growth_tracker_ = Full(0, at::kInt);
  }
  return loss * scale_;
}

std::vector<at::Tensor> GradScaler::Gradients(const Optimizer& optimizer) const {
  std::vector<at::Tensor> out;
  for (const at::Tensor& parameter : optimizer.parameters()) {
    if (parameter.grad().defined()) out.push_back(parameter.grad());
  }
  return out;
}

void GradScaler::Unscale(const std::vector<at::Tensor>& gradients, at::Tensor inverse) {
  at::Tensor found = Full(0, at::kFloat);
  // PyTorch makes a copy of both for every device, the one that they are on included.
  const auto replica = [](const at::Tensor& t) {
    return t.to(t.options(), /*non_blocking=*/true, /*copy=*/true);
  };
  found_inf_ = replica(found);
  at::Tensor its_inverse = replica(inverse);
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf_, its_inverse);
  its_inverse.reset();
  inverse.reset();
}

void GradScaler::Step(Optimizer& optimizer) {
  at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients = Gradients(optimizer);
  if (gradients.empty()) return;
  if (optimizer.TakesScaler()) {
    // Only looks for overflows; the optimizer's kernel unscales.
    Unscale(gradients, Full(1, at::kFloat));
    optimizer.SetScaler({.grad_scale = scale_, .found_inf = found_inf_ + 0});
    optimizer.Step();
    optimizer.SetScaler({});
    return;
  }
  at::Tensor wide = scale_.to(at::kDouble);
  at::Tensor reciprocal = wide.reciprocal();
  wide.reset();
  at::Tensor inverse = reciprocal.to(at::kFloat);
  reciprocal.reset();
  Unscale(gradients, std::move(inverse));
  gradients.clear();
  if (found_inf_.item<float>() == 0) optimizer.Step();
}

void GradScaler::Update() {
  if (!scale_.defined() || !found_inf_.defined()) return;
  at::NoGradGuard no_grad;
  at::_amp_update_scale_(scale_, growth_tracker_, found_inf_, kGrowthFactor, kBackoffFactor,
                         kGrowthInterval);
  found_inf_.reset();
}

}  // namespace vramscope::trainer
