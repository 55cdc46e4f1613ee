#include "trainer/techniques/trainable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>
#include <vector>

#include "trainer/models/layers.h"

namespace vramscope::trainer {

absl::Status ApplyLora(Model& model, const run::LoraConfig& config) {
  if (!config.enabled()) return absl::OkStatus();
  for (Parameter* parameter : model.Parameters()) parameter->trainable = false;
  std::set<std::string> names;  // of linear modules
  std::set<std::string> unmatched(config.targets.begin(), config.targets.end());
  std::vector<Linear*> chosen;
  model.Visit([&](Module& module, const std::string& path) {
    auto* linear = dynamic_cast<Linear*>(&module);
    if (linear == nullptr) return;
    names.insert(linear->name());
    for (const std::string& target : config.targets) {
      // As PEFT: a whole name, or the end of the path at a dot.
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
    model.Parameters();  // full names again
  }
  size_t left = 0;
  for (Parameter* parameter : parameters) {
    const bool keep = selection == "all" || (by_layer ? layer.count(parameter) > 0
                                                      : GlobMatch(selection, parameter->name()));
    parameter->trainable = parameter->trainable && keep;
    if (parameter->trainable) ++left;
  }
  if (left > 0) return absl::OkStatus();
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

}  // namespace vramscope::trainer
