// Computes the workspaces of dense solvers, in elements. cuSOLVER's own formulas are not published.
// These are LAPACK's documented formulas for the same routines, with blocks of 64 columns if LAPACK
// leaves the block size open. All are assumed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "emulated/libraries/data_type.h"

namespace vramscope::emulated::cusolver {

constexpr int64_t kBlock = 64;

constexpr uint64_t Times(int64_t a, int64_t b) { return Product(Positive(a), Positive(b)); }
constexpr uint64_t Panel(int64_t n) { return std::max<uint64_t>(Times(n, kBlock), 1); }
constexpr uint64_t Potrf(int64_t n) { return Panel(n); }
constexpr uint64_t Getrf(int64_t m, int64_t n) { return Panel(std::max(m, n)); }
constexpr uint64_t Geqrf(int64_t, int64_t n) { return Panel(n); }
constexpr uint64_t Orgqr(int64_t m, int64_t n) { return Panel(std::max(m, n)); }
constexpr uint64_t Sytrf(int64_t n) { return Panel(n); }
// dsyevd: 1 + 6 n + 2 n^2 with vectors, 2 n + 1 without.
constexpr uint64_t Syevd(bool vectors, int64_t n) {
  return vectors ? 1 + 6 * Positive(n) + 2 * Times(n, n) : 2 * Positive(n) + 1;
}
// dgesvd: max(3 min(m, n) + max(m, n), 5 min(m, n)).
constexpr uint64_t Gesvd(int64_t m, int64_t n) {
  return std::max<uint64_t>(
      {3 * Positive(std::min(m, n)) + Positive(std::max(m, n)), 5 * Positive(std::min(m, n)), 1});
}
// dgejsv, all vectors: max(2 m + n, 6 n + 2 n^2).
constexpr uint64_t Gesvdj(int64_t m, int64_t n) {
  return std::max<uint64_t>({2 * Positive(m) + Positive(n), 6 * Positive(n) + 2 * Times(n, n), 1});
}
// dgeev: 4 n.
constexpr uint64_t Geev(int64_t n) { return std::max<uint64_t>(4 * Positive(n), 1); }

}  // namespace vramscope::emulated::cusolver
