// Adapters for whole layers instead of linear modules. Either each layer contains an adapter, which
// reads the layer's input, or the adapters form a tower, which reads the layers' outputs. The
// layers read nothing from the tower, so the layers need no backward.
#include <fmt/format.h>
#include <torch/types.h>

#include <memory>
#include <vector>

#include "profiler/run/model_config.h"
#include "trainer/models/layer_adapter.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

class LayerAdapters final : public Technique {
 public:
  LayerAdapters(const run::RunConfig& config, int64_t width)
      : width_(width),
        rank_(config.Integer("lora.rank")),
        scale_(config.Number("lora.alpha") / static_cast<double>(rank_)),
        tower_(config.Is("lora.placement", "tower")),
        caches_(tower_ && config.Is("lora.trunk", "cached")) {}

  void OnOptions(ModelOptions& options) override { dtype_ = options.dtype; }

  absl::Status OnModel(Model& model) override {
    const std::vector<LayerStack> stacks = model.Stacks();
    if (stacks.size() != 1 || width_ <= 0) {
      return absl::InvalidArgumentError(
          "lora.placement=layer-parallel and tower require a model with one stack of layers and a "
          "hidden_size; set lora.placement=weight");
    }
    for (Parameter* parameter : model.Parameters()) parameter->trainable = false;
    outputs_.resize(stacks.front().layers.size());
    for (size_t i = 0; i < stacks.front().layers.size(); ++i) {
      adapters_.push_back(static_cast<LayerAdapter*>(model.Adopt(std::make_unique<LayerAdapter>(
          fmt::format("adapters.{}", i),
          LayerAdapterOptions{.width = width_, .rank = rank_, .scale = scale_, .dtype = dtype_}))));
    }
    return absl::OkStatus();
  }

  LayerRunner AroundLayers(const RunContext&, Model&, LayerRunner inner) override {
    return [this, inner](at::Tensor hidden, const std::vector<LayerFunction>& layers,
                         const std::string& path, Carried& carried) {
      std::vector<LayerFunction> with;
      const size_t place = carried.size();  // index of the tower's state
      for (size_t i = 0; i < layers.size(); ++i) {
        LayerAdapter* adapter = adapters_[i];
        with.push_back(
            [this, i, layer = layers[i], adapter, place](const at::Tensor& x, Carried& now) {
              if (!tower_) {
                at::Tensor beside = adapter->Forward(x);
                at::Tensor out = layer(x, now);
                return beside + out;
              }
              at::Tensor out = Trunk(i, layer, x, now);
              at::Tensor& before = now[place];
              before = adapter->Forward(before.defined() ? out + before : out);
              return out;
            });
      }
      if (!tower_) return RunLayers(inner, std::move(hidden), with, path, carried);
      Carried more = carried;
      more.emplace_back();
      if (inner) {
        hidden = inner(std::move(hidden), with, path, more);
      } else {
        for (const LayerFunction& function : with) hidden = function(hidden, more);
      }
      return hidden + more.back();
    };
  }
  // The first step has cached the layers' outputs, so their weights are moved to the host.
  void AfterStep(const RunContext&, int step) override {
    if (!caches_ || step != 0) return;
    at::NoGradGuard no_grad;
    for (at::Tensor& weight : trunk_) weight.set_data(weight.to(at::kCPU));
  }
  void AfterSetUp(const RunContext&, Model& model, std::span<const at::Tensor>) override {
    if (!caches_) return;
    for (const Parameter* parameter : model.Parameters()) {
      if (parameter->trainable || parameter->name().find("layer") == std::string::npos) continue;
      trunk_.push_back(parameter->tensor);
    }
  }
  void AfterRun() override {
    trunk_.clear();
    for (at::Tensor& output : outputs_) output.reset();
  }
  // An adapter depends on its layer's index, and a rehearsal with fewer layers changes the indices.
  bool rehearses() const override { return false; }
  bool repeats() const override { return !caches_; }

