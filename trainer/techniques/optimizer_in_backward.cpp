// The optimizer's step inside backward: each parameter is updated as soon as its gradient is
// complete, and the gradient is then freed. So only one gradient exists at a time.
#include <torch/types.h>

#include <unordered_map>

#include "trainer/capture/scopes.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

using Optimizers = std::vector<std::unique_ptr<Optimizer>>;  // one per parameter

// The optimizer that the loop calls after backward, whose step does nothing.
class Done final : public Optimizer {
 public:
  Done(std::vector<at::Tensor> parameters, const Optimizers& each)
      : Optimizer(std::move(parameters), 0), each_(each) {}
  void Step() override {}
  void SetLearningRate(double lr) override {
    for (const auto& optimizer : each_) optimizer->SetLearningRate(lr);
  }
  std::vector<at::Tensor> StateTensors() const override {
    std::vector<at::Tensor> out;
    for (const auto& optimizer : each_) {
      for (const at::Tensor& tensor : optimizer->StateTensors()) out.push_back(tensor);
    }
    return out;
  }

 private:
  const Optimizers& each_;
};

class OptimizerInBackward final : public Technique {
 public:
  std::unique_ptr<Optimizer> DivideOptimizer(const MakeOptimizerOf& make,
                                             const std::vector<at::Tensor>& trained) override {
    for (const at::Tensor& parameter : trained) {
      index_[parameter.unsafeGetTensorImpl()] = optimizers_.size();
      optimizers_.push_back(make({parameter}));
    }
    return std::make_unique<Done>(trained, optimizers_);
  }
  void OnGradient(const at::Tensor& parameter) override {
    const auto at = index_.find(parameter.unsafeGetTensorImpl());
    if (at == index_.end()) return;
    optimizers_[at->second]->Step();
    optimizers_[at->second]->ZeroGrad(ZeroGradMode::kNone);
  }
  bool steps_in_backward() const override { return true; }
  // Micro-batches differ: only the first backward allocates the state.
  bool repeats() const override { return false; }
  void AfterRun() override {
    optimizers_.clear();
    index_.clear();
  }

 private:
  Optimizers optimizers_;
  std::unordered_map<const at::TensorImpl*, size_t> index_;
};

}  // namespace

TechniqueEntry DeclareTechnique_optimizer_in_backward() {
  return {
      .declaration =
          {.id = "optimizer-in-backward",
           .group = "Optimizer",
           .title = "Step inside backward",
           .explanation = "Each parameter is updated when its gradient is complete, and the "
                          "gradient is then freed. Gradients need memory only for the largest "
                          "parameter, not for all parameters.",
           .settings =
               {{.key = "optimizer.in_backward",
                 .help = "update each parameter in backward, as soon as its gradient is complete",
                 .kind = run::ValueKind::kChoice,
                 .default_value = "false",
                 .choices = {{"false", ""}, {"true", ""}}}},
           .toggles = {{.id = "optimizer-in-backward",
                        .title = "Step inside backward",
                        .explanation = "each gradient is freed as soon as it is used",
                        .on = {{"optimizer.in_backward", true, {"true"}}},
                        .ways = {{{"optimizer.in_backward", "true"}}}}},
           .rules =
               {{.when = {{"optimizer.in_backward", true, {"true"}},
                          {"micro_batches", false, {"1"}}},
                 .why =
                     "optimizer.in_backward is not supported with micro-batches, because gradients "
                     "that are used immediately can't be accumulated; set micro_batches=1",
                 .instead = {{"optimizer.in_backward", "false"}}},
                {.when = {{"optimizer.in_backward", true, {"true"}},
                          {"precision", true, {"amp-fp16"}}},
                 .why = "optimizer.in_backward is not supported with precision=amp-fp16, because a "
                        "scaled loss needs all gradients before the step; use precision=amp-bf16",
                 .instead = {{"optimizer.in_backward", "false"}}},
                {.when = {{"optimizer.in_backward", true, {"true"}},
                          {"clip_grad_norm", false, {"0"}}},
                 .why = "optimizer.in_backward is not supported with clip_grad_norm, because the "
                        "norm needs all gradients at once; set clip_grad_norm=0",
                 .instead = {{"optimizer.in_backward", "false"}}},
                {.when = {{"optimizer.in_backward", true, {"true"}},
                          {"loss", true, {"chunked"}},
                          {"loss_reentrant", true, {"true"}}},
                 .why = "optimizer.in_backward is not supported with loss=chunked and re-entrant "
                        "checkpoints: every chunk adds to the output layer's gradient, which is "
                        "complete only after the last chunk; set loss_reentrant=false",
                 .instead = {{"loss_reentrant", "false"}}},
                {.when = {{"optimizer.in_backward", true, {"true"}}, {"zero_grad", true, {"zero"}}},
                 .why = "optimizer.in_backward frees gradients; set zero_grad=none",
                 .instead = {{"optimizer.in_backward", "false"}}}}},
      .fit = {{.row = "optimizer-in-backward"}},
      .order = 45,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("optimizer.in_backward", "true")) return nullptr;
        return std::make_unique<OptimizerInBackward>();
      }};
}

}  // namespace vramscope::trainer
