// Saves model and optimizer after each step, as torch.save does with both state_dicts.
#include <torch/types.h>

#include "trainer/capture/cancel.h"
#include "trainer/capture/scopes.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

class Saving final : public Technique {
 public:
  std::function<void(Optimizer&)> AroundStep(std::function<void(Optimizer&)> inner) override {
    return [this, inner = std::move(inner)](Optimizer& optimizer) {
      optimizer_ = &optimizer;
      inner(optimizer);
    };
  }
  void AfterSetUp(const RunContext&, Model& model, std::span<const at::Tensor>) override {
    model_ = &model;
  }
  // torch.save copies one storage after another to pageable host memory, writes each copy to the
  // file and then frees it. This function makes the copies, but writes no file.
  void AfterStep(const RunContext&, int) override {
    const PhaseScope phase(trace::Phase::kSave);
    at::NoGradGuard no_grad;
    for (const Parameter* parameter : model_->Parameters()) ToHost(parameter->tensor);
    if (optimizer_ == nullptr) return;
    for (const at::Tensor& tensor : optimizer_->StateTensors()) ToHost(tensor);
  }
  void AfterRun() override { optimizer_ = nullptr; }

 private:
  static void ToHost(const at::Tensor& tensor) {
    ThrowIfCancelled();
    const at::Tensor host = tensor.detach().to(at::kCPU);
  }

  Model* model_ = nullptr;
  Optimizer* optimizer_ = nullptr;
};

}  // namespace

TechniqueEntry DeclareTechnique_saving() {
  return {
      .declaration =
          {.id = "saving",
           .group = "Loop",
           .title = "Checkpoints on disk",
           .explanation = "torch.save writes model and optimizer after each step, and copies the "
                          "tensors to the host one after another. The GPU needs no memory for "
                          "this, but waits until all bytes have been copied.",
           .settings = {{.key = "save",
                         .help = "save the state of model and optimizer with torch.save",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "none",
                         .choices = {{"none", ""}, {"step", "after each step"}}}},
           .toggles = {{.id = "save-step",
                        .title = "Save after each step",
                        .explanation = "needs no GPU memory, but the copies take time",
                        .on = {{"save", true, {"step"}}},
                        .ways = {{{"save", "step"}}}}},
           .rules =
               {{.when = {{"save", true, {"step"}},
                          {"shard.strategy", true, {"zero2", "zero3", "tensor"}}},
                 .why = "save=step is only supported for complete state dicts, not for the "
                        "state dicts of sharded runs: set save=none",
                 .instead = {{"shard.strategy", "none"}}},
                {.when = {{"save", true, {"step"}}, {"offload.parameters", true, {"cpu"}}},
                 .why = "save=step is only supported for weights on the GPU: set save=none",
                 .instead = {{"offload.parameters", "none"}}},
                {.when = {{"save", true, {"step"}}, {"mode", false, {"train"}}},
                 .why = "save has no effect without training, because there is nothing new to save",
                 .refuses = false}},
           .assumes = {{.when = {{"save", true, {"step"}}},
                        .what = "writing files is assumed to take no time: torch.save copies the "
                                "tensors to the host, but no file is written"}}},
      .order = 91,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("save", "step")) return nullptr;
        return std::make_unique<Saving>();
      }};
}

}  // namespace vramscope::trainer
