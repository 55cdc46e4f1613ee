// schedule=cosine must give the rates of torch's CosineAnnealingLR (T_max = steps, eta_min = 0).
#include <gtest/gtest.h>
#include <torch/types.h>

#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

class Rates final : public Optimizer {
 public:
  Rates() : Optimizer({}, 0.2) {}
  void Step() override { seen.push_back(lr_); }
  std::vector<at::Tensor> StateTensors() const override { return {}; }
  std::vector<double> seen;
};

std::vector<double> RatesOf(const run::RunConfig& config) {
  Rates optimizer;
  std::function<void(Optimizer&)> step = [](Optimizer& o) { o.Step(); };
  const auto techniques = MakeTechniques(config);
  for (const auto& technique : techniques) step = technique->AroundStep(std::move(step));
  for (int i = 0; i < config.steps; ++i) step(optimizer);
  return optimizer.seen;
}

TEST(Schedule, CosineMatchesCosineAnnealingLR) {
  run::RunConfig config;
  config.steps = 4;
  config.Set("optimizer.lr", "0.2");
  EXPECT_EQ(RatesOf(config), std::vector<double>(4, 0.2));
  config.Set("schedule", "cosine");
  // These are the values that scheduler.get_last_lr() returns in Python before each step.
  const std::vector<double> expected = {0.2, 0.17071067811865475, 0.1, 0.02928932188134524};
  const std::vector<double> rates = RatesOf(config);
  ASSERT_EQ(rates.size(), expected.size());
  for (size_t i = 0; i < rates.size(); ++i) EXPECT_NEAR(rates[i], expected[i], 1e-12) << i;
}

}  // namespace
}  // namespace vramscope::trainer
