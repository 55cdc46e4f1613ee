// Computes the bytes, operations and work area of a Fourier transform. Pure functions.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "emulated/libraries/data_type.h"

namespace vramscope::emulated::cufft {

constexpr int kMostRank = 3;
struct Transform {
  uint64_t bits = 64;  // size of a complex element
  bool real_in = false, real_out = false;
  int rank = 1;
  std::array<int64_t, kMostRank> n = {1, 1, 1};
  int64_t batch = 1;
};

inline uint64_t Points(const Transform& t) {
  uint64_t points = Positive(t.batch);
  for (int i = 0; i < t.rank; ++i) points = Product(points, Positive(t.n[static_cast<size_t>(i)]));
  return points;
}
// Returns the number of complex elements. With real input or output, the last dimension has
// slightly more than half.
inline uint64_t ComplexPoints(const Transform& t) {
  if (!t.real_in && !t.real_out) return Points(t);
  const auto last = Positive(t.n[static_cast<size_t>(t.rank - 1)]);
  return last ? Product(Points(t) / last, last / 2 + 1) : 0;
}
inline uint64_t InputBytes(const Transform& t) {
  return (t.real_in ? Product(Points(t), t.bits / 2) : Product(ComplexPoints(t), t.bits)) / 8;
}
inline uint64_t OutputBytes(const Transform& t) {
  return (t.real_out ? Product(Points(t), t.bits / 2) : Product(ComplexPoints(t), t.bits)) / 8;
}
// Returns 5 n log2 n, the usual count of operations, or half of it for real data.
inline double Flops(const Transform& t) {
  double points = 1;
  for (int i = 0; i < t.rank; ++i)
    points *= static_cast<double>(Positive(t.n[static_cast<size_t>(i)]));
  return 5 * points * std::log2(points < 2 ? 2 : points) * static_cast<double>(Positive(t.batch)) *
         (t.real_in || t.real_out ? 0.5 : 1);
}
inline uint64_t WorkArea(const Transform& t) {
  constexpr int64_t kOneKernel = 4096;
  const int64_t n = t.n[0];
  if (t.rank == 1 && n <= kOneKernel && n > 0 && (n & (n - 1)) == 0) return 0;
  return Product(ComplexPoints(t), t.bits) / 8;
}

}  // namespace vramscope::emulated::cufft
