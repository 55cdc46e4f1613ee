#include "trainer/techniques/precision.h"

#include <ATen/autocast_mode.h>
#include <torch/types.h>

#include "trainer/capture/free_order.h"
#include "trainer/capture/scopes.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {

std::optional<AutocastState> AutocastScope::Current(c10::DeviceType device) {
  if (!at::autocast::is_autocast_enabled(device)) return std::nullopt;
  return AutocastState{.dtype = at::autocast::get_autocast_dtype(device),
                       .caches = at::autocast::is_autocast_cache_enabled()};
}

AutocastScope::AutocastScope(c10::DeviceType device, std::optional<AutocastState> state)
    : device_(device), active_(state.has_value()) {
  if (!active_) return;
  was_enabled_ = at::autocast::is_autocast_enabled(device_);
  old_dtype_ = at::autocast::get_autocast_dtype(device_);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::set_autocast_dtype(device_, state->dtype);
  at::autocast::increment_nesting();
  cached_ = at::autocast::is_autocast_cache_enabled();
  at::autocast::set_autocast_cache_enabled(state->caches);
}

AutocastScope::~AutocastScope() {
  if (!active_) return;
  if (at::autocast::decrement_nesting() == 0) {
    FreeOrderScope order;
    at::autocast::clear_cache();
  }
  at::autocast::set_autocast_enabled(device_, was_enabled_);
  at::autocast::set_autocast_dtype(device_, old_dtype_);
  at::autocast::set_autocast_cache_enabled(cached_);
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
  // PyTorch copies both tensors to each device, even to the device on which they already are.
  const auto replica = [](const at::Tensor& t) {
    return t.to(t.options(), /*non_blocking=*/true, /*copy=*/true);
  };
  found_inf_ = replica(found);
  at::Tensor its_inverse = replica(inverse);
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf_, its_inverse);
  its_inverse.reset();
  inverse.reset();
}

at::Tensor GradScaler::Inverse() const {
  at::Tensor wide = scale_.to(at::kDouble);
  at::Tensor reciprocal = wide.reciprocal();
  wide.reset();
  return reciprocal.to(at::kFloat);
}

// Not called if the optimizer's own kernel unscales the gradients.
void GradScaler::FindOverRanks() {
  if (sharing_ != nullptr) sharing_->OverflowsOverRanks(found_inf_);
}

void GradScaler::UnscaleFirst(const std::vector<at::Tensor>& gradients) {
  at::NoGradGuard no_grad;
  if (gradients.empty()) return;
  Unscale(gradients, Inverse());
  FindOverRanks();
  unscaled_ = true;
}

void GradScaler::Step(Optimizer& optimizer) {
  at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients = Gradients(optimizer);
  if (gradients.empty()) return;
  if (optimizer.TakesScaler()) {
    // Unscale() with factor 1 only checks for overflows. Then the optimizer's kernel unscales.
    if (!unscaled_) Unscale(gradients, Full(1, at::kFloat));
    const at::Tensor found = found_inf_ + 0;  // PyTorch sums the flags of all devices
    // As in PyTorch, the product is a new tensor, although the factor is 1.
    at::Tensor scale = unscaled_ ? at::Tensor() : scale_ * 1;
    optimizer.SetScaler({.grad_scale = std::move(scale), .found_inf = found});
    optimizer.Step();
    optimizer.SetScaler({});
    return;
  }
  if (!unscaled_) {
    Unscale(gradients, Inverse());
    FindOverRanks();
  }
  gradients.clear();
  if (found_inf_.item<float>() == 0) optimizer.Step();
}

void GradScaler::Update() {
  if (!scale_.defined() || !found_inf_.defined()) return;
  at::NoGradGuard no_grad;
  at::_amp_update_scale_(scale_, growth_tracker_, found_inf_, kGrowthFactor, kBackoffFactor,
                         kGrowthInterval);
  found_inf_.reset();
  unscaled_ = false;
}

namespace {

// Enables autocast, and does not change whether it caches casts.
class HeldAutocast final : public Held {
 public:
  HeldAutocast(c10::DeviceType device, at::ScalarType dtype)
      : scope_(device,
               AutocastState{.dtype = dtype, .caches = at::autocast::is_autocast_cache_enabled()}) {
  }

