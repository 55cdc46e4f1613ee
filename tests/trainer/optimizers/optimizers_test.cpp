// Compares every optimizer with torch::optim, over several steps and with several shapes.
#include <gtest/gtest.h>
#include <torch/optim.h>
#include <torch/types.h>

#include "trainer/optimizers/optimizer.h"

namespace vramscope::trainer {
namespace {

std::vector<at::Tensor> MakeParameters() {
  at::manual_seed(5);
  std::vector<at::Tensor> out;
  for (std::vector<int64_t> shape : {std::vector<int64_t>{7, 5}, {3}, {2, 3, 4}, {1}}) {
    out.push_back(at::randn(shape).set_requires_grad(true));
  }
  return out;
}

void SetGradients(const std::vector<at::Tensor>& parameters, int step) {
  at::manual_seed(100 + step);
  for (const at::Tensor& p : parameters) p.mutable_grad() = at::randn(p.sizes());
}

template <class Step>
std::vector<at::Tensor> Train(std::vector<at::Tensor> parameters, const Step& step) {
  for (int i = 0; i < 6; ++i) {
    SetGradients(parameters, i);
    step();
  }
  return parameters;
}

std::vector<at::Tensor> Ours(const OptimizerConfig& config) {
  std::vector<at::Tensor> parameters = MakeParameters();
  auto optimizer = MakeOptimizer(config, parameters);
  return Train(parameters, [&] { optimizer->Step(); });
}

void ExpectClose(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b,
                 const std::string& what) {
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(at::allclose(a[i], b[i], 1e-5, 1e-7)) << what << ": parameter " << i << "\n"
                                                      << a[i] << "\n"
                                                      << b[i];
  }
}

constexpr OptimizerImpl kImpls[] = {OptimizerImpl::kLoop, OptimizerImpl::kForeach,
                                    OptimizerImpl::kFused};

std::string NameOf(OptimizerImpl impl) {
  return impl == OptimizerImpl::kLoop    ? "loop"
         : impl == OptimizerImpl::kFused ? "fused"
                                         : "foreach";
}

// LibTorch has no Adafactor. So our two implementations are compared with each other, and one step
// of a vector is compared with its known result.
TEST(Optimizers, AdafactorImplementationsAgree) {
  for (double decay : {0.0, 0.1}) {
    ExpectClose(
        Ours(
            {.name = "adafactor", .impl = OptimizerImpl::kLoop, .lr = 1e-2, .weight_decay = decay}),
        Ours({.name = "adafactor",
              .impl = OptimizerImpl::kForeach,
              .lr = 1e-2,
              .weight_decay = decay}),
        "adafactor");
  }
  at::Tensor vector = at::full({4}, 2.0).requires_grad_(true);
  vector.mutable_grad() = at::full({4}, 0.5);
  const auto optimizer = MakeOptimizer(
      {.name = "adafactor", .impl = OptimizerImpl::kLoop, .lr = 1e-2, .weight_decay = 0}, {vector});
  optimizer->Step();
  // In the first step, the variance equals the gradient squared. So the update is the learning rate
  // times the root mean square of the parameter, which is 2.
  EXPECT_TRUE(at::allclose(vector, at::full({4}, 2.0 - 2.0 * 1e-2), 1e-5)) << vector;
}

TEST(Optimizers, LionStepsBySignOfMomentum) {
  at::Tensor vector = at::full({4}, 2.0).requires_grad_(true);
  const auto optimizer = MakeOptimizer(
      {.name = "lion", .impl = OptimizerImpl::kLoop, .lr = 0.1, .weight_decay = 0.5}, {vector});
  vector.mutable_grad() = at::full({4}, 3.0);
  optimizer->Step();  // weight decay to 1.9, then one step of 0.1
  EXPECT_TRUE(at::allclose(vector, at::full({4}, 1.8), 1e-5)) << vector;
  vector.mutable_grad() = at::full({4}, -0.01);
  optimizer->Step();  // the moment (0.03) outweighs the gradient: 1.71 - 0.1
  EXPECT_TRUE(at::allclose(vector, at::full({4}, 1.61), 1e-5)) << vector;
}

TEST(Optimizers, AdamWAgreesWithTorch) {
  std::vector<at::Tensor> parameters = MakeParameters();
  torch::optim::AdamW reference(parameters, torch::optim::AdamWOptions(1e-2).weight_decay(0.1));
  const auto expected = Train(parameters, [&] { reference.step(); });
  for (auto impl : kImpls) {
    ExpectClose(expected, Ours({.name = "adamw", .impl = impl, .lr = 1e-2, .weight_decay = 0.1}),
                "adamw " + NameOf(impl));
  }
}

TEST(Optimizers, AdamAgreesWithTorch) {
  for (double decay : {0.0, 0.1}) {
    std::vector<at::Tensor> parameters = MakeParameters();
    torch::optim::Adam reference(parameters, torch::optim::AdamOptions(1e-2).weight_decay(decay));
    const auto expected = Train(parameters, [&] { reference.step(); });
    for (auto impl : kImpls) {
      ExpectClose(expected, Ours({.name = "adam", .impl = impl, .lr = 1e-2, .weight_decay = decay}),
                  "adam " + NameOf(impl));
    }
    ExpectClose(expected, Ours({.name = "adam-2023", .lr = 1e-2, .weight_decay = decay}),
                "adam-2023");
  }
}

TEST(Optimizers, AdagradAgreesWithTorch) {
  for (double decay : {0.0, 0.1}) {
    std::vector<at::Tensor> parameters = MakeParameters();
    torch::optim::Adagrad reference(parameters,
                                    torch::optim::AdagradOptions(1e-2).weight_decay(decay));
    const auto expected = Train(parameters, [&] { reference.step(); });
    for (auto impl : {OptimizerImpl::kLoop, OptimizerImpl::kForeach}) {
      ExpectClose(expected,
                  Ours({.name = "adagrad", .impl = impl, .lr = 1e-2, .weight_decay = decay}),
                  "adagrad " + NameOf(impl));
    }
  }
}

TEST(Optimizers, SgdAgreesWithTorch) {
  for (double momentum : {0.0, 0.9}) {
    for (double decay : {0.0, 0.1}) {
      std::vector<at::Tensor> parameters = MakeParameters();
      torch::optim::SGD reference(
          parameters, torch::optim::SGDOptions(1e-2).momentum(momentum).weight_decay(decay));
      const auto expected = Train(parameters, [&] { reference.step(); });
      for (auto impl : kImpls) {
        ExpectClose(expected,
                    Ours({.name = "sgd",
                          .impl = impl,
                          .lr = 1e-2,
                          .momentum = momentum,
                          .weight_decay = decay}),
                    "sgd " + NameOf(impl));
      }
    }
  }
}

TEST(Optimizers, LeaveParametersWithoutGradientUnchanged) {
  for (auto impl : kImpls) {
    std::vector<at::Tensor> parameters = MakeParameters();
    const at::Tensor before = parameters[1].detach().clone();
    auto optimizer = MakeOptimizer({.impl = impl, .lr = 1e-2}, parameters);
    SetGradients(parameters, 0);
    parameters[1].mutable_grad() = at::Tensor();
    optimizer->Step();
    EXPECT_TRUE(at::equal(before, parameters[1]));
    EXPECT_FALSE(at::equal(before, parameters[0].detach().reshape(-1).narrow(0, 0, 3)));
  }
}

TEST(Optimizers, ApplyNewLearningRateAndListState) {
  for (const OptimizerEntry& entry : AllOptimizers()) {
    for (const std::string& name : entry.declaration.implementations) {
      const OptimizerImpl impl = name == "loop"    ? OptimizerImpl::kLoop
                                 : name == "fused" ? OptimizerImpl::kFused
                                                   : OptimizerImpl::kForeach;
      const std::string what = entry.declaration.id + " " + name;
      const std::vector<at::Tensor> parameters = MakeParameters();
      const auto optimizer = MakeOptimizer({.name = entry.declaration.id,
                                            .impl = impl,
                                            .lr = 0.1,
                                            .momentum = 0.9,
                                            .weight_decay = 0.1},
                                           parameters);
      SetGradients(parameters, 0);
      optimizer->Step();
      std::vector<at::Tensor> before;
      for (const at::Tensor& p : parameters) before.push_back(p.detach().clone());
      optimizer->SetLearningRate(0);
      optimizer->Step();
      ExpectClose(before, parameters, what);
      EXPECT_GE(optimizer->StateTensors().size(), parameters.size()) << what;
    }
  }
}

TEST(Optimizers, ZeroGradZeroesOrReleasesGradients) {
  std::vector<at::Tensor> parameters = MakeParameters();
  auto optimizer = MakeOptimizer({}, parameters);
  SetGradients(parameters, 0);
  optimizer->ZeroGrad(ZeroGradMode::kZero);
  EXPECT_EQ(parameters[0].grad().abs().sum().item<float>(), 0);
  optimizer->ZeroGrad(ZeroGradMode::kNone);
  EXPECT_FALSE(parameters[0].grad().defined());
}

}  // namespace
}  // namespace vramscope::trainer
