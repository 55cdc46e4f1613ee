// The matrices that cuSPARSE's descriptors describe, sparse or dense, and the buffer sizes of
// products. cuSPARSE publishes no formulas, so all are assumed. Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "emulated/libraries/data_type.h"

namespace vramscope::emulated::cusparse {

struct Matrix {
  int64_t rows = 0, columns = 0, nonzeros = 0;
  int type = 0;
  int index_bytes = 4, offset_bytes = 4;  // offset_bytes 0: coordinates
  void* values = nullptr;
  void* offsets = nullptr;
  void* indices = nullptr;
  bool sparse = false;
  int batch = 1;
};

inline uint64_t ValueBytes(const Matrix& m) {
  const uint64_t elements =
      m.sparse ? Positive(m.nonzeros) : Product(Positive(m.rows), Positive(m.columns));
  return Product(Product(elements, Positive(m.batch)), DataTypeOf(m.type).bits) / 8;
}
// Returns the bytes of partial sums for rows that blocks may share, or 0 for the coordinate
// format.
inline uint64_t SpmvBuffer(const Matrix& a) {
  return a.offset_bytes ? Product(Positive(a.rows) / 128 + 1, 8) : 0;
}
inline uint64_t SpmmBuffer(const Matrix& a) { return SpmvBuffer(a); }
// Returns the size of a buffer for the order in which rows can be solved.
inline uint64_t SolveBuffer(const Matrix& a) {
  return Product(Positive(a.rows), 2 * 4) + Product(Positive(a.nonzeros), 4);
}
inline uint64_t SortBuffer(int64_t nonzeros) { return Product(Positive(nonzeros), 2 * 4) + 256; }
inline uint64_t SpgemmBuffer(const Matrix& a, const Matrix& b) {
  return Product(Positive(a.nonzeros) + Positive(b.nonzeros), 8) + 256;
}
// Assumes that the elements are at random positions, so that each element of `a` is multiplied with
// a row of `b` of average length. The result has at most as many elements as a full matrix.
inline int64_t SpgemmNonzeros(const Matrix& a, const Matrix& b) {
  const uint64_t row =
      Positive(b.rows) ? (Positive(b.nonzeros) + Positive(b.rows) - 1) / Positive(b.rows) : 0;
  const uint64_t most = Product(Positive(a.rows), Positive(b.columns));
  return static_cast<int64_t>(
      std::min<uint64_t>({Product(Positive(a.nonzeros), row), most, INT64_MAX / 64}));
}

}  // namespace vramscope::emulated::cusparse
