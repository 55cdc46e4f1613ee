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
  Resuming(bool to_card, bool keeps) : to_card_(to_card), keeps_(keeps) {}

  void AfterSetUp(const RunContext&, Model& model, std::span<const at::Tensor>) override {
    model_ = &model;
  }
  // The checkpoint is assumed to be of this run before its first step.
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
  // A storage of the file, on the device that map_location names.
  at::Tensor Loaded(const RunContext& run, at::Tensor host) const {
    ThrowIfCancelled();
    return to_card_ ? host.to(run.device) : host;
  }

  const bool to_card_, keeps_;
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
           .explanation =
               "torch.load of model and optimizer before the first step. With "
               "map_location=\"cuda\", as with none where the file was saved from a card, weights "
               "are there twice until the checkpoint is let go; with \"cpu\" the card sees nothing "
               "of it but what it needs.",
           .settings = {{.key = "resume.map_location",
                         .help = "a checkpoint is loaded before the first step, to the host (cpu) "
                                 "or to the card (cuda), as map_location says",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "none",
                         .choices = {{"none", ""}, {"cpu", "by the host"}, {"cuda", "by the card"}},
                         .label = "map_location"},
                        {.key = "resume.keeps",
                         .help = "the loaded checkpoint is named until the run ends",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "false",
                         .choices = {{"false", ""}, {"true", ""}},
                         .label = "checkpoint kept"}},
           .toggles = {{.id = "resume-cpu",
                        .title = "Resume by the host",
                        .explanation = "torch.load(map_location=\"cpu\"): nothing twice",
                        .on = {{"resume.map_location", true, {"cpu"}}},
                        .ways = {{{"resume.map_location", "cpu"}}}},
                       {.id = "resume-cuda",
                        .title = "Resume by the card",
                        .explanation = "weights twice until the checkpoint goes",
                        .on = {{"resume.map_location", true, {"cuda"}}},
                        .ways = {{{"resume.map_location", "cuda"}}},
                        .controls = {"resume.keeps"}}},
           .rules =
               {not_with({"optimizer.name", false, {"adam", "adamw", "sgd"}},
                         "is planned of Adam's and SGD's state: use optimizer.name=adamw", "adamw"),
                not_with({"optimizer.bits", false, {"32"}},
                         "is planned of state in the weights' type: set optimizer.bits=32", "32"),
                not_with({"optimizer.in_backward", true, {"true"}},
                         "is planned of one optimizer: set optimizer.in_backward=false", "false"),
                not_with({"offload.optimizer", false, {"none"}},
                         "is planned of state on the card: set offload.optimizer=none", "none"),
                not_with({"offload.parameters", true, {"cpu"}},
                         "is planned of weights on the card: set offload.parameters=none", "none"),
                not_with({"quantization", false, {"none"}},
                         "is planned of weights as they are saved: set quantization=none", "none"),
                not_with({"shard.strategy", false, {"none", "ddp"}},
                         "is planned of whole state dicts: use shard.strategy=ddp, or none",
                         "none"),
                {.when = {resumes, {"model.family", true, {"basics"}}},
                 .why = "resume is not planned of the basics model, whose script brings an "
                        "optimizer of its own",
                 .instead = {{"resume.map_location", "none"}}},
                {.when = {{"resume.keeps", true, {"true"}},
                          {"resume.map_location", true, {"none"}}},
                 .why = "resume.keeps without resume.map_location does nothing",
                 .refuses = false}},
           .assumes = {{.when = {resumes},
                        .what = "the file system takes no time: the checkpoint is in the host's "
                                "memory when torch.load begins"}}},
      .order = 90,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (config.Is("resume.map_location", "none")) return nullptr;
        return std::make_unique<Resuming>(config.Is("resume.map_location", "cuda"),
                                          config.Is("resume.keeps", "true"));
      }};
}

}  // namespace vramscope::trainer
