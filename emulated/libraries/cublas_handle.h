// The state of a cuBLAS handle, and the submission of products and vector operations.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <span>

#include "emulated/core/kernels.h"
#include "emulated/libraries/data_type.h"

namespace vramscope::emulated::cublas {

enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 3,
  kInvalidValue = 7,
  kExecutionFailed = 13,
  kNotSupported = 15,
};

struct Handle {
  int device = 0;  // the device for which the handle was created
  void* stream = nullptr;
  int pointer_mode = 0;  // 0: scalars are in host memory
  int atomics_mode = 0;
  int math_mode = 0;  // 3: TF32 allowed
  int sm_count_target = 0;
  int emulation_strategy = 0;
  void* workspace = nullptr;
  uint64_t workspace_bytes = 0;
  bool tf32() const { return (math_mode & 0xf) == 3; }
};

struct Matrix {
  const void* address = nullptr;
  int64_t rows = 0, columns = 0, leading = 0;
  DataType type;
  int64_t stride = 0;  // elements between the matrices of a batch

  uint64_t elements() const { return Product(Positive(rows), Positive(columns)); }
  // Returns the bytes from the first element to the end of the last element.
  uint64_t extent_bytes(int64_t batch) const {
    if (rows <= 0 || columns <= 0) return 0;
    const uint64_t one =
        Product(Positive(columns - 1), Positive(leading ? leading : rows)) + Positive(rows);
    const uint64_t all = Product(Positive(batch - 1), Positive(stride)) + one;
    return Product(all, type.bits) / 8;
  }
};

// Returns the alignment in bytes that all columns of all matrices have, up to 16.
inline int AlignmentOf(std::initializer_list<Matrix> matrices) {
  uint64_t bits = 16 * 8;
  for (const Matrix& matrix : matrices)
    bits = std::gcd(bits, Product(Positive(matrix.leading), matrix.type.bits));
  return static_cast<int>(bits / 8);
}

// The product C = op(A) op(B) of size m x n x k, computed `batch` times.
struct Gemm {
  const char* name = "";
  int64_t m = 0, n = 0, k = 0, batch = 1;
  // The addresses are null if a batch has its list of addresses in GPU memory.
  Matrix a, b, c;
  Precision precision = Precision::kFp32;
};
int Submit(Handle* handle, const Gemm& gemm);

// Submits work that is no product: `flops` operations, with `bytes` read and written.
int Submit(Handle* handle, const char* name, double flops, uint64_t bytes, const Written& written,
           const Written& second = {});

// Writes 0 as the scalar result, because nothing is computed. The handle's pointer mode decides
// whether the result is on the host or on the GPU.
void Answer(Handle* handle, void* result, uint64_t bytes);

}  // namespace vramscope::emulated::cublas
