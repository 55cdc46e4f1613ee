// Selects the trained parameters, by position or by name.
#include "trainer/techniques/trainable.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "trainer/techniques/technique.h"

namespace vramscope::trainer {

absl::Status ApplyTrainable(Model& model, std::string_view selection) {
  std::vector<Parameter*> parameters = model.Parameters();
  std::set<const Parameter*> layer;
  const bool by_layer = selection == "first-layer" || selection == "last-layer";
  if (by_layer) {
    const std::vector<LayerStack> stacks = model.Stacks();
    const std::vector<Module*> layers =
        stacks.empty() ? std::vector<Module*>() : stacks.back().layers;
    if (layers.empty()) {
      return absl::InvalidArgumentError(
          fmt::format("trainable={}: this model has no layers", selection));
    }
    Module* chosen = selection == "first-layer" ? layers.front() : layers.back();
    for (Parameter* parameter : chosen->Parameters()) layer.insert(parameter);
    model.Parameters();  // chosen->Parameters() has shortened names; restores the full names
  }
  size_t left = 0;
  for (Parameter* parameter : parameters) {
    const bool keep = selection == "all" || (by_layer ? layer.count(parameter) > 0
                                                      : GlobMatch(selection, parameter->name()));
    parameter->trainable = parameter->trainable && keep;
    if (parameter->trainable) ++left;
  }
  // With "all", a model may have nothing to train (inference).
  if (left > 0 || selection == "all") return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("trainable={}: nothing is left to train; parameters are named like \"{}\"",
                  selection, parameters.empty() ? "" : parameters[parameters.size() / 2]->name()));
}

bool GlobMatch(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

namespace {

class Trainable final : public Technique {
 public:
  explicit Trainable(std::string selection) : selection_(std::move(selection)) {}
  absl::Status OnModel(Model& model) override { return ApplyTrainable(model, selection_); }

 private:
  std::string selection_;
};

run::Toggle Row(std::string id, std::string title, const char* value) {
  return {.id = std::move(id),
          .title = std::move(title),
          .explanation = "all other weights frozen",
          .on = {{"trainable", true, {value}}},
          .ways = {{{"trainable", value}}}};
}

}  // namespace

TechniqueEntry DeclareTechnique_trainable() {
  return {
      .declaration =
          {.id = "trainable",
           .group = "Parameters",
           .title = "Frozen parameters",
           .explanation = "Frozen parameters have no gradient and no optimizer state. Layers "
                          "before the first trained layer keep nothing for backward.",
           .settings = {{.key = "trainable",
                         .help = "parameters to train: all, first-layer, last-layer or a pattern",
                         .kind = run::ValueKind::kText,
                         .default_value = "all",
                         .format = "pattern"}},
           .toggles = {Row("last-layer", "Train the last layer only", "last-layer"),
                       Row("first-layer", "Train the first layer only", "first-layer")},
           .rules = {{.when = {{"trainable", true, {"first-layer", "last-layer"}},
                               {"lora.rank", false, {"0"}}},
                      .why = "LoRA has already frozen the weights",
                      .refuses = false}}},
      .order = 41,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        return std::make_unique<Trainable>(config.Get("trainable"));
      }};
}

}  // namespace vramscope::trainer