 private:
  // Returns the output of a frozen layer. If outputs are cached on the host, computes it only once.
  at::Tensor Trunk(size_t i, const LayerFunction& layer, const at::Tensor& x, Carried& now) {
    at::Tensor& kept = outputs_[i];
    if (caches_ && kept.defined()) return kept.to(x.device(), /*non_blocking=*/true);
    at::Tensor out = layer(x, now);
    if (!caches_) return out;
    kept = at::empty(out.sizes(), out.options().device(at::kCPU).pinned_memory(true));
    kept.copy_(out.detach());
    return out;
  }

  const int64_t width_, rank_;
  const double scale_;
  const bool tower_, caches_;
  at::ScalarType dtype_ = at::kFloat;
  std::vector<LayerAdapter*> adapters_;
  std::vector<at::Tensor> outputs_;  // outputs of each layer of the trunk, in host memory
  std::vector<at::Tensor> trunk_;    // weights
};

}  // namespace

TechniqueEntry DeclareTechnique_layer_adapters() {
  return {
      .declaration =
          {.id = "layer-adapters",
           .group = "Parameters",
           .title = "Adapters for whole layers",
           .explanation =
               "Each layer as a whole gets one adapter, instead of one adapter for each linear "
               "module. If the adapter is inside the layer, the backward pass still runs "
               "through the frozen trunk, to compute the gradients of its inputs. If the adapters "
               "form a separate tower, nothing is passed "
               "back to the layers, so the trunk keeps no activations.",
           .settings =
               {{.key = "lora.placement",
                 .help =
                     "where the LoRA adapters are: on selected linear layers (\"weight\"), in each "
                     "layer of the model (\"layer-parallel\"), or in a separate tower (\"tower\")",
                 .kind = run::ValueKind::kChoice,
                 .default_value = "weight",
                 .choices = {{"weight", "on linear layers"},
                             {"layer-parallel", "in each layer"},
                             {"tower", "a tower"}}},
                {.key = "lora.trunk",
                 .help = "for lora.placement=tower: when the frozen trunk runs. \"runs\": for each "
                         "batch. \"cached\": only in the first step, which stores the outputs of "
                         "the trunk's layers in host memory. Later steps use the stored outputs, "
                         "as in later epochs",
                 .kind = run::ValueKind::kChoice,
                 .default_value = "runs",
                 .choices = {{"runs", ""}, {"cached", ""}},
                 .label = "trunk"}},
           .toggles = {{.id = "adapter-layer",
                        .title = "Adapters in each layer",
                        .explanation = "trains a low-rank adapter in parallel to each layer",
                        .on = {{"lora.placement", true, {"layer-parallel"}},
                               {"lora.rank", false, {"0"}}},
                        .ways = {{{"lora.placement", "layer-parallel"}, {"lora.rank", "8"}}},
                        .controls = {"lora.rank"}},
                       {.id = "adapter-tower",
                        .title = "Adapter tower",
                        .explanation = "the trunk keeps nothing for backward",
                        .on = {{"lora.placement", true, {"tower"}}, {"lora.rank", false, {"0"}}},
                        .ways = {{{"lora.placement", "tower"}, {"lora.rank", "8"}}},
                        .controls = {"lora.rank", "lora.trunk"}}},
           .rules =
               {{.when = {{"lora.trunk", true, {"cached"}}, {"lora.placement", false, {"tower"}}},
                 .why = "lora.trunk=cached needs a trunk that does not depend on the adapters: set "
                        "lora.placement=tower",
                 .instead = {{"lora.trunk", "runs"}}},
                {.when = {{"lora.trunk", true, {"cached"}}, {"backend", true, {"cpu", "cuda"}}},
                 .why = "lora.trunk=cached is only supported for plans, because in real runs the "
                        "second epoch has other data than the first; use backend=plan",
                 .instead = {{"lora.trunk", "runs"}}},
                {.when = {{"lora.trunk", true, {"cached"}}, {"micro_batches", false, {"1"}}},
                 .why = "lora.trunk=cached is only supported without micro-batches: set "
                        "micro_batches=1",
                 .instead = {{"lora.trunk", "runs"}}},
                {.when = {{"lora.trunk", true, {"cached"}},
                          {"checkpointing.mode", false, {"none"}}},
                 .why =
                     "lora.trunk=cached leaves nothing to recompute: set checkpointing.mode=none",
                 .instead = {{"checkpointing.mode", "none"}}},
                {.when = {{"lora.trunk", true, {"cached"}}, {"lengths", false, {""}}},
                 .why = "lora.trunk=cached needs batches of equal length: leave the setting "
                        "\"lengths\" empty",
                 .instead = {{"lengths", ""}}},
                {.when = {{"lora.trunk", true, {"cached"}}, {"eval", false, {"none"}}},
                 .why = "lora.trunk=cached is not supported with evaluation, which needs the trunk "
                        "on the GPU: set eval=none",
                 .instead = {{"eval", "none"}}},
                {.when = {{"lora.trunk", true, {"cached"}}, {"generate.tokens", false, {"0"}}},
                 .why = "lora.trunk=cached is not supported with generation, which needs the trunk "
                        "on the GPU: set generate.tokens=0",
                 .instead = {{"generate.tokens", "0"}, {"mode", "train"}}},
                {.when = {{"lora.trunk", true, {"cached"}}, {"samples.file", false, {""}}},
                 .why = "lora.trunk=cached needs batches of equal length: leave the setting "
                        "\"samples.file\" empty",
                 .instead = {{"samples.file", ""}}},
                {.when = {{"lora.placement", true, {"layer-parallel", "tower"}},
                          {"lora.rank", true, {"0"}}},
                 .why = "lora.placement has no effect without adapters, and lora.rank is 0: set "
                        "lora.rank=8",
                 .instead = {{"lora.rank", "8"}}},
                {.when = {{"lora.placement", true, {"layer-parallel", "tower"}},
                          {"lora.kind", false, {"lora"}}},
                 .why = "lora.placement=layer-parallel and lora.placement=tower support only one "
                        "kind of adapter: set lora.kind=lora",
                 .instead = {{"lora.kind", "lora"}}},
                {.when = {{"lora.placement", true, {"layer-parallel", "tower"}},
                          {"model.family", true, {"t5", "torch_transformer", "vit", "basics", ""}}},
                 .why = "lora.placement=layer-parallel and lora.placement=tower require a model "
                        "with a single stack of layers that process tokens. For "
                        "torch.nn.Transformer, use a preset with built-in adapters",
                 .instead = {{"lora.placement", "weight"}}},
                {.when = {{"lora.placement", true, {"layer-parallel", "tower"}},
                          {"shard.strategy", false, {"none"}}},
                 .why = "lora.placement=layer-parallel and lora.placement=tower are only supported "
                        "on one GPU: set shard.strategy=none",
                 .instead = {{"shard.ranks", "1"}, {"shard.strategy", "none"}}},
                {.when = {{"lora.placement", true, {"layer-parallel", "tower"}},
                          {"quantization", false, {"none"}}},
                 .why = "lora.placement=layer-parallel and lora.placement=tower are only supported "
                        "for unquantized weights: set quantization=none",
                 .instead = {{"quantization", "none"}}},
                {.when = {{"lora.placement", true, {"layer-parallel", "tower"}},
                          {"trainable", false, {"all"}}},
                 .why = "the adapters have already frozen the weights",
                 .refuses = false}}},
      .order = 28,  // outside of checkpointing, which runs the layers with their adapters
      .place = 41,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (config.Is("lora.placement", "weight") || config.Integer("lora.rank") == 0) {
          return nullptr;
        }
        const auto model = run::ParseModelConfig(config.model_config_json);
        return std::make_unique<LayerAdapters>(config, model.ok() ? model->hidden_size : 0);
      }};
}

}  // namespace vramscope::trainer
