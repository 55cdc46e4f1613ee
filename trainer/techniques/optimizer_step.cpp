// Selects the optimizer that updates the weights, and its implementation: loop, foreach or fused.
#include <algorithm>

#include "trainer/techniques/technique.h"

namespace vramscope::trainer {

OptimizerConfig OptimizerConfigOf(const run::RunConfig& config) {
  const std::string& impl = config.Get("optimizer.impl");
  return {.name = config.Get("optimizer.name"),
          .impl = impl == "loop"    ? OptimizerImpl::kLoop
                  : impl == "fused" ? OptimizerImpl::kFused
                                    : OptimizerImpl::kForeach,
          .lr = config.Number("optimizer.lr"),
          .momentum = config.Number("optimizer.momentum"),
          .weight_decay = config.Number("optimizer.weight_decay")};
}

namespace {

class OptimizerStep final : public Technique {
 public:
  explicit OptimizerStep(OptimizerConfig config) : config_(std::move(config)) {}

  void AfterSetUp(const RunContext&, Model& model, std::span<const at::Tensor>) override {
    model_ = &model;
  }
  std::unique_ptr<Optimizer> MakeOptimizer(const RunContext&,
                                           const std::vector<at::Tensor>& trained) override {
    std::unique_ptr<Optimizer> own = model_->MakeOwnOptimizer(config_, trained);
    return own != nullptr ? std::move(own) : trainer::MakeOptimizer(config_, trained);
  }
  // In a rehearsed run, cuBLAS's workspaces exist only as allocations of the tape. This step is
  // executed, not played from the tape, and would not find them.
  bool rehearses() const override {
    return std::none_of(AllOptimizers().begin(), AllOptimizers().end(), [&](const auto& entry) {
      return entry.multiplies && entry.declaration.id == config_.name;
    });
  }

 private:
  OptimizerConfig config_;
  Model* model_ = nullptr;
};

std::vector<run::Choice> Names() {
  std::vector<run::Choice> out;
  for (const OptimizerEntry& entry : AllOptimizers()) {
    out.push_back({entry.declaration.id, entry.declaration.title});
  }
  return out;
}

// Rules that refuse an implementation (loop, foreach, fused) that the optimizer does not have.
std::vector<run::Rule> Rules() {
  std::vector<run::Rule> out;
  for (const OptimizerEntry& entry : AllOptimizers()) {
    const run::OptimizerDeclaration& o = entry.declaration;
    out.push_back(
        {.when = {{"optimizer.name", true, {o.id}}, {"optimizer.impl", false, o.implementations}},
         .why = o.title + " does not support this value of optimizer.impl",
         .instead = {{"optimizer.impl", o.implementations.front()}}});
  }
  return out;
}

// The first two moves reduce temporaries and leave the training as it is. The others change it:
// they select an optimizer with less state than Adam.
std::vector<run::FitMove> Moves() {
  std::vector<run::FitMove> out = {{.row = "fused"}, {.row = "loop"}};
  for (const OptimizerEntry& entry : AllOptimizers()) {
    const double state = entry.declaration.state_elements;
    if (state != 0 && state < 2)
      out.push_back({.row = entry.declaration.id, .changes = run::Changes::kTraining});
  }
  return out;
}

run::Toggle Row(std::string id, std::string title, std::string explanation, const char* value) {
  return {.id = std::move(id),
          .title = std::move(title),
          .explanation = std::move(explanation),
          .on = {{"optimizer.impl", true, {value}}},
          .ways = {{{"optimizer.impl", value}}}};
}

}  // namespace

TechniqueEntry DeclareTechnique_optimizer_step() {
  using run::ValueKind;
  return {.declaration =
              {.id = "optimizer",
               .group = "Optimizer",
               .title = "Optimizer",
               .explanation =
                   "Optimizer state exists from the first step on: two tensors as large as the "
                   "trained parameters for Adam, none for SGD. The temporaries of the step depend "
                   "on the implementation. They are as large as all trained parameters with "
                   "foreach, and as large as the largest parameter with loop. fused makes none.",
               .settings = {{.key = "optimizer.name",
                             .help = "the optimizer that updates the weights",
                             .kind = ValueKind::kChoice,
                             .default_value = "adamw",
                             .choices = Names()},
                            {.key = "optimizer.impl",
                             .help = "\"loop\" updates one tensor at a time, \"foreach\" updates "
                                     "lists of tensors, and \"fused\" runs one kernel",
                             .kind = ValueKind::kChoice,
                             .default_value = "foreach",
                             .choices = {{"loop", ""}, {"foreach", ""}, {"fused", ""}}},
                            {.key = "optimizer.lr",
                             .help = "learning rate",
                             .kind = ValueKind::kNumber,
                             .default_value = "0.001",
                             .low = 0,
                             .high = 1000},
                            {.key = "optimizer.momentum",
                             .help = "momentum of SGD; with 0, SGD keeps no state",
                             .kind = ValueKind::kNumber,
                             .default_value = "0",
                             .low = 0,
                             .high = 1},
                            {.key = "optimizer.weight_decay",
                             .help = "weight decay",
                             .kind = ValueKind::kNumber,
                             .default_value = "0.01",
                             .low = 0,
                             .high = 1000}},
               .toggles = {{.id = "sgd",
                            .title = "SGD, no momentum",
                            .explanation = "keeps no optimizer state",
                            .on = {{"optimizer.name", true, {"sgd"}},
                                   {"optimizer.momentum", true, {"0"}}},
                            .ways = {{{"optimizer.name", "sgd"}, {"optimizer.momentum", "0"}}}},
                           Row("fused", "Fused step", "one kernel, no temporaries", "fused"),
                           Row("loop", "Step tensor by tensor", "smaller temporaries, more kernels",
                               "loop")},
               .rules = Rules(),
               .assumes = {{.when = {{"optimizer.momentum", false, {"0"}},
                                     {"optimizer.name", false, {"sgd"}}},
                            .what = "optimizer.momentum has no effect: only SGD has momentum"}}},
          .fit = Moves(),
          .order = 50,  // after techniques that have their own optimizer
          .place = 42,
          .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
            return std::make_unique<OptimizerStep>(OptimizerConfigOf(config));
          }};
}

}  // namespace vramscope::trainer
