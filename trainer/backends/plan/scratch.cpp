#include "trainer/backends/plan/scratch.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace vramscope::trainer::plan {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t RoundUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

// Largest power of two not above n, within [1, limit].
int64_t PowerOfTwo(int64_t n, int64_t limit) {
  if (n >= limit) return limit;
  int64_t power = 1;
  while (power * 2 <= n) power *= 2;
  return power;
}

}  // namespace

ReductionScratch ScratchOf(const Reduction& r, const Multiprocessors& gpu) {
  constexpr int64_t kBlockThreads = 512;
  constexpr int64_t kWarp = 32;
  int64_t dim0 = 1, dim1 = 1;  // along threads x and y
  int64_t vector = 1;
  if (r.dimensions > 0) {
    dim0 = r.reduces_fastest ? r.inputs_per_output : r.outputs;
    dim1 = r.reduces_fastest ? r.outputs : r.inputs_per_output;
  }
  if (r.contiguous) {
    if (r.reduces_fastest) {
      if (dim0 >= 128 && r.reduced_dimensions == 1) dim0 /= r.input_vector;
    } else {
      vector = r.output_vector;
      dim0 /= vector;
    }
  }
  const int64_t limit = kBlockThreads / vector;
  const int64_t x0 = PowerOfTwo(dim0, limit);
  const int64_t y0 = PowerOfTwo(dim1, limit);
  int64_t width = std::min(x0, kWarp);
  const int64_t height = std::min(y0, limit / width);
  width = std::min(x0, limit / height);

  const bool along_x = r.dimensions == 0 || r.reduces_fastest;
  int64_t step_input = along_x ? width : 1;
  int64_t step_output = along_x ? 1 : width;
  const bool along_y =
      CeilDiv(r.inputs_per_output, step_input) >= std::min<int64_t>(height * 16, 256);
  (along_y ? step_input : step_output) *= height;

  const int64_t per_thread = CeilDiv(r.inputs_per_output, step_input);
  const int64_t grid = CeilDiv(r.outputs / vector, step_output);
  const int64_t target = gpu.count * (gpu.threads / (width * height));
  if (!along_y || per_thread < 256 || grid > target || grid == 0) return {};
  const int64_t blocks =
      std::max(std::min(CeilDiv(target, grid), CeilDiv(per_thread, 16)), CeilDiv(per_thread, 256));
  if (blocks <= 1) return {};
  return {.staging = r.accumulator_bytes * r.outputs * blocks * (along_x ? 1 : width * vector),
          .semaphores = 4 * grid};
}

int64_t RadixSortScratch(int64_t n, int bits) {
  constexpr int64_t kTile = 2304;   // sorted by one block without temporary storage
  constexpr int64_t kBlock = 3840;  // pairs of a block above that
  if (n <= kTile) return 1;
  const int64_t passes = CeilDiv(bits, 8);
  int64_t bytes = 255 + RoundUp(passes * 256 * 8, 256) + RoundUp(CeilDiv(n, kBlock) * 1024, 256) +
                  RoundUp(passes * 4, 256);
  if (passes > 1) bytes += 2 * RoundUp(n * 8, 256);
  return bytes;
}

int BitWidth(uint64_t value) {
  int bits = 0;
  for (; value != 0; value >>= 1) ++bits;
  return bits;
}

int64_t FlashSplits(int64_t batch, int64_t heads, int64_t queries, int64_t keys, int64_t head_size,
                    int64_t multiprocessors) {
  constexpr int64_t kQueryBlock = 64;
  constexpr int64_t kMaxSplits = 128;
  const int64_t key_block = head_size <= 64 ? 256 : head_size <= 128 ? 128 : 64;
  const int64_t key_blocks = CeilDiv(keys, key_block);
  const int64_t tiles = batch * heads * CeilDiv(queries, kQueryBlock);
  multiprocessors *= 2;  // blocks have 128 threads: two fit where the heuristic counts one
  if (static_cast<double>(tiles) >= 0.8 * static_cast<double>(multiprocessors)) return 1;
  const int64_t most = std::min({kMaxSplits, multiprocessors, key_blocks});
  const auto eligible = [&](int64_t n) {
    return n == 1 || CeilDiv(key_blocks, n) != CeilDiv(key_blocks, n - 1);
  };
  std::vector<double> efficiency;
  for (int64_t n = 1; n <= most; ++n) {
    const double waves = static_cast<double>(tiles * n) / static_cast<double>(multiprocessors);
    efficiency.push_back(eligible(n) ? waves / std::ceil(waves) : 0);
  }
  const double best = *std::max_element(efficiency.begin(), efficiency.end());
  for (int64_t n = 1; n <= most; ++n) {
    if (eligible(n) && efficiency[n - 1] >= 0.85 * best) return n;
  }
  return 1;
}

int64_t EfficientHeadMultiple(bool half) { return half ? 8 : 4; }

int64_t EfficientForwardAccumulator(const EfficientAttention& a) {
  constexpr int64_t kInRegisters = 128;
  return a.half && a.head_size > kInRegisters ? a.batch * a.queries * a.heads * a.head_size * 4 : 0;
}

int64_t EfficientBackwardWorkspace(const EfficientAttention& a) {
  // 99 KiB of shared memory in a block of theirs, 163 and more in others'.
  const bool small =
      a.compute_capability == 86 || a.compute_capability == 89 || a.compute_capability == 120;
  // The tile of queries by keys, and whether the gradients of key and value stay in registers.
  int64_t queries = 64, keys = 64;
  bool in_registers = a.half && a.head_size <= 64;
  if (a.head_size > 64) {
    const bool special = a.half && a.head_size <= 96 && !a.dropout &&
                         (a.compute_capability == 86 || a.compute_capability == 89);
    if (!small || special) queries = 128;
    if (!small && a.half && a.head_size <= 128) keys = 128;
    in_registers = special || (!small && a.half && a.head_size <= 128);
  }
  const int64_t pairs = a.batch * a.heads;
  const bool accumulates = a.half && !in_registers;
  int64_t splits = CeilDiv(a.keys, keys);
  if (pairs >= 256 && a.keys <= 2 * keys) splits = 1;
  if (accumulates) splits = std::min(splits, 200 / pairs);
  splits = std::max<int64_t>(splits, 1);
  const int64_t key_value = accumulates ? 2 * splits * keys * RoundUp(a.head_size, queries) : 0;
  const int64_t tile = queries * keys + 4;  // with a lock and a counter
  const int64_t query = CeilDiv(a.queries, queries) * CeilDiv(a.head_size, keys) * tile;
  return pairs * RoundUp(key_value + query, 4) * 4;
}

}  // namespace vramscope::trainer::plan