 private:
  AutocastScope scope_;
};

// 16-bit weights and arithmetic.
class HalfWeights final : public Technique {
 public:
  explicit HalfWeights(at::ScalarType dtype) : dtype_(dtype) {}
  void OnOptions(ModelOptions& options) override { options.dtype = dtype_; }

 private:
  at::ScalarType dtype_;
};

// Keeps fp32 weights and computes in 16 bits. With fp16, the loss is scaled.
class Autocast final : public Technique, public MeasuresGradients {
 public:
  explicit Autocast(at::ScalarType dtype) : dtype_(dtype) {}

  void Join(SharesTraining& sharing) override { sharing_ = &sharing; }

  std::unique_ptr<Held> AroundForward(const RunContext& run) override {
    return std::make_unique<HeldAutocast>(run.device.type(), dtype_);
  }
  void AfterSetUp(const RunContext& run, Model&, std::span<const at::Tensor>) override {
    if (scales()) scaler_.emplace(run.device).Share(sharing_);
  }
  at::Tensor BeforeBackward(const RunContext&, const at::Tensor& loss) override {
    return scaler_ ? scaler_->Scale(loss) : loss;
  }
  // Unscales the gradients before other techniques compute their norm.
  void BeforeStep(const RunContext& run, std::span<const at::Tensor> trained) override {
    if (!scaler_ || run.config.Is("clip_grad_norm", "0")) return;
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& parameter : trained) {
      if (parameter.grad().defined()) gradients.push_back(parameter.grad());
    }
    scaler_->UnscaleFirst(gradients);
  }
  std::function<void(Optimizer&)> AroundStep(std::function<void(Optimizer&)> inner) override {
    if (!scaler_) return inner;
    return [this](Optimizer& optimizer) {
      scaler_->Step(optimizer);
      scaler_->Update();
    };
  }
  void AfterRun() override { scaler_.reset(); }
  bool rehearses() const override { return !scales(); }  // the first step allocates the scale

 private:
  bool scales() const { return dtype_ == at::kHalf; }
  at::ScalarType dtype_;
  std::optional<GradScaler> scaler_;
  SharesTraining* sharing_ = nullptr;
};

run::Toggle Row(std::string id, std::string title, std::string explanation, const char* value) {
  return {.id = std::move(id),
          .title = std::move(title),
          .explanation = std::move(explanation),
          .on = {{"precision", true, {value}}},
          .ways = {{{"precision", value}}}};
}

}  // namespace

TechniqueEntry DeclareTechnique_precision() {
  return {
      .declaration =
          {.id = "precision",
           .group = "Precision",
           .title = "Precision",
           .explanation = "16-bit weights halve the memory of parameters, gradients and optimizer "
                          "state. Autocast keeps fp32 weights, computes most operators in 16 bits, "
                          "and keeps a 16-bit copy of the weights until the end of backward.",
           .settings = {{.key = "precision",
                         .help = "types of weights and arithmetic; amp-* keeps the weights in fp32 "
                                 "and uses autocast",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "fp32",
                         .choices = {{"fp32", ""},
                                     {"bf16", ""},
                                     {"fp16", ""},
                                     {"amp-bf16", ""},
                                     {"amp-fp16", ""}}}},
           .toggles = {Row("amp-bf16", "bf16 autocast", "fp32 weights, bf16 compute", "amp-bf16"),
                       Row("amp-fp16", "fp16 autocast", "fp16 compute, loss scaling", "amp-fp16"),
                       Row("bf16", "bf16 throughout", "weights and states in bf16", "bf16")},
           .implies = {"autocast has no effect on 16-bit weights",
                       "amp-fp16 scales the loss, as torch.amp.GradScaler does"}},
      .fit = {{.row = "amp-bf16", .changes = run::Changes::kRounding},
              {.row = "bf16", .changes = run::Changes::kRounding}},
      .order = 10,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        const std::string& name = config.Get("precision");
        if (name == "bf16") return std::make_unique<HalfWeights>(at::kBFloat16);
        if (name == "fp16") return std::make_unique<HalfWeights>(at::kHalf);
        if (name == "amp-bf16") return std::make_unique<Autocast>(at::kBFloat16);
        if (name == "amp-fp16") return std::make_unique<Autocast>(at::kHalf);
        return nullptr;
      }};
}

}  // namespace vramscope::trainer
