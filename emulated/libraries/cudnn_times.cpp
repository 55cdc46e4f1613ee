#include "emulated/libraries/cudnn_times.h"

#include <algorithm>
#include <cmath>

#include "emulated/libraries/data_type.h"

namespace vramscope::emulated::cudnn {
namespace {

int64_t Dimension(const Shape& shape, int i) {
  return i < shape.count ? std::max<int64_t>(shape.dims[i], 1) : 1;
}

}  // namespace

int64_t ConvolutionDuration(const Gpu& gpu, const Convolution& c, Precision precision) {
  const double flops = ConvolutionFlops(c);
  const int64_t out_channels = Dimension(c.filter, 0), of_group = Dimension(c.filter, 1);
  const int64_t channels = Dimension(c.image, 1);
  const int64_t groups = std::max<int64_t>(channels / of_group, 1);
  int64_t window = 1;
  for (int i = 2; i < c.filter.count; ++i) window *= Dimension(c.filter, i);
  const auto pixels = [](const Shape& shape) {
    return static_cast<int64_t>(shape.elements()) / Dimension(shape, 1);
  };
  MatrixProduct product{.batch = groups};
  switch (c.kind) {
    case ConvolutionKind::kForward:
      product.m = pixels(c.out), product.n = out_channels / groups;
      break;
    case ConvolutionKind::kBackwardData:
      product.m = pixels(c.image), product.n = of_group;
      break;
    case ConvolutionKind::kBackwardFilter:
      product.m = out_channels / groups, product.n = of_group * window;
      break;
  }
  product.m = std::max<int64_t>(product.m, 1), product.n = std::max<int64_t>(product.n, 1);
  product.k = std::max<int64_t>(
      std::llround(flops / (2.0 * static_cast<double>(product.m) * static_cast<double>(product.n) *
                            static_cast<double>(groups))),
      1);
  // Sums over all pixels are split into parts, so that they fill the GPU.
  constexpr int kMostParts = 64;
  if (c.kind == ConvolutionKind::kBackwardFilter) product.most_parts = kMostParts;
  const uint64_t bytes = c.image.bytes() + c.filter.bytes() + c.out.bytes();
  // A convolution reaches this share of the speed of a matrix product of the same size. Measured
  // over all convolutions of ResNet-50 with TF32.
  constexpr double kShare = 0.6;
  auto duration = static_cast<int64_t>(
      static_cast<double>(ProductDuration(gpu, product, flops, precision, bytes)) / kShare);
  if (precision != Precision::kFp32 && window > 1 && !c.image.channels_last())
    duration += CopyDuration(gpu, bytes, CopyPath::kOnGpu);
  return duration;
}

int64_t AttentionDuration(const Gpu& gpu, const AttentionWork& attention) {
  // Measured in bf16 with 4,096 queries and keys, a causal mask and a head width of 64.
  constexpr double kShare = 0.42, kTile = 128;
  const double left = attention.causal ? 0.5 : 1;
  LaunchWork work{.bytes = static_cast<double>(attention.bytes),
                  .share = kShare,
                  .precision = attention.precision};
  work.tiles = attention.heads * std::ceil(attention.queries / kTile);
  if (work.tiles > 0) work.tile_flops = attention.flops * left / work.tiles;
  // Dropout needs a random number for every score.
  if (attention.dropout)
    work.clocks = kClocksOfRandomNumber * attention.heads * attention.queries * attention.keys;
  return LaunchDuration(gpu, work);
}

int64_t BatchNormDuration(const Gpu& gpu, uint64_t bytes, int passes) {
  // The share of a copy's bandwidth that is reached. Measured with ResNet-50 in fp32 and channels
  // first, with one block per channel.
  constexpr double kShare = 0.45;
  return LaunchDuration(gpu, {.bytes = static_cast<double>(bytes) * passes / kShare});
}

}  // namespace vramscope::emulated::cudnn
