// AdamW with both moments in bfloat16 for weights of any type, like llama-recipes'
// AnyPrecisionAdamW. It calls PyTorch's operators for one parameter after another, without Kahan
// summation. Two optimizers of similar names have other defaults: torchdistx's class keeps the
// first moment in fp32, and transformers' optim="adamw_anyprecision" keeps both in fp32 (unless
// momentum_dtype and variance_dtype in optim_args change this).
#include <torch/types.h>

#include "trainer/capture/cancel.h"
#include "trainer/optimizers/group.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer::any_precision_optimizer_technique {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-8;

struct State {
  at::Tensor step, moment, variance;  // `step` is a tensor on the host
};

class AnyPrecisionAdam final : public Optimizer {
 public:
  AnyPrecisionAdam(const OptimizerConfig& config, std::vector<at::Tensor> parameters)
      : Optimizer(std::move(parameters), config.lr),
        weight_decay_(config.weight_decay),
        states_(parameters_.size()) {}

  void Step() override {
    at::NoGradGuard no_grad;
    // As in Python, this variable keeps its tensor until the next parameter replaces it.
    at::Tensor deviation;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (!parameters_[i].grad().defined()) continue;
      ThrowIfCancelled();
      const OwnerScope owner(StorageKey(parameters_[i]));
      Update(parameters_[i], states_[i], deviation);
    }
  }
  std::vector<at::Tensor> StateTensors() const override {
    std::vector<at::Tensor> out;
    for (const State& state : states_) {
      for (const at::Tensor& tensor : {state.step, state.moment, state.variance}) {
        if (tensor.defined()) out.push_back(tensor);
      }
    }
    return out;
  }

 private:
  void Update(at::Tensor& parameter, State& state, at::Tensor& deviation) const {
    if (!state.step.defined()) {
      const auto zeros = [&] { return at::zeros_like(parameter, at::kBFloat16); };
      state.step = MakeState(parameter, [] { return torch::tensor(0.0F); });
      state.moment = MakeState(parameter, zeros);
      state.variance = MakeState(parameter, zeros);
    }
    state.step.add_(1);
    const at::Tensor& gradient = parameter.grad();
    if (weight_decay_ != 0) parameter.mul_(1 - lr_ * weight_decay_);
    state.moment.mul_(kBeta1).add_(gradient, 1 - kBeta1);
    state.variance.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
    const at::Tensor size = lr_ / (1 - at::pow(kBeta1, state.step));
    const at::Tensor correction = (1 - at::pow(kBeta2, state.step)).sqrt();
    at::Tensor root = state.variance.sqrt();
    at::Tensor corrected = root / correction;
    root.reset();
    deviation = corrected.add_(kEps);
    parameter.addcdiv_(state.moment, deviation, -size.item<double>());
  }

  const double weight_decay_;
  std::vector<State> states_;
};

class AnyPrecision final : public Technique {
 public:
  explicit AnyPrecision(const run::RunConfig& config) : config_(OptimizerConfigOf(config)) {}
  std::unique_ptr<Optimizer> MakeOptimizer(const RunContext&,
                                           const std::vector<at::Tensor>& trained) override {
    return std::make_unique<AnyPrecisionAdam>(config_, trained);
  }

 private:
  const OptimizerConfig config_;
};

}  // namespace

TechniqueEntry DeclareTechnique_any_precision_optimizer() {
  return {.declaration =
              {.id = "any-precision-optimizer",
               .group = "Optimizer",
               .title = "AdamW with moments in bfloat16",
               .explanation =
                   "Both moments are stored in bfloat16 without scales, which takes half the "
                   "memory of fp32 moments. This is the AnyPrecisionAdamW of llama-recipes. "
                   "transformers' adamw_anyprecision keeps both moments in fp32, unless optim_args "
                   "sets momentum_dtype and variance_dtype. The step runs parameter by parameter, "
                   "with temporaries as large as the largest parameter.",
               .toggles = {{.id = "optimizer-16bit",
                            .title = "Adam's moments in bfloat16",
                            .explanation = "half the size of fp32, without scales",
                            .on = {{"optimizer.bits", true, {"16"}}},
                            .ways = {{{"optimizer.bits", "16"}}}}},
               .rules = {{.when = {{"optimizer.bits", true, {"16"}},
                                   {"optimizer.name", false, {"adamw"}}},
                          .why = "optimizer.bits=16 selects AnyPrecisionAdamW, a form of AdamW: "
                                 "set optimizer.name=adamw",
                          .instead = {{"optimizer.bits", "32"}}}}},
          .order = 43,
          .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
            if (!config.Is("optimizer.bits", "16")) return nullptr;
            return std::make_unique<AnyPrecision>(config);
          }};
}

}  // namespace vramscope::trainer::any_precision_optimizer_technique
