// The learning rate over the steps of a run: constant, or a half cosine down to zero, like
// torch.optim.lr_scheduler.CosineAnnealingLR with T_max = steps.
#include <cmath>
#include <numbers>

#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

class CosineSchedule final : public Technique {
 public:
  CosineSchedule(double lr, int steps) : lr_(lr), steps_(steps) {}
  // Calls `inner` (the optimizer's step), then steps the scheduler.
  std::function<void(Optimizer&)> AroundStep(std::function<void(Optimizer&)> inner) override {
    return [this, inner = std::move(inner)](Optimizer& optimizer) {
      inner(optimizer);
      ++done_;
      optimizer.SetLearningRate(lr_ * (1 + std::cos(std::numbers::pi * done_ / steps_)) / 2);
    };
  }
  void AfterRun() override { done_ = 0; }

 private:
  const double lr_;
  const int steps_;
  int done_ = 0;
};

}  // namespace

TechniqueEntry DeclareTechnique_schedule() {
  return {.declaration = {.id = "schedule",
                          .group = "Optimizer",
                          .title = "Learning rate",
                          .explanation =
                              "The learning rate sets the size of the updates in each step, and "
                              "takes no memory and no time. If it falls at the end of a run, an "
                              "optimizer with little state (SGD) often keeps up with Adam.",
                          .settings = {{.key = "schedule",
                                        .help = "learning rate: constant, or falling to 0 along "
                                                "half a cosine over the steps of the run",
                                        .kind = run::ValueKind::kChoice,
                                        .default_value = "none",
                                        .choices = {{"none", "constant"}, {"cosine", ""}}}},
                          .toggles = {{.id = "cosine",
                                       .title = "Cosine schedule",
                                       .explanation =
                                           "learning rate falls to 0; memory does not change",
                                       .on = {{"schedule", true, {"cosine"}}},
                                       .ways = {{{"schedule", "cosine"}}}}}},
          .order = 45,
          .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
            if (!config.Is("schedule", "cosine")) return nullptr;
            return std::make_unique<CosineSchedule>(config.Number("optimizer.lr"), config.steps);
          }};
}

}  // namespace vramscope::trainer
