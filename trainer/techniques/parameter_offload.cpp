// Keeps sharded state in host memory. The technique is implemented in sharding.cpp.
#include "trainer/techniques/host_step.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {

TechniqueEntry DeclareTechnique_parameter_offload() {
  const run::Condition on{"offload.parameters", true, {"cpu"}};
  return {
      .declaration =
          {.id = "parameter-offload",
           .group = "Offload",
           .title = "Shards on the host",
           .explanation =
               "Weights, gradients and optimizer state are in pinned host memory, and the "
               "optimizer's step runs on the host (CPUOffloadPolicy of FSDP2, CPUOffload of "
               "FSDP1). When a layer is gathered, this GPU's shard of its weights is copied to the "
               "GPU. When the layer's gradients are scattered, they are copied back to the host. "
               "This also works with one GPU (shard.ranks=1).",
           .settings = {{.key = "offload.parameters",
                         .help = "where the parameters of shard.strategy=zero2 or zero3 are kept",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "none",
                         .choices = {{"none", ""}, {"cpu", ""}}}},
           .toggles = {{.id = "offload-parameters",
                        .title = "Shards on the host",
                        .explanation = "weights, gradients and optimizer state are in host memory",
                        .on = {on},
                        .ways = {{{"offload.parameters", "cpu"}},
                                 {{"offload.parameters", "cpu"}, {"shard.strategy", "zero3"}}}}},
           .rules = {{.when = {on, {"shard.strategy", false, {"zero2", "zero3"}}},
                      .why = "offload.parameters=cpu needs fully_shard (shard.strategy=zero2 or "
                             "zero3), which also works on one GPU: set shard.strategy=zero3",
                      .instead = {{"shard.strategy", "zero3"}}},
                     {.when = {on,
                               {"shard.strategy", true, {"zero3", "zero2"}},
                               {"precision", true, {"amp-fp16"}}},
                      .why = "offload.parameters=cpu is not supported with precision=amp-fp16: the "
                             "gradient scaler checks for overflows on the GPU, but there are no "
                             "gradients on the GPU; use precision=amp-bf16",
                      .instead = {{"precision", "amp-bf16"}}}},
           .implies = {"optimizer state is in host memory with the parameters, and the optimizer's "
                       "step runs on the host"},
           .assumes = {{.when = {on}, .what = HostStepAssumption()}}},
      .order = 44,
      .make = nullptr};
}

}  // namespace vramscope::trainer
