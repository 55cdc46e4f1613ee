#include "profiler/fit/moves.h"

#include <fmt/format.h>

#include "profiler/run/check_run.h"

namespace vramscope::fit {
namespace {

// All that the keys can say. What this version or this model does not have falls out when it is
// set.
std::vector<Move> AllMoves(const run::RunConfig& config) {
  std::vector<Move> moves = {
      {"fused",
       "step",
       "Fused optimizer",
       {{"optimizer.impl", "fused"}},
       "the step makes no copies of what trains"},
      {"in-backward",
       "step",
       "Step inside backward",
       {{"optimizer.in_backward", "true"}},
       "each gradient is used and freed as soon as it is there"},
      {"efficient",
       "attention",
       "Memory-efficient attention",
       {{"attention", "efficient"}},
       "no matrix of scores is kept"},
      {"flash",
       "attention",
       "Flash attention",
       {{"attention", "flash"}},
       "no matrix of scores is kept"},
      {"amp-bf16",
       "precision",
       "bf16 autocast",
       {{"precision", "amp-bf16"}},
       "matrices are multiplied in 16 bit, activations are about half as large; weights stay fp32"},
      {"bf16",
       "precision",
       "bf16 throughout",
       {{"precision", "bf16"}},
       "weights, gradients, optimizer state and activations are half as large; updates round to "
       "bf16"},
      {"checkpoint-layer",
       "checkpointing",
       "Checkpoint every layer",
       {{"checkpointing.mode", "layer"}},
       "only the layers' inputs are kept, the rest is computed again in backward"},
      {"checkpoint-alternate",
       "checkpointing",
       "Checkpoint every second layer",
       {{"checkpointing.mode", "alternate"}},
       "half of the layers keep their input alone"},
      {"chunked-loss",
       "loss",
       "Loss in chunks",
       {{"loss", "chunked"}},
       "logits exist for a part of the tokens at a time"},
      {"adam-8bit",
       "state",
       "8-bit optimizer state",
       {{"optimizer.bits", "8"}},
       "a byte a moment and a scale a block, in place of the weight's type"},
      {"offload-optimizer",
       "state",
       "Optimizer state on the CPU",
       {{"offload.optimizer", "cpu"}},
       "the state leaves the GPU, at the price of copies each step",
       false,
       true},
      {"offload-activations",
       "activations",
       "Activations on the CPU",
       {{"offload.activations", "cpu"}},
       "what backward needs waits in the host's memory",
       false,
       true},
      {"int8-activations",
       "activations",
       "Activations in int8",
       {{"activation_compression", "int8"}},
       "what backward needs is kept in a byte an element",
       false,
       true},
      {"expandable",
       "allocator",
       "Expandable segments",
       {{"alloc_conf", "expandable_segments:True"}},
       "segments grow: less is held between blocks"},
      {"lora",
       "adapters",
       "LoRA, rank 16",
       {{"lora.rank", "16"}, {"lora.alpha", "32"}},
       "only adapters have gradients and optimizer state",
       true},
      {"qlora",
       "adapters",
       "QLoRA, rank 16",
       {{"lora.rank", "16"}, {"lora.alpha", "32"}, {"quantization", "nf4"}},
       "only adapters train, over weights of 4 bits",
       true}};
  for (int parts = 2 * config.micro_batches; parts <= config.batch; parts *= 2) {
    if (config.batch % parts != 0) continue;
    moves.push_back({fmt::format("micro-batches-{}", parts),
                     "accumulation",
                     fmt::format("{} micro-batches", parts),
                     {{"micro_batches", fmt::format("{}", parts)}},
                     fmt::format("a forward pass sees {} of {} samples; gradients add up",
                                 config.batch / parts, config.batch)});
  }
  return moves;
}

}  // namespace

absl::StatusOr<run::RunConfig> Applied(const Move& move, const run::RunConfig& config) {
  run::RunConfigBuilder builder(config);
  for (const auto& [key, value] : move.settings) {
    if (absl::Status status = builder.Set(key, value); !status.ok()) return status;
  }
  absl::StatusOr<run::RunConfig> with = builder.Build();
  if (!with.ok()) return with.status();
  if (const auto model = run::CheckRun(*with); !model.ok()) return model.status();
  return with;
}

std::vector<Move> Moves(const run::RunConfig& config) {
  std::vector<Move> out;
  const std::string now = run::ToJson(config);
  for (Move& move : AllMoves(config)) {
    // Flash attention needs 16 bit, which another move may bring: only what no setting can say
    // falls out here.
    run::RunConfigBuilder builder(config);
    bool known = true;
    for (const auto& [key, value] : move.settings) known = known && builder.Set(key, value).ok();
    if (!known) continue;
    const absl::StatusOr<run::RunConfig> with = builder.Build();
    if (with.ok() && run::ToJson(*with) == now) continue;  // it does so already
    out.push_back(std::move(move));
  }
  return out;
}

}  // namespace vramscope::fit
