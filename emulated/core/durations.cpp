#include "emulated/core/durations.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace vramscope::emulated {
namespace {

constexpr double kLongest = 3600;
// The duration of the smallest kernel in seconds. Measured: 0.7 to 1.1 us.
constexpr double kShortest = 1e-6;

int64_t Nanoseconds(double seconds) {
  return static_cast<int64_t>(std::clamp(seconds, kShortest, kLongest) * 1e9);
}

double RateOf(const Gpu& gpu, Precision precision) {
  return precision == Precision::kFp32   ? gpu.fp32_flops
         : precision == Precision::kTf32 ? gpu.tf32_flops
                                         : gpu.bf16_flops;
}

double ClocksPerSecond(const Gpu& gpu) {
  constexpr double kUsual = 1.7e9;
  return gpu.boost_mhz > 0 ? gpu.boost_mhz * 1e6 : kUsual;
}

// Mixed reads and writes reach 0.88 to 0.92 of the memory bandwidth. Data that fits into the L2
// cache reaches 1.05 to 1.25 of the memory bandwidth, because the data is already in the cache and
// is written back later.
double Moving(const Gpu& gpu, double bytes) {
  constexpr double kOfMemory = 0.9, kOfCache = 1.1;
  const double share = bytes <= static_cast<double>(gpu.l2_bytes) ? kOfCache : kOfMemory;
  return bytes / (gpu.bandwidth_bytes_per_s * share);
}

struct Tile {
  double rows, columns;
  double share;  // fraction of a multiprocessor's peak rate
};
// cuBLAS's tiles: the larger a tile, the more often loaded data is reused.
constexpr Tile kTiles[] = {{256, 128, 0.82}, {128, 128, 0.74}, {64, 64, 0.62}};
constexpr Tile kNarrowTiles[] = {
    {256, 128, 0.8}, {192, 128, 0.8}, {128, 128, 0.8}, {128, 96, 0.72}, {64, 64, 0.58}};

// Returns the share of the rate that kernels reach if operands are not aligned to 16 bytes. For
// 16-bit types aligned to 2 bytes, cuBLAS chose kernels for older GPUs. These reached 0.10 to 0.15
// of the peak instead of 0.8. Shares for alignments in between are assumed.
double ShareOfUnaligned(Precision precision, int alignment) {
  if (precision == Precision::kFp32 || alignment >= 16) return 1;
  return precision == Precision::kTf32 || alignment >= 4 ? 0.5 : 1.0 / 6;
}

}  // namespace

int64_t LaunchDuration(const Gpu& gpu, const LaunchWork& work) {
  const double multiprocessors = std::max(gpu.sm_count, 1);
  double moving = Moving(gpu, work.bytes);
  if (work.blocks > 0) {
    // One multiprocessor can use only slightly more than its equal share of the memory bandwidth.
    constexpr double kMost = 1.15;
    const double rounds = std::ceil(work.blocks / multiprocessors);
    moving *= std::max(1.0, rounds * multiprocessors / (work.blocks * kMost));
  }
  if (work.serial_threads > 0) {
    // The throughput of one thread. It was measured with one block that computes column sums.
    constexpr double kBytesPerSecond = 64e6;
    const double threads =
        std::min(work.serial_threads, multiprocessors * std::max(gpu.max_threads_per_sm, 1));
    moving = std::max(moving, work.bytes / (threads * kBytesPerSecond));
  }
  // Memory transfers overlap with computing. Issuing instructions and arithmetic do not overlap.
  double computing = work.clocks / (multiprocessors * ClocksPerSecond(gpu));
  if (work.tiles > 0) {
    const double rate = RateOf(gpu, work.precision) / multiprocessors * work.share;
    computing += std::ceil(work.tiles / multiprocessors) * work.tile_flops / rate;
  }
  return Nanoseconds(kShortest + work.serial_s + std::max(moving, computing));
}

int64_t KernelDuration(const Gpu& gpu, uint64_t blocks, uint64_t threads) {
  return LaunchDuration(
      gpu, {.bytes = static_cast<double>(blocks) * static_cast<double>(threads) * kBytesPerThread});
}

