// Creates the model under `with torch.device("cuda")`: one weight after another is created on the
// device, as with load=device. A tied output layer first gets its own weight, which tying the layer
// then frees.
#include <torch/types.h>

#include "trainer/capture/scopes.h"
#include "trainer/models/layers.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

class InitOnDevice final : public Technique {
 public:
  void AfterLoad(const RunContext& run, Model& model) override {
    model.Visit([&](Module& module, const std::string& path) {
      const auto* linear = dynamic_cast<Linear*>(&module);
      if (linear == nullptr || linear->weight() == nullptr) return;
      const Parameter& weight = *linear->weight();
      if (weight.name() == path + ".weight") return;  // has its own weight, so is not tied
      const OwnerScope owner(path + ".weight");
      const CategoryScope category(trace::Category::kParameter);
      at::empty(weight.spec().shape,
                at::TensorOptions().dtype(weight.spec().dtype).device(run.device));
    });
  }
};

}  // namespace

TechniqueEntry DeclareTechnique_init_on_device() {
  const run::Condition on{"init_on_device", true, {"true"}};
  const auto not_with = [&](const run::Condition& other, std::string why) {
    return run::Rule{.when = {on, other},
                     .why = "init_on_device " + std::move(why),
                     .instead = {{"init_on_device", "false"}}};
  };
  return {
      .declaration =
          {.id = "init-on-device",
           .group = "Parameters",
           .title = "Creating weights on the GPU",
           .explanation = "The model is created on the GPU (with torch.device(\"cuda\")) instead "
                          "of the host, so there is no host copy to move. If the output layer is "
                          "tied to the embedding, it has its own weight at first. The segment of "
                          "this weight stays reserved after the layer is tied.",
           .settings = {{.key = "init_on_device",
                         .help = "weights are created on the GPU, not on the CPU",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "false",
                         .choices = {{"false", ""}, {"true", "with torch.device(\"cuda\")"}}}},
           .toggles = {{.id = "init-on-device",
                        .title = "Create weights on the GPU",
                        .explanation = "no copy of the weights on the host; a tied output layer "
                                       "has its own weight until it is tied to the embedding",
                        .on = {on},
                        .ways = {{{"init_on_device", "true"}}}}},
           .rules = {not_with({"load", false, {"device"}},
                              "creates weights on the GPU, so weights are not moved or cast; set "
                              "load=device"),
                     not_with({"quantization", false, {"none"}},
                              "is not supported for quantized weights, because weights are "
                              "quantized when they are moved to the GPU; set quantization=none"),
                     not_with({"shard.strategy", true, {"zero2", "zero3", "tensor"}},
                              "is not supported with this shard.strategy, because each rank copies "
                              "its part from weights on the host; use shard.strategy=ddp")},
           .assumes =
               {{.when = {on},
                 .what =
                     "the plan does not allocate the temporaries from which buffers (such as masks "
                     "and frequencies) are computed on the GPU. These temporaries take a few MiB "
                     "and are freed immediately"}}},
      .order = 16,
      .place = 47,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("init_on_device", "true")) return nullptr;
        return std::make_unique<InitOnDevice>();
      }};
}

}  // namespace vramscope::trainer
