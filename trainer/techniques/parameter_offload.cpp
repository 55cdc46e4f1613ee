// Sharded state in host memory: declared here, implemented by sharding.cpp.
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
               "CPUOffloadPolicy of FSDP2, CPUOffload of FSDP1: weights, gradients and optimizer "
               "state live in pinned "
               "host memory and the step runs there. A layer's share is copied to the card when it "
               "is gathered, its gradients are copied back when they are scattered. One GPU alone "
               "does so as well (shard.ranks=1).",
           .settings = {{.key = "offload.parameters",
                         .help = "where the parameters of shard.strategy=zero2 or zero3 live",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "none",
                         .choices = {{"none", ""}, {"cpu", ""}}}},
           .toggles = {{.id = "offload-parameters",
                        .title = "Shards on the host",
                        .explanation = "weights, gradients and optimizer state leave the card",
                        .on = {on},
                        .ways = {{{"offload.parameters", "cpu"}},
                                 {{"offload.parameters", "cpu"}, {"shard.strategy", "zero3"}}}}},
           .rules =
               {{.when = {on, {"shard.strategy", false, {"zero2", "zero3"}}},
                 .why = "offload.parameters=cpu is the offload policy of fully_shard, which works "
                        "on one GPU as well: set shard.strategy=zero3",
                 .instead = {{"shard.strategy", "zero3"}}},
                {.when = {on,
                          {"shard.strategy", true, {"zero3", "zero2"}},
                          {"precision", true, {"amp-fp16"}}},
                 .why = "offload.parameters=cpu: the scaler of amp-fp16 looks for overflows on the "
                        "card, where no gradients are; use amp-bf16",
                 .instead = {{"precision", "amp-bf16"}}}},
           .implies = {"the optimizer's state is where the parameters are; it steps on the host"},
           .assumes = {{.when = {on}, .what = HostStepAssumption()}}},
      .order = 44,
      .make = nullptr};
}

}  // namespace vramscope::trainer
