// How the weights get to the GPU: they are created there in their type, or moved and then cast.
#include <torch/types.h>

#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

// model.to(device) in fp32, then model.to(dtype) on the device: each tensor is replaced by its
// cast.
class CastOnDevice final : public Technique {
 public:
  void AfterLoad(const RunContext&, Model& model) override {
    for (Parameter* parameter : model.Parameters()) {
      if (parameter->spec().dtype == at::kFloat) continue;
      at::NoGradGuard no_grad;
      OwnerScope owner(parameter->name());
      CategoryScope category(trace::Category::kParameter);
      at::Tensor cast = parameter->tensor.to(parameter->spec().dtype);
      cast.set_requires_grad(parameter->trainable);
      TagStorage(cast, trace::Category::kParameter, "parameter");
      parameter->tensor = std::move(cast);
    }
  }
  std::optional<at::ScalarType> loads_as() const override { return at::kFloat; }
};

}  // namespace

TechniqueEntry DeclareTechnique_loading() {
  return {
      .declaration =
          {.id = "loading",
           .group = "Parameters",
           .title = "Loading",
           .explanation =
               "If weights are cast on the GPU, the fp32 weights are allocated there first, and "
               "their segments stay reserved. Weights that are created on the GPU, or cast before "
               "they are moved, use only the memory that they need.",
           .settings = {{.key = "load",
                         .help = "\"device\" creates weights on the GPU, in their final type. "
                                 "\"cast-on-device\" moves fp32 weights to the GPU and casts them "
                                 "there. \"cast-on-cpu\" casts weights, then moves them",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "device",
                         .choices = {{"device", "created on the GPU"},
                                     {"cast-on-device", "moved in fp32, cast on the GPU"},
                                     {"cast-on-cpu", "cast on the CPU, then moved"}}}},
           .toggles = {{.id = "cast-on-device",
                        .title = "Cast weights on the GPU",
                        .explanation = "weights are moved in fp32 and then cast: reserved memory "
                                       "stays twice as large as the cast weights need",
                        .on = {{"load", true, {"cast-on-device"}}},
                        .ways = {{{"load", "cast-on-device"}}}}},
           .rules = {{.when = {{"load", true, {"cast-on-device"}},
                               {"precision", true, {"fp32", "amp-bf16", "amp-fp16"}}},
                      .why = "load=cast-on-device has no effect, because these weights stay fp32",
                      .refuses = false}}},
      .order = 15,
      .place = 47,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("load", "cast-on-device")) return nullptr;
        return std::make_unique<CastOnDevice>();
      }};
}

}  // namespace vramscope::trainer
