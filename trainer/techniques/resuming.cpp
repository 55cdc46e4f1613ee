// Continues from a checkpoint: torch.load of model and optimizer, then load_state_dict of both.
#include <torch/types.h>

#include <span>
#include <vector>

#include "trainer/capture/cancel.h"
#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"
#include "trainer/optimizers/resumable.h"
#include "trainer/techniques/loop_technique.h"

namespace vramscope::trainer {
namespace {

using SavedTensor = Resumable::SavedTensor;

class Resuming final : public LoopTechnique {
 public:
  Resuming(bool to_gpu, bool keeps) : to_gpu_(to_gpu), keeps_(keeps) {}

  void AfterSetUp(const RunContext&, Model& model, std::span<const at::Tensor>) override {
    model_ = &model;
  }
  // The checkpoint is assumed to contain the same tensors as this run.
  void BeforeTraining(const RunContext& run, Optimizer* optimizer) override {
    const PhaseScope phase(trace::Phase::kLoad);
    const at::NoGradGuard no_grad;
    const std::vector<Parameter*> parameters = model_->Parameters();
    auto* resumable = dynamic_cast<Resumable*>(optimizer);
    const std::vector<SavedTensor> state =
        resumable != nullptr ? resumable->SavedState() : std::vector<SavedTensor>();
    std::vector<at::Tensor> weights, moments;
    {
      const AnnotationScope range("torch.load");
      for (const Parameter* parameter : parameters) {
        const CategoryScope category(trace::Category::kTemporary);
        const at::Tensor& tensor = parameter->tensor;
        weights.push_back(Loaded(run, run.measured ? tensor.detach().to(at::kCPU, false, true)
                                                   : OnHost(tensor, tensor.scalar_type())));
      }
      for (const SavedTensor& one : state) {
        const at::Tensor& like = one.parameter;
        const OwnerScope owner(StorageKey(like));
        const CategoryScope category(trace::Category::kOptimizerState);
        moments.push_back(Loaded(run, one.counter ? at::zeros({}, at::kFloat)
                                      : run.measured
                                          ? at::zeros_like(like, like.options().device(at::kCPU))
                                          : OnHost(like, like.scalar_type())));
      }
    }
    const AnnotationScope range("load_state_dict");
    for (size_t i = 0; i < weights.size(); ++i) parameters[i]->tensor.copy_(weights[i]);
    for (size_t i = 0; i < state.size(); ++i) {
      const OwnerScope owner(StorageKey(state[i].parameter));
      const CategoryScope category(trace::Category::kOptimizerState);
      if (!state[i].stays) moments[i] = moments[i].to(run.device);
      TagStorage(moments[i], trace::Category::kOptimizerState, "optimizer state");
    }
    if (!state.empty()) resumable->LoadState(std::move(moments));
    if (keeps_) kept_ = std::move(weights);
  }
  void AfterRun() override { kept_.clear(); }

 private:
  static at::Tensor OnHost(const at::Tensor& like, at::ScalarType type) {
    return at::empty(like.sizes(), type);
  }
  // Returns `host`, a tensor that was read from the file, on the device that map_location selects.
  at::Tensor Loaded(const RunContext& run, at::Tensor host) const {
    ThrowIfCancelled();
    return to_gpu_ ? host.to(run.device) : host;
  }

  const bool to_gpu_, keeps_;
  Model* model_ = nullptr;
  std::vector<at::Tensor> kept_;
};

}  // namespace

TechniqueEntry DeclareTechnique_resuming() {
  const run::Condition resumes{"resume.map_location", false, {"none"}};
  const auto not_with = [&](run::Condition other, std::string why, std::string value) {
    run::SettingValues instead{{other.key, std::move(value)}};
    return run::Rule{.when = {resumes, std::move(other)},
                     .why = "resume " + std::move(why),
                     .instead = std::move(instead)};
  };
  return {
      .declaration =
          {.id = "resuming",
           .group = "Loop",
           .title = "Resume from a checkpoint",
           .explanation = "torch.load loads model and optimizer before the first step. With "
                          "map_location=\"cuda\", or without map_location for a file that was "
                          "saved from a GPU, weights exist twice until the checkpoint is released. "
                          "With \"cpu\", the GPU gets only the restored tensors.",
           .settings =
               {{.key = "resume.map_location",
                 .help =
                     "whether a checkpoint is loaded before the first step, and where to: to the "
                     "host (\"cpu\") or to the GPU (\"cuda\"), like torch.load's map_location",
                 .kind = run::ValueKind::kChoice,
                 .default_value = "none",
                 .choices = {{"none", ""}, {"cpu", "to the host"}, {"cuda", "to the GPU"}},
                 .label = "map_location"},
                {.key = "resume.keeps",
                 .help = "a variable refers to the loaded checkpoint until the run ends",
                 .kind = run::ValueKind::kChoice,
                 .default_value = "false",
                 .choices = {{"false", ""}, {"true", ""}},
                 .label = "checkpoint kept"}},
           .toggles = {{.id = "resume-cpu",
                        .title = "Resume through the host",
                        .explanation =
                            "torch.load(map_location=\"cpu\"): no tensor is on the GPU twice",
                        .on = {{"resume.map_location", true, {"cpu"}}},
                        .ways = {{{"resume.map_location", "cpu"}}}},
                       {.id = "resume-cuda",
                        .title = "Resume through the GPU",
                        .explanation = "weights exist twice until the checkpoint is released",
                        .on = {{"resume.map_location", true, {"cuda"}}},
                        .ways = {{{"resume.map_location", "cuda"}}},
                        .controls = {"resume.keeps"}}},
           .rules =
               {not_with(
                    {"optimizer.name", false, {"adam", "adamw", "sgd"}},
                    "is only supported for the state of Adam and SGD: use optimizer.name=adamw",
                    "adamw"),
                not_with({"optimizer.bits", false, {"32"}},
                         "is only supported for optimizer state in the data type of the weights: "
                         "set optimizer.bits=32",
                         "32"),
                not_with({"optimizer.in_backward", true, {"true"}},
                         "is only supported for one optimizer of all parameters: set "
                         "optimizer.in_backward=false",
                         "false"),
                not_with(
                    {"offload.optimizer", false, {"none"}},
                    "is only supported for optimizer state on the GPU: set offload.optimizer=none",
                    "none"),
                not_with({"offload.parameters", true, {"cpu"}},
                         "is only supported for weights on the GPU: set offload.parameters=none",
                         "none"),
                not_with({"quantization", false, {"none"}},
                         "is only supported for unquantized weights: set quantization=none",
                         "none"),
                not_with({"shard.strategy", false, {"none", "ddp"}},
                         "is only supported for complete state dicts: use shard.strategy=ddp or "
                         "shard.strategy=none",
                         "none"),
                {.when = {resumes, {"model.family", true, {"basics"}}},
                 .why = "resume is not supported for the model \"basics\", whose script has its "
                        "own optimizer; set resume.map_location=none",
                 .instead = {{"resume.map_location", "none"}}},
                {.when = {{"resume.keeps", true, {"true"}},
                          {"resume.map_location", true, {"none"}}},
                 .why = "resume.keeps has no effect without resume.map_location",
                 .refuses = false}},
           .assumes = {{.when = {resumes},
                        .what = "reading files is assumed to take no time: the checkpoint is in "
                                "host memory when torch.load begins"}}},
      .order = 90,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (config.Is("resume.map_location", "none")) return nullptr;
        return std::make_unique<Resuming>(config.Is("resume.map_location", "cuda"),
                                          config.Is("resume.keeps", "true"));
      }};
}

}  // namespace vramscope::trainer
