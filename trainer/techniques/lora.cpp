// Low-rank adapters on linear layers, with all other weights frozen, like PEFT's LoRA and DoRA.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>
#include <vector>

#include "trainer/models/layers.h"
#include "trainer/techniques/technique.h"
#include "trainer/techniques/trainable.h"

namespace vramscope::trainer {

absl::Status ApplyLora(Model& model, const LoraConfig& config) {
  if (!config.enabled()) return absl::OkStatus();
  for (Parameter* parameter : model.Parameters()) parameter->trainable = false;
  std::set<std::string> names;  // names of linear modules
  std::set<std::string> unmatched(config.targets.begin(), config.targets.end());
  std::vector<Linear*> chosen;
  model.Visit([&](Module& module, const std::string& path) {
    auto* linear = dynamic_cast<Linear*>(&module);
    if (linear == nullptr) return;
    names.insert(linear->name());
    for (const std::string& target : config.targets) {
      // As in PEFT, a target matches a whole path, or the end of a path after a dot.
      const bool matches = path == target || path.ends_with("." + target);
      if (!matches) continue;
      unmatched.erase(target);
      if (chosen.empty() || chosen.back() != linear) chosen.push_back(linear);
    }
  });
  if (chosen.empty() || !unmatched.empty()) {
    const std::string target = unmatched.empty() ? "" : *unmatched.begin();
    return absl::InvalidArgumentError(
        fmt::format("lora.targets: no linear module is named \"{}\"; this model has {}", target,
                    names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  }
  for (Linear* linear : chosen) linear->AddAdapter(config);
  return absl::OkStatus();
}

namespace {

class Lora final : public Technique {
 public:
  explicit Lora(LoraConfig config) : config_(std::move(config)) {}
  absl::Status OnModel(Model& model) override { return ApplyLora(model, config_); }
  void AfterLoad(const RunContext& context, Model& model) override {
    if (!config_.decompose || !context.measured) return;
    model.Visit([](Module& module, const std::string&) {
      if (auto* linear = dynamic_cast<Linear*>(&module)) linear->StartAdapter();
    });
  }

 private:
  LoraConfig config_;
};

}  // namespace

TechniqueEntry DeclareTechnique_lora() {
  return {.declaration =
              {.id = "lora",
               .group = "Parameters",
               .title = "LoRA",
               .explanation =
                   "Two small matrices for each selected linear layer are trained, and all other "
                   "weights are frozen. Only the small matrices have gradients and optimizer "
                   "state, and frozen layers do not keep their inputs. DoRA also trains the norm "
                   "of each row of the adapted weight. This adds only one number per row, but each "
                   "forward computes an fp32 product as large as the weight. LoRA-FA trains only "
                   "matrix B. This halves the number of trained elements, and the layer's input is "
                   "not kept for the adapter.",
               .settings =
                   {{.key = "lora.rank",
                     .help = "rank of the LoRA adapters; 0: no LoRA",
                     .kind = run::ValueKind::kInteger,
                     .default_value = "0",
                     .low = 0,
                     .high = 4096,
                     .label = "rank"},
                    {.key = "lora.kind",
                     .help = "\"dora\" trains the norms of the weight's rows separately from their "
                             "directions. \"lora-fa\" does not train matrix A, which is "
                             "applied to the input. \"rslora\" uses the scale alpha / sqrt(rank)",
                     .kind = run::ValueKind::kChoice,
                     .default_value = "lora",
                     .choices = {{"lora", "LoRA"},
                                 {"dora", "DoRA"},
                                 {"lora-fa", "LoRA-FA"},
                                 {"rslora", "rank-stabilised"}},
                     .label = "kind"},
                    {.key = "lora.alpha",
                     .help = "LoRA scale: alpha / rank",
                     .kind = run::ValueKind::kNumber,
                     .default_value = "16",
                     .low = 0,
                     .high = 1e6,
                     .label = "alpha"},
                    {.key = "lora.dropout",
                     .help = "dropout before the adapters",
                     .kind = run::ValueKind::kNumber,
                     .default_value = "0",
                     .low = 0,
                     .high = 0.999,
                     .label = "dropout"},
                    {.key = "lora.dtype",
                     .help = "type of the adapters: always fp32, or the same type as the weights "
                             "(as with PEFT's autocast_adapter_dtype=False and in torchtune)",
                     .kind = run::ValueKind::kChoice,
                     .default_value = "fp32",
                     .choices = {{"fp32", ""}, {"weights", "type of the weights"}},
                     .label = "type"},
                    {.key = "lora.targets",
                     .help = "linear layers that get an adapter, such as \"q_proj,v_proj\"",
                     .kind = run::ValueKind::kText,
                     .default_value = "q_proj,v_proj",
                     .format = "names",
                     .label = "on",
                     .choices_from = "family.lora_targets"}},
               .toggles = {{.id = "lora",
                            .title = "LoRA",
                            .explanation = "low-rank adapters, all other weights frozen",
                            .on = {{"lora.rank", false, {"0"}},
                                   {"lora.kind", true, {"lora"}},
                                   {"lora.placement", true, {"weight"}}},
                            .ways = {{{"lora.rank", "8"}, {"lora.kind", "lora"}}},
                            .controls = {"lora.rank", "lora.targets", "lora.alpha", "lora.dropout",
                                         "lora.dtype"}},
                           {.id = "dora",
                            .title = "DoRA",
                            .explanation =
                                "adapters that train the norms of the weight's rows separately",
                            .on = {{"lora.rank", false, {"0"}}, {"lora.kind", true, {"dora"}}},
                            .ways = {{{"lora.rank", "8"}, {"lora.kind", "dora"}}},
                            .controls = {"lora.rank", "lora.targets", "lora.alpha", "lora.dropout",
                                         "lora.dtype"}},
                           {.id = "lora-fa",
                            .title = "LoRA-FA",
                            .explanation = "trains only matrix B of each adapter",
                            .on = {{"lora.rank", false, {"0"}}, {"lora.kind", true, {"lora-fa"}}},
                            .ways = {{{"lora.rank", "8"}, {"lora.kind", "lora-fa"}}},
                            .controls = {"lora.rank", "lora.targets", "lora.alpha", "lora.dropout",
                                         "lora.dtype"}},
                           {.id = "rslora",
                            .title = "Rank-stabilised LoRA",
                            .explanation = "changes the scale, but not the memory",
                            .on = {{"lora.rank", false, {"0"}}, {"lora.kind", true, {"rslora"}}},
                            .ways = {{{"lora.rank", "8"}, {"lora.kind", "rslora"}}},
                            .controls = {"lora.rank", "lora.targets", "lora.alpha", "lora.dropout",
                                         "lora.dtype"}}},
               .rules = {{.when = {{"lora.kind", true, {"dora"}},
                                   {"quantization", true, {"nf4", "int8"}},
                                   {"lora.rank", false, {"0"}}},
                          .why =
                              "lora.kind=dora with 4-bit or 8-bit weights is not supported, "
                              "because DoRA dequantizes the weights in each forward to compute the "
                              "norms of their rows; use lora.kind=lora",
                          .instead = {{"lora.kind", "lora"}}},
                         {.when = {{"lora.rank", false, {"0"}},
                                   {"model.linear_layers", true, {"none"}}},
                          .why = "{model} has no linear layer for an adapter, because its "
                                 "projections are bare parameters",
                          .refuses = false},
                         {.when = {{"lora.rank", false, {"0"}},
                                   {"lora.targets.match", true, {"false"}}},
                          .why = "{model} has no linear layers with these names",
                          .refuses = false}},
               .implies = {"adapters are fp32, whatever the type of the weights, unless lora.dtype "
                           "is set"}},
          .fit = {{.row = "lora", .changes = run::Changes::kTraining},
                  {.row = "dora", .changes = run::Changes::kTraining}},
          .order = 40,
          .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
            const auto rank = static_cast<int>(config.Integer("lora.rank"));
            if (rank == 0 || !config.Is("lora.placement", "weight")) return nullptr;
            return std::make_unique<Lora>(
                LoraConfig{.rank = rank,
                           .alpha = config.Number("lora.alpha"),
                           .dropout = config.Number("lora.dropout"),
                           .decompose = config.Is("lora.kind", "dora"),
                           .freezes_down = config.Is("lora.kind", "lora-fa"),
                           .rank_stabilised = config.Is("lora.kind", "rslora"),
                           .as_weights = config.Is("lora.dtype", "weights"),
                           .targets = config.Names("lora.targets")});
          }};
}

}  // namespace vramscope::trainer
