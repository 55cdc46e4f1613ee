// `with torch.device("cuda")` around the creation of a model: each weight is created on the device,
// one after another, as with load=device. The own weight of a tied output layer is also created,
// and freed when it is tied.
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
      if (weight.name() == path + ".weight") return;  // not tied: it has its own weight
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
                     .why = "init_on_device: " + std::move(why),
                     .instead = {{"init_on_device", "false"}}};
  };
  return {
      .declaration =
          {.id = "init-on-device",
           .group = "Parameters",
           .title = "Making weights on the card",
           .explanation =
               "The model is made on the card (with torch.device(\"cuda\")) and not on the host: "
               "no "
               "copy of it is there and none is moved. A tied output layer's own weight is there "
               "until it is tied, and its segment stays.",
           .settings = {{.key = "init_on_device",
                         .help = "weights are made on the GPU, not on the CPU",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "false",
                         .choices = {{"false", ""}, {"true", "with torch.device(\"cuda\")"}}}},
           .toggles = {{.id = "init-on-device",
                        .title = "Make weights on the card",
                        .explanation = "no copy on the host; a tied output layer is there for a "
                                       "moment",
                        .on = {on},
                        .ways = {{{"init_on_device", "true"}}}}},
           .rules = {not_with({"load", false, {"device"}},
                              "weights that are made on the card are not moved or cast; set "
                              "load=device"),
                     not_with({"quantization", false, {"none"}},
                              "quantized weights are made of those that are moved; set "
                              "quantization=none"),
                     not_with({"shard.strategy", true, {"zero2", "zero3", "tensor"}},
                              "a rank's share is made of weights on the host; use "
                              "shard.strategy=ddp")},
           .assumes = {{.when = {on},
                        .what = "what buffers are computed from on the card (masks, frequencies; a "
                                "few MiB, gone at once) is not asked for"}}},
      .order = 16,
      .place = 47,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("init_on_device", "true")) return nullptr;
        return std::make_unique<InitOnDevice>();
      }};
}

}  // namespace vramscope::trainer
