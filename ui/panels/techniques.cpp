#include "ui/panels/techniques.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

namespace vramscope::ui {
namespace {

using run::Attention;
using run::CheckpointMode;
using run::OptimizerImpl;
using run::OptimizerName;
using run::Precision;
using run::RunConfig;
using run::ZeroGrad;

constexpr int kAccumulation = 4;

std::string Never(const RunConfig&) { return {}; }

bool Is16Bit(const RunConfig& c) { return c.precision != Precision::kFp32; }

// What its config.json calls itself; empty: it does not.
std::string ModelType(const RunConfig& c) {
  const nlohmann::json json = nlohmann::json::parse(c.model_config_json, nullptr, false);
  const auto type = json.is_object() ? json.find("model_type") : json.end();
  return type != json.end() && type->is_string() ? type->get<std::string>() : std::string();
}

// A model whose projections are bare weights has no layer that an adapter could stand beside.
std::string LoraBlocked(const RunConfig& c) {
  if (!LoraTargetChoices(c).empty()) return {};
  return fmt::format(
      "{} has no linear layer: q_proj, k_proj, v_proj, output_proj, w1, w2, w3 are bare weights",
      c.model);
}

Technique PrecisionRow(std::string_view id, std::string_view title, std::string_view explanation,
                       Precision precision) {
  return {.id = id,
          .group = "Precision",
          .title = title,
          .explanation = explanation,
          .on = [precision](const RunConfig& c) { return c.precision == precision; },
          .with =
              [precision](RunConfig c) {
                c.precision = precision;
                return c;
              },
          .without =
              [](RunConfig c) {
                c.precision = Precision::kFp32;
                // The flash kernel has no 32-bit form: it goes with the 16-bit arithmetic.
                if (c.attention == Attention::kFlash) c.attention = Attention::kEager;
                return c;
              },
          .blocked = Never};
}

Technique AttentionRow(std::string_view id, std::string_view title, std::string_view explanation,
                       Attention attention, std::function<std::string(const RunConfig&)> blocked) {
  return {.id = id,
          .group = "Attention",
          .title = title,
          .explanation = explanation,
          .on = [attention](const RunConfig& c) { return c.attention == attention; },
          .with =
              [attention](RunConfig c) {
                c.attention = attention;
                return c;
              },
          .without =
              [](RunConfig c) {
                c.attention = Attention::kEager;
                return c;
              },
          .blocked = std::move(blocked)};
}

Technique CheckpointRow(std::string_view id, std::string_view title, std::string_view explanation,
                        CheckpointMode mode) {
  return {.id = id,
          .group = "Activations",
          .title = title,
          .explanation = explanation,
          .on = [mode](const RunConfig& c) { return c.checkpointing.mode == mode; },
          .with =
              [mode](RunConfig c) {
                c.checkpointing.mode = mode;
                return c;
              },
          .without =
              [](RunConfig c) {
                c.checkpointing.mode = CheckpointMode::kNone;
                return c;
              },
          .blocked = Never};
}

Technique OptimizerImplRow(std::string_view id, std::string_view title,
                           std::string_view explanation, OptimizerImpl impl) {
  return {.id = id,
          .group = "Optimizer",
          .title = title,
          .explanation = explanation,
          .on = [impl](const RunConfig& c) { return c.optimizer.impl == impl; },
          .with =
              [impl](RunConfig c) {
                c.optimizer.impl = impl;
                return c;
              },
          .without =
              [](RunConfig c) {
                c.optimizer.impl = OptimizerImpl::kForeach;
                return c;
              },
          .blocked = Never};
}

std::vector<Technique> MakeTechniques() {
  std::vector<Technique> rows;
  rows.push_back(
      PrecisionRow("amp-bf16", "bf16 autocast", "fp32 weights, bf16 compute", Precision::kAmpBf16));
  rows.push_back(
      PrecisionRow("amp-fp16", "fp16 autocast", "fp16 compute, loss scaling", Precision::kAmpFp16));
  rows.push_back(
      PrecisionRow("bf16", "bf16 throughout", "weights and states in bf16", Precision::kBf16));
  rows.push_back(AttentionRow("flash", "Flash attention", "no T\u00d7T score matrices",
                              Attention::kFlash, [](const RunConfig& c) -> std::string {
                                return Is16Bit(c) ? ""
                                                  : "needs 16-bit: switch on a precision first";
                              }));
  rows.push_back(AttentionRow("sdpa-math", "SDPA, math", "one call, scores still in memory",
                              Attention::kMath, Never));
  rows.push_back(CheckpointRow("checkpoint-layer", "Checkpoint every layer",
                               "recompute layers in backward", CheckpointMode::kLayer));
  rows.push_back(CheckpointRow("checkpoint-k", "Checkpoint every k layers",
                               "recompute segments in backward", CheckpointMode::kEveryK));
  rows.push_back({.id = "lora",
                  .group = "Parameters",
                  .title = "LoRA",
                  .explanation = "low-rank adapters, rest frozen",
                  .on = [](const RunConfig& c) { return c.lora.enabled(); },
                  .with =
                      [](RunConfig c) {
                        const std::vector<LoraTargets> choices = LoraTargetChoices(c);
                        if (choices.empty()) return c;
                        if (!c.lora.enabled()) c.lora.rank = 8;
                        const auto same = [&](const LoraTargets& t) {
                          return t.names == c.lora.targets;
                        };
                        if (std::none_of(choices.begin(), choices.end(), same))
                          c.lora.targets = choices.front().names;
                        return c;
                      },
                  .without =
                      [](RunConfig c) {
                        c.lora.rank = 0;
                        return c;
                      },
                  .blocked = LoraBlocked});
  rows.push_back({.id = "last-layer",
                  .group = "Parameters",
                  .title = "Train the last layer only",
                  .explanation = "all other weights frozen",
                  .on = [](const RunConfig& c) { return c.trainable == "last-layer"; },
                  .with =
                      [](RunConfig c) {
                        c.trainable = "last-layer";
                        return c;
                      },
                  .without =
                      [](RunConfig c) {
                        c.trainable = "all";
                        return c;
                      },
                  .blocked = [](const RunConfig& c) -> std::string {
                    return c.lora.enabled() ? "LoRA has frozen the weights already" : "";
                  }});
  rows.push_back({.id = "sgd",
                  .group = "Optimizer",
                  .title = "SGD, no momentum",
                  .explanation = "no state beside the weights",
                  .on =
                      [](const RunConfig& c) {
                        return c.optimizer.name == OptimizerName::kSgd && c.optimizer.momentum == 0;
                      },
                  .with =
                      [](RunConfig c) {
                        c.optimizer.name = OptimizerName::kSgd;
                        c.optimizer.weight_decay = run::DefaultWeightDecay(c.optimizer.name);
                        c.optimizer.momentum = 0;
                        return c;
                      },
                  .without =
                      [](RunConfig c) {
                        c.optimizer.name = OptimizerName::kAdamW;
                        c.optimizer.weight_decay = run::DefaultWeightDecay(c.optimizer.name);
                        return c;
                      },
                  .blocked = Never});
  rows.push_back(
      OptimizerImplRow("fused", "Fused step", "one kernel, no temporaries", OptimizerImpl::kFused));
  rows.push_back(OptimizerImplRow("loop", "Step tensor by tensor",
                                  "smaller temporaries, more kernels", OptimizerImpl::kLoop));
  rows.push_back({.id = "accumulate",
                  .group = "Gradients",
                  .title = "Accumulate gradients",
                  .explanation = "the batch in smaller passes",
                  .on = [](const RunConfig& c) { return c.micro_batches > 1; },
                  .with =
                      [](RunConfig c) {
                        int parts = 1;
                        for (int n = 2; n <= kAccumulation; ++n)
                          if (c.batch % n == 0) parts = n;
                        c.micro_batches = parts;
                        return c;
                      },
                  .without =
                      [](RunConfig c) {
                        c.micro_batches = 1;
                        return c;
                      },
                  .blocked = [](const RunConfig& c) -> std::string {
                    if (c.batch % 2 == 0 || c.batch % 3 == 0) return "";
                    return fmt::format("a batch of {} can't be cut into 2 to {} equal passes",
                                       c.batch, kAccumulation);
                  }});
  rows.push_back({.id = "zero-grad",
                  .group = "Gradients",
                  .title = "Zero gradients in place",
                  .explanation = "fill with zeros instead of releasing",
                  .on = [](const RunConfig& c) { return c.zero_grad == ZeroGrad::kZero; },
                  .with =
                      [](RunConfig c) {
                        c.zero_grad = ZeroGrad::kZero;
                        return c;
                      },
                  .without =
                      [](RunConfig c) {
                        c.zero_grad = ZeroGrad::kNone;
                        return c;
                      },
                  .blocked = Never});
  return rows;
}

}  // namespace

const std::vector<Technique>& Techniques() {
  static const std::vector<Technique>* rows = new std::vector<Technique>(MakeTechniques());
  return *rows;
}

const Technique* FindTechnique(std::string_view id) {
  for (const Technique& t : Techniques())
    if (t.id == id) return &t;
  return nullptr;
}

std::vector<LoraTargets> LoraTargetChoices(const run::RunConfig& config) {
  const std::string type = ModelType(config);
  if (type == "basics") return {};
  if (type == "gpt2")
    return {{"attention in", {"c_attn"}},
            {"attention", {"c_attn", "c_proj"}},
            {"all linear", {"c_attn", "c_proj", "c_fc"}}};
  return {{"q, v", {"q_proj", "v_proj"}},
          {"q, k, v, o", {"q_proj", "k_proj", "v_proj", "o_proj"}},
          {"all linear",
           {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}}};
}

absl::StatusOr<PresetChange> WithPreset(const RunConfig& now, std::string_view preset) {
  // What a model starts with: of one that is no preset, what every run does.
  const auto start_of = [](std::string_view name) {
    run::RunConfigBuilder builder;
    const bool known = builder.SetPreset(name).ok();
    absl::StatusOr<RunConfig> config = builder.Build();
    return known && config.ok() ? *config : run::RunConfigBuilder().Build().value_or(RunConfig{});
  };
  run::RunConfigBuilder target_builder;
  if (absl::Status status = target_builder.SetPreset(preset); !status.ok()) return status;
  absl::StatusOr<RunConfig> target = target_builder.Build();
  if (!target.ok()) return target.status();
  const RunConfig start = start_of(now.model);

  PresetChange out{.config = now};
  out.config.model = target->model;
  out.config.model_config_json = target->model_config_json;
  const auto settle = [&](auto get, const auto& words) {
    const bool edited = get(now) != get(start);
    if (get(now) == get(*target)) return;
    if (!edited) get(out.config) = get(*target);
    (edited ? out.kept : out.taken).push_back(words(out.config));
  };
  const auto number = [&](std::string_view name, int RunConfig::*field) {
    settle(
        [field](auto& c) -> auto& { return c.*field; },
        [=](const RunConfig& c) { return fmt::format("{} {}", name, c.*field); });
  };
  number("batch", &RunConfig::batch);
  number("sequence", &RunConfig::seq);
  number("micro-batches", &RunConfig::micro_batches);
  number("steps", &RunConfig::steps);
  settle(
      [](auto& c) -> auto& { return c.precision; },
      [](const RunConfig& c) { return fmt::format("precision {}", run::Name(c.precision)); });
  settle(
      [](auto& c) -> auto& { return c.attention; },
      [](const RunConfig& c) { return fmt::format("attention {}", run::Name(c.attention)); });
  const auto optimizer = [](const RunConfig& c) {
    return std::tuple(c.optimizer.name, c.optimizer.impl, c.optimizer.momentum);
  };
  if (optimizer(now) != optimizer(*target)) {
    const bool edited = optimizer(now) != optimizer(start);
    if (!edited) out.config.optimizer = target->optimizer;
    (edited ? out.kept : out.taken)
        .push_back(fmt::format("optimizer {}, {}", run::Name(out.config.optimizer.name),
                               run::Name(out.config.optimizer.impl)));
  }
  // Another family calls its layers by other names, or has none.
  if (now.lora.enabled()) {
    const Technique& lora = *FindTechnique("lora");
    const bool fits = lora.blocked(out.config).empty();
    out.config = fits ? lora.with(out.config) : lora.without(out.config);
    if (!fits) out.taken.push_back("no LoRA, which finds no layer in it");
  }
  absl::StatusOr<RunConfig> checked = run::RunConfigBuilder(out.config).Build();
  if (!checked.ok()) return checked.status();
  out.config = *std::move(checked);
  return out;
}

std::string DescribeChange(const run::RunConfig& before, const run::RunConfig& after) {
  if (before.model != after.model) return fmt::format("Model {}", after.model);
  if (before.device != after.device) return fmt::format("Device {}", after.device);
  for (const Technique& t : Techniques()) {
    if (t.on(before) != t.on(after) &&
        PlanKey(t.on(after) ? t.with(before) : t.without(before)) == PlanKey(after))
      return fmt::format("{} {}", t.title, t.on(after) ? "on" : "off");
  }
  if (before.batch != after.batch)
    return fmt::format("Batch {} \u2192 {}", before.batch, after.batch);
  if (before.seq != after.seq) return fmt::format("Sequence {} \u2192 {}", before.seq, after.seq);
  if (before.micro_batches != after.micro_batches)
    return fmt::format("Micro-batches {} \u2192 {}", before.micro_batches, after.micro_batches);
  if (before.steps != after.steps)
    return fmt::format("Steps {} \u2192 {}", before.steps, after.steps);
  if (before.optimizer.name != after.optimizer.name ||
      before.optimizer.impl != after.optimizer.impl)
    return fmt::format("Optimizer {}, {}", run::Name(after.optimizer.name),
                       run::Name(after.optimizer.impl));
  if (before.lora.rank != after.lora.rank)
    return fmt::format("LoRA rank {} \u2192 {}", before.lora.rank, after.lora.rank);
  if (before.lora.targets != after.lora.targets)
    return fmt::format("LoRA on {}", fmt::join(after.lora.targets, ", "));
  if (before.checkpointing.k != after.checkpointing.k)
    return fmt::format("Checkpoint every {} layers", after.checkpointing.k);
  return "Settings";
}

std::string PlanKey(const run::RunConfig& config) { return run::ToProtoBytes(config); }

}  // namespace vramscope::ui