int64_t WorkDuration(const Gpu& gpu, double flops, Precision precision, uint64_t bytes) {
  return Nanoseconds(kShortest + std::max(flops / RateOf(gpu, precision),
                                          Moving(gpu, static_cast<double>(bytes))));
}

// A multiprocessor works on one tile of the result at a time, and all multiprocessors begin their
// next tile together. So the last round takes as long as the others, even with few tiles left.
// The fastest of the available tile sizes is used. If even the smallest tiles do not fill the GPU,
// the sum over k is computed in parts, and another kernel adds up the parts.
int64_t ProductDuration(const Gpu& gpu, const MatrixProduct& product, double flops,
                        Precision precision, uint64_t bytes) {
  const double m = static_cast<double>(product.m), n = static_cast<double>(product.n),
               k = static_cast<double>(product.k), batch = static_cast<double>(product.batch);
  if (m <= 0 || n <= 0 || k <= 0 || batch <= 0) return WorkDuration(gpu, flops, precision, bytes);
  const bool narrow = precision == Precision::kBf16;
  // The time before the first and after the last step of a sum, measured in steps.
  const double around = narrow ? 96 : 32;
  const double start = narrow ? 2e-6 : 4e-6;
  const int most_parts = product.most_parts > 0 ? product.most_parts : narrow ? 1 : 4;
  constexpr double kShortestPart = 256, kAddingUp = 3e-6;
  const double multiprocessors = std::max(gpu.sm_count, 1);
  const double rate =
      RateOf(gpu, precision) / multiprocessors * ShareOfUnaligned(precision, product.alignment);
  const double operations = flops / (2 * m * n * k * batch);  // above 1 for complex and fp64
  double fastest = kLongest;
  const auto try_tile = [&](double rows, double columns, double share) {
    const double tiles = std::ceil(m / rows) * std::ceil(n / columns) * batch;
    for (int parts = 1; parts <= most_parts; ++parts) {
      if (parts > 1 && (k / parts < kShortestPart || tiles >= multiprocessors)) break;
      const double rounds = std::ceil(tiles * parts / multiprocessors);
      double seconds =
          rounds * 2 * operations * rows * columns * (k / parts + around) / (rate * share);
      if (parts > 1) seconds += kAddingUp + Moving(gpu, (parts + 1) * m * n * batch * 4);
      fastest = std::min(fastest, seconds);
    }
  };
  for (const Tile& tile : narrow ? std::span<const Tile>(kNarrowTiles) : std::span(kTiles)) {
    try_tile(tile.rows, tile.columns, tile.share);
    if (tile.rows != tile.columns) try_tile(tile.columns, tile.rows, tile.share);
  }
  return Nanoseconds(start + std::max(fastest, Moving(gpu, static_cast<double>(bytes))));
}

// Returns the duration of a copy over the bus. Pinned memory reaches 55.3 GB/s with PCIe 5
// (measured; compute capability 9.0, and 10.0 or higher) and 25 GB/s with PCIe 4 (reported by
// bandwidthTest). Pageable memory, which the host stages, reaches 8 to 15 GB/s (measured). On
// integrated GPUs a copy reads and writes the shared memory.
int64_t CopyDuration(const Gpu& gpu, uint64_t bytes, CopyPath path) {
  const double size = static_cast<double>(bytes);
  if (path == CopyPath::kOnGpu || gpu.integrated)
    return Nanoseconds(kShortest + Moving(gpu, 2 * size));
  constexpr double kPcie5 = 55e9, kPcie4 = 25e9, kStaged = 12e9;
  const double bus = gpu.compute_capability >= 90 ? kPcie5 : kPcie4;
  return Nanoseconds(kShortest + size / (path == CopyPath::kPinned ? bus : std::min(bus, kStaged)));
}

int64_t FillDuration(const Gpu& gpu, uint64_t bytes) {
  return Nanoseconds(kShortest + Moving(gpu, static_cast<double>(bytes)));
}

}  // namespace vramscope::emulated
