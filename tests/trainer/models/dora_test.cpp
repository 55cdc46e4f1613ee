// Tests DoRA on a linear layer. DoRA scales the rows of the adapted weight to trained lengths.
#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/types.h>

#include "trainer/models/layers.h"

namespace vramscope::trainer {
namespace {

const LoraConfig kDora{.rank = 2, .alpha = 6, .decompose = true};

struct Made {
  std::unique_ptr<Linear> layer;
  at::Tensor weight, bias, a, b, magnitude;  // weight: [outputs, inputs]
};

Made Make(bool transposed) {
  Made made{std::make_unique<Linear>(
      "linear",
      Linear::Options{.inputs = 5, .outputs = 3, .bias = true, .transposed = transposed})};
  made.layer->AddAdapter(kDora);
  Materialize(*made.layer, {.seed = 7});
  made.layer->StartAdapter();
  const std::vector<Parameter*> all = made.layer->Parameters();
  EXPECT_EQ(all.size(), 5u);
  EXPECT_EQ(all[2]->name(), "lora.A.weight");
  EXPECT_EQ(all[4]->name(), "lora.magnitude.weight");
  EXPECT_EQ(Count(*made.layer).count, 15u + 3 + 2 * (5 + 3) + 3);
  made.weight = transposed ? all[0]->tensor.t() : all[0]->tensor;
  made.bias = all[1]->tensor;
  made.a = all[2]->tensor;
  made.b = all[3]->tensor;
  made.magnitude = all[4]->tensor;
  return made;
}

class Dora : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Layouts, Dora, testing::Bool());

TEST_P(Dora, StartsEqualToThePlainLayer) {
  const Made made = Make(GetParam());
  const at::Tensor x = at::randn({4, 5});
  const at::Tensor plain = at::linear(x, made.weight, made.bias);
  EXPECT_TRUE(at::allclose(made.layer->Forward(x), plain, 1e-5, 1e-6));
}

TEST_P(Dora, ScalesRowsToTrainedMagnitudes) {
  const Made made = Make(GetParam());
  {
    at::NoGradGuard no_grad;
    made.b.normal_();
    made.magnitude.uniform_(0.5, 2);
  }
  const at::Tensor x = at::randn({4, 5});
  const at::Tensor sum = made.weight + 3 * at::matmul(made.b, made.a);  // alpha / rank
  const at::Tensor length = at::linalg_norm(sum.detach(), std::nullopt, at::IntArrayRef{1});
  const at::Tensor merged = (made.magnitude / length).unsqueeze(1) * sum;
  const at::Tensor expected = at::linear(x, merged, made.bias);
  const at::Tensor got = made.layer->Forward(x);
  EXPECT_TRUE(at::allclose(got, expected, 1e-5, 1e-5)) << got << expected;

  // `merged` treats the lengths of its rows as constants. The layer must have the same gradients.
  const std::vector<at::Tensor> trained = {made.a, made.b, made.magnitude};
  const auto gradients = torch::autograd::grad({got.sum()}, trained);
  const auto wanted = torch::autograd::grad({expected.sum()}, trained);
  for (size_t i = 0; i < trained.size(); ++i) {
    EXPECT_TRUE(at::allclose(gradients[i], wanted[i], 1e-4, 1e-5)) << i;
  }
}

}  // namespace
}  // namespace vramscope::trainer
