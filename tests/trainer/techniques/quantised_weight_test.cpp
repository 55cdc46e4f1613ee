// Tests weights in 4 and 8 bits, computed on the CPU. In each block, the dequantised weights must
// be close to the original ones. Products and gradients must be those of the dequantised weights.
#include "trainer/techniques/quantised_weight.h"

#include <gtest/gtest.h>
#include <torch/types.h>

namespace vramscope::trainer {
namespace {

constexpr int64_t kRows = 24, kColumns = 128;

double RelativeError(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

at::Tensor Weight() {
  at::manual_seed(3);
  // The rows have so different magnitudes that a single scale would round small rows to zero.
  const at::Tensor sizes = at::pow(10, at::linspace(-4, 1, kRows)).unsqueeze(1);
  return at::randn({kRows, kColumns}) * sizes;
}

// `most` is the maximum error of a row. The product's error also comes from outliers and rounded
// tokens.
void Check(const c10::intrusive_ptr<QuantisedWeight>& weight, double most, double product_error) {
  const at::Tensor real = Weight();
  const at::Tensor kept = weight->Keep(real);
  EXPECT_EQ(kept.sizes().vec(), weight->stored().shape);
  EXPECT_EQ(kept.scalar_type(), weight->stored().dtype);
  const at::Tensor wide = weight->Wide(at::kFloat);
  ASSERT_EQ(wide.sizes(), real.sizes());
  for (int64_t row = 0; row < kRows; ++row) {
    const double error = RelativeError(wide[row], real[row]);
    EXPECT_GT(error, 0) << row;
    EXPECT_LT(error, most) << row;
  }
  at::Tensor x = at::randn({2, 3, kColumns});
  x[0][0][5] = 20;  // an outlier
  x.set_requires_grad(true);
  for (const at::Tensor& bias : {at::Tensor(), at::randn({kRows})}) {
    x.mutable_grad().reset();
    const at::Tensor y = weight->Product(x, bias);
    const at::Tensor expected = at::matmul(x, wide.t()) + (bias.defined() ? bias : at::zeros({1}));
    EXPECT_LE(RelativeError(y, expected), product_error);
    const at::Tensor gradient = at::randn_like(y);
    y.backward(gradient);
    EXPECT_LT(RelativeError(x.grad(), at::matmul(gradient, wide)), 1e-5);
  }
  weight->Release();
}

TEST(QuantisedWeight, Nf4ErrorIsSmallInEveryBlock) {
  // Rounding to the 16 quantiles of a normal distribution causes an error of 9 %. Quantised scales
  // add a little: the largest scale of a group determines the steps of all its scales.
  const auto table = std::make_shared<ScaleTable>();
  const auto weight = MakeNf4Weight(table, kRows, kColumns, /*computes=*/true);
  at::manual_seed(3);
  const at::Tensor real = at::randn({kRows, kColumns});
  weight->Keep(real);
  const double error = RelativeError(weight->Wide(at::kFloat), real);
  EXPECT_GT(error, 0.05);
  EXPECT_LT(error, 0.12);
  // Each block has its own scale, so small values in half of the blocks must not increase errors.
  const at::Tensor uneven = real.clone();
  uneven.slice(1, 0, 64).mul_(0.1);
  weight->Keep(uneven);
  const at::Tensor wide = weight->Wide(at::kFloat);
  EXPECT_LT(RelativeError(wide.slice(1, 0, 64), uneven.slice(1, 0, 64)), 0.15);
  EXPECT_LT(RelativeError(wide.slice(1, 64), uneven.slice(1, 64)), 0.12);

  const at::Tensor x = at::randn({5, kColumns}).set_requires_grad(true);
  const at::Tensor y = weight->Product(x, {});
  EXPECT_LT(RelativeError(y, at::matmul(x, wide.t())), 1e-5);
  const at::Tensor gradient = at::randn_like(y);
  y.backward(gradient);
  EXPECT_LT(RelativeError(x.grad(), at::matmul(gradient, wide)), 1e-5);
  weight->Release();
}

TEST(QuantisedWeight, Nf4PadsOddNumberOfWeights) {
  const auto weight = MakeNf4Weight(std::make_shared<ScaleTable>(), 3, 5, /*computes=*/true);
  const at::Tensor real = at::randn({3, 5});
  EXPECT_EQ(weight->Keep(real).numel(), 8);
  EXPECT_LT(RelativeError(weight->Wide(at::kFloat), real), 0.2);
}

TEST(QuantisedWeight, Int8ErrorIsSmallInEveryRow) {
  Check(MakeInt8Weight(kRows, kColumns, /*computes=*/true), 0.02, 0.02);
}

}  // namespace
}  // namespace vramscope::trainer
