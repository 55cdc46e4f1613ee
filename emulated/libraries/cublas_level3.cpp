// Implements libcublas's matrix products and operations built from them. Names and parameters are
// from the documented interface. Only sizes, leading dimensions and types are used.
#include <algorithm>

#include "emulated/libraries/cublas_handle.h"

namespace vramscope::emulated::cublas {
namespace {

constexpr DataType kS = DataTypeOf(0), kD = DataTypeOf(1), kC = DataTypeOf(4), kZ = DataTypeOf(5),
                   kH = DataTypeOf(2);

bool Transposed(int operation) { return operation != 0; }

// Computes the shapes of a product's matrices from m, n, k and the transpositions.
Gemm Describe(const char* name, int ta, int tb, int64_t m, int64_t n, int64_t k, DataType a,
              DataType b, DataType c, int64_t lda, int64_t ldb, int64_t ldc, int64_t batch) {
  Gemm gemm;
  gemm.name = name;
  gemm.m = m, gemm.n = n, gemm.k = k, gemm.batch = batch;
  gemm.a = {
      .rows = Transposed(ta) ? k : m, .columns = Transposed(ta) ? m : k, .leading = lda, .type = a};
  gemm.b = {
      .rows = Transposed(tb) ? n : k, .columns = Transposed(tb) ? k : n, .leading = ldb, .type = b};
  gemm.c = {.rows = m, .columns = n, .leading = ldc, .type = c};
  return gemm;
}
int Plain(Handle* handle, const char* name, int ta, int tb, int64_t m, int64_t n, int64_t k,
          DataType type, const void* a, int64_t lda, const void* b, int64_t ldb, void* c,
          int64_t ldc, int64_t stride_c = 0, int64_t batch = 1) {
  Gemm gemm = Describe(name, ta, tb, m, n, k, type, type, type, lda, ldb, ldc, batch);
  gemm.a.address = a, gemm.b.address = b, gemm.c.address = c;
  gemm.c.stride = stride_c;
  gemm.precision = ComputePrecision(68, type, handle && handle->tf32());
  return Submit(handle, gemm);
}
int Mixed(Handle* handle, const char* name, int ta, int tb, int64_t m, int64_t n, int64_t k,
          const void* a, int a_type, int64_t lda, const void* b, int b_type, int64_t ldb, void* c,
          int c_type, int64_t ldc, int compute, int64_t stride_c = 0, int64_t batch = 1) {
  Gemm gemm = Describe(name, ta, tb, m, n, k, DataTypeOf(a_type), DataTypeOf(b_type),
                       DataTypeOf(c_type), lda, ldb, ldc, batch);
  gemm.a.address = a, gemm.b.address = b, gemm.c.address = c;
  gemm.c.stride = stride_c;
  gemm.precision = ComputePrecision(compute, gemm.a.type, handle && handle->tf32());
  return Submit(handle, gemm);
}
// Submits an operation with a square or triangular operand and a general operand. A triangular
// operand halves the number of operations.
int Structured(Handle* handle, const char* name, double flops, DataType type, int64_t m, int64_t n,
               int64_t inner, void* c, int64_t ldc) {
  const Matrix out{.address = c, .rows = m, .columns = n, .leading = ldc, .type = type};
  const uint64_t bytes =
      Product(Product(Positive(m), Positive(n)) * 2 + Product(Positive(inner), Positive(inner)),
              type.bits) /
      8;
  if (m < 0 || n < 0) return kInvalidValue;
  if (m == 0 || n == 0) return handle ? kSuccess : kNotInitialized;
  return Submit(handle, name, flops * (type.complex ? 4 : 1) * (type.fp64 ? 2 : 1), bytes,
                {c, out.extent_bytes(1)});
}
double Cube(double a, double b, double c) { return a * b * c; }

// Submits work on a batch of small matrices. Their list of addresses is in GPU memory.
int Batched(Handle* handle, const char* name, double flops_each, DataType type, int64_t elements,
            int64_t batch, int* host_info) {
  if (host_info) *host_info = 0;
  if (elements < 0 || batch < 0) return kInvalidValue;
  if (batch == 0) return handle ? kSuccess : kNotInitialized;
  return Submit(
      handle, name,
      flops_each * static_cast<double>(batch) * (type.complex ? 4 : 1) * (type.fp64 ? 2 : 1),
      Product(Product(Positive(elements), Positive(batch)), type.bits) / 4, {});
}

}  // namespace
}  // namespace vramscope::emulated::cublas

using namespace vramscope::emulated::cublas;
using vramscope::emulated::Positive;
using vramscope::emulated::Product;
using P = const void*;

// clang-format off
#define VRAMSCOPE_EVERY_TYPE(X) X(S) X(D) X(C) X(Z)

#define VRAMSCOPE_GEMM(NAME, T, I)                                                                \
  int NAME(Handle* h, int ta, int tb, I m, I n, I k, P, P a, I lda, P b, I ldb, P, void* c, I ldc) { \
    return Plain(h, #NAME, ta, tb, m, n, k, k##T, a, lda, b, ldb, c, ldc);                        \
  }
#define VRAMSCOPE_GEMM_STRIDED(NAME, T, I)                                                        \
  int NAME(Handle* h, int ta, int tb, I m, I n, I k, P, P a, I lda, long long, P b, I ldb, long long, \
           P, void* c, I ldc, long long stride, I batch) {                                        \
    return Plain(h, #NAME, ta, tb, m, n, k, k##T, a, lda, b, ldb, c, ldc, stride, batch);         \
  }
#define VRAMSCOPE_GEMM_BATCHED(NAME, T, I)                                                        \
  int NAME(Handle* h, int ta, int tb, I m, I n, I k, P, P, I lda, P, I ldb, P, P, I ldc, I batch) { \
    return Plain(h, #NAME, ta, tb, m, n, k, k##T, nullptr, lda, nullptr, ldb, nullptr, ldc, 0, batch); \
  }
#define VRAMSCOPE_GEMM_EX(SUFFIX, I)                                                              \
  int cublasGemmEx##SUFFIX(Handle* h, int ta, int tb, I m, I n, I k, P, P a, int at, I lda, P b, int bt, I ldb, \
                           P, void* c, int ct, I ldc, int compute, int) {                         \
    return Mixed(h, "cublasGemmEx" #SUFFIX, ta, tb, m, n, k, a, at, lda, b, bt, ldb, c, ct, ldc, compute); \
  }                                                                                               \
  int cublasGemmStridedBatchedEx##SUFFIX(Handle* h, int ta, int tb, I m, I n, I k, P, P a, int at, I lda, \
      long long, P b, int bt, I ldb, long long, P, void* c, int ct, I ldc, long long stride, I batch, \
      int compute, int) {                                                                         \
    return Mixed(h, "cublasGemmStridedBatchedEx" #SUFFIX, ta, tb, m, n, k, a, at, lda, b, bt, ldb, c, ct, ldc, \
                 compute, stride, batch);                                                         \
  }                                                                                               \
  int cublasGemmBatchedEx##SUFFIX(Handle* h, int ta, int tb, I m, I n, I k, P, P, int at, I lda, P, int bt, \
      I ldb, P, P, int ct, I ldc, I batch, int compute, int) {                                    \
    return Mixed(h, "cublasGemmBatchedEx" #SUFFIX, ta, tb, m, n, k, nullptr, at, lda, nullptr, bt, ldb, nullptr, ct, ldc, \
                 compute, 0, batch);                                                              \
  }                                                                                               \
  int cublasSgemmEx##SUFFIX(Handle* h, int ta, int tb, I m, I n, I k, P, P a, int at, I lda, P b, int bt, I ldb, \
                            P, void* c, int ct, I ldc) {                                          \
    return Mixed(h, "cublasSgemmEx" #SUFFIX, ta, tb, m, n, k, a, at, lda, b, bt, ldb, c, ct, ldc, 68);   \
  }                                                                                               \
  int cublasCgemmEx##SUFFIX(Handle* h, int ta, int tb, I m, I n, I k, P, P a, int at, I lda, P b, int bt, I ldb, \
                            P, void* c, int ct, I ldc) {                                          \
    return Mixed(h, "cublasCgemmEx" #SUFFIX, ta, tb, m, n, k, a, at, lda, b, bt, ldb, c, ct, ldc, 68);   \
  }

extern "C" {

#define X(T)                                                  \
  VRAMSCOPE_GEMM(cublas##T##gemm_v2, T, int)                  \
  VRAMSCOPE_GEMM(cublas##T##gemm_v2_64, T, int64_t)           \
  VRAMSCOPE_GEMM_STRIDED(cublas##T##gemmStridedBatched, T, int) \
  VRAMSCOPE_GEMM_STRIDED(cublas##T##gemmStridedBatched_64, T, int64_t) \
  VRAMSCOPE_GEMM_BATCHED(cublas##T##gemmBatched, T, int)      \
  VRAMSCOPE_GEMM_BATCHED(cublas##T##gemmBatched_64, T, int64_t)
VRAMSCOPE_EVERY_TYPE(X)
#undef X
VRAMSCOPE_GEMM(cublasHgemm, H, int)
VRAMSCOPE_GEMM(cublasHgemm_64, H, int64_t)
VRAMSCOPE_GEMM(cublasCgemm3m, C, int)
VRAMSCOPE_GEMM(cublasCgemm3m_64, C, int64_t)
VRAMSCOPE_GEMM(cublasZgemm3m, Z, int)
VRAMSCOPE_GEMM(cublasZgemm3m_64, Z, int64_t)
VRAMSCOPE_GEMM_STRIDED(cublasHgemmStridedBatched, H, int)
VRAMSCOPE_GEMM_STRIDED(cublasHgemmStridedBatched_64, H, int64_t)
VRAMSCOPE_GEMM_BATCHED(cublasHgemmBatched, H, int)
VRAMSCOPE_GEMM_BATCHED(cublasHgemmBatched_64, H, int64_t)
VRAMSCOPE_GEMM_EX(, int)
VRAMSCOPE_GEMM_EX(_64, int64_t)

// symm, hemm: the square operand is on the left (side 0) or right. syrk and similar: the result is
// n x n, the inner dimension k.
#define VRAMSCOPE_SIDED(NAME, T, I)                                                               \
  int NAME(Handle* h, int side, int, I m, I n, P, P, I, P, I, P, void* c, I ldc) {                \
    return Structured(h, #NAME, 2 * Cube(m, n, side == 0 ? m : n), k##T, m, n, side == 0 ? m : n, c, ldc); \
  }
#define VRAMSCOPE_RANK_K(NAME, T, I)                                                              \
  int NAME(Handle* h, int, int, I n, I k, P, P, I, P, void* c, I ldc) {                           \
    return Structured(h, #NAME, Cube(n, n, k), k##T, n, n, k, c, ldc);                            \
  }
#define VRAMSCOPE_RANK_2K(NAME, T, I)                                                             \
  int NAME(Handle* h, int, int, I n, I k, P, P, I, P, I, P, void* c, I ldc) {                     \
    return Structured(h, #NAME, 2 * Cube(n, n, k), k##T, n, n, k, c, ldc);                        \
  }
#define VRAMSCOPE_TRSM(NAME, T, I)                                                                \
  int NAME(Handle* h, int side, int, int, int, I m, I n, P, P, I, void* b, I ldb) {               \
    return Structured(h, #NAME, Cube(m, n, side == 0 ? m : n), k##T, m, n, side == 0 ? m : n, b, ldb); \
  }
#define VRAMSCOPE_TRMM(NAME, T, I)                                                                \
  int NAME(Handle* h, int side, int, int, int, I m, I n, P, P, I, P, I, void* c, I ldc) {         \
    return Structured(h, #NAME, Cube(m, n, side == 0 ? m : n), k##T, m, n, side == 0 ? m : n, c, ldc); \
  }
#define VRAMSCOPE_TRSM_BATCHED(NAME, T, I)                                                        \
  int NAME(Handle* h, int side, int, int, int, I m, I n, P, P, I, P, I, I batch) {                \
    return Batched(h, #NAME, Cube(m, n, side == 0 ? m : n), k##T, Product(Positive(m), Positive(n)), batch, nullptr); \
  }
#define VRAMSCOPE_GEAM(NAME, T, I)                                                                \
  int NAME(Handle* h, int, int, I m, I n, P, P, I, P, P, I, void* c, I ldc) {                     \
    return Structured(h, #NAME, 2 * Cube(m, n, 1), k##T, m, n, 0, c, ldc);                        \
  }
#define VRAMSCOPE_DGMM(NAME, T, I)                                                                \
  int NAME(Handle* h, int, I m, I n, P, I, P, I, void* c, I ldc) {                                \
    return Structured(h, #NAME, Cube(m, n, 1), k##T, m, n, 0, c, ldc);                            \
  }
#define X(T)                                       \
  VRAMSCOPE_SIDED(cublas##T##symm_v2, T, int)      \
  VRAMSCOPE_SIDED(cublas##T##symm_v2_64, T, int64_t) \
  VRAMSCOPE_RANK_K(cublas##T##syrk_v2, T, int)     \
  VRAMSCOPE_RANK_K(cublas##T##syrk_v2_64, T, int64_t) \
  VRAMSCOPE_RANK_2K(cublas##T##syr2k_v2, T, int)   \
  VRAMSCOPE_RANK_2K(cublas##T##syr2k_v2_64, T, int64_t) \
  VRAMSCOPE_RANK_2K(cublas##T##syrkx, T, int)      \
  VRAMSCOPE_RANK_2K(cublas##T##syrkx_64, T, int64_t) \
  VRAMSCOPE_TRSM(cublas##T##trsm_v2, T, int)       \
  VRAMSCOPE_TRSM(cublas##T##trsm_v2_64, T, int64_t) \
  VRAMSCOPE_TRMM(cublas##T##trmm_v2, T, int)       \
  VRAMSCOPE_TRMM(cublas##T##trmm_v2_64, T, int64_t) \
  VRAMSCOPE_TRSM_BATCHED(cublas##T##trsmBatched, T, int) \
  VRAMSCOPE_TRSM_BATCHED(cublas##T##trsmBatched_64, T, int64_t) \
  VRAMSCOPE_GEAM(cublas##T##geam, T, int)          \
  VRAMSCOPE_GEAM(cublas##T##geam_64, T, int64_t)   \
  VRAMSCOPE_DGMM(cublas##T##dgmm, T, int)          \
  VRAMSCOPE_DGMM(cublas##T##dgmm_64, T, int64_t)
VRAMSCOPE_EVERY_TYPE(X)
#undef X
#define X(T)                                       \
  VRAMSCOPE_SIDED(cublas##T##hemm_v2, T, int)      \
  VRAMSCOPE_SIDED(cublas##T##hemm_v2_64, T, int64_t) \
  VRAMSCOPE_RANK_K(cublas##T##herk_v2, T, int)     \
  VRAMSCOPE_RANK_K(cublas##T##herk_v2_64, T, int64_t) \
  VRAMSCOPE_RANK_2K(cublas##T##her2k_v2, T, int)   \
  VRAMSCOPE_RANK_2K(cublas##T##her2k_v2_64, T, int64_t) \
  VRAMSCOPE_RANK_2K(cublas##T##herkx, T, int)      \
  VRAMSCOPE_RANK_2K(cublas##T##herkx_64, T, int64_t)
X(C) X(Z)
#undef X

// LAPACK's routines for batches of small matrices. `info` reads as 0 on the host and on the GPU.
#define X(T)                                                                                      \
  int cublas##T##getrfBatched(Handle* h, int n, P, int, int*, int*, int batch) {                  \
    return Batched(h, "cublas" #T "getrfBatched", Cube(n, n, n) * 2 / 3, k##T, Product(Positive(n), Positive(n)), batch, nullptr); \
  }                                                                                               \
  int cublas##T##getriBatched(Handle* h, int n, P, int, const int*, P, int, int*, int batch) {    \
    return Batched(h, "cublas" #T "getriBatched", Cube(n, n, n) * 4 / 3, k##T, Product(Positive(n), Positive(n)), batch, nullptr); \
  }                                                                                               \
  int cublas##T##matinvBatched(Handle* h, int n, P, int, P, int, int*, int batch) {               \
    return Batched(h, "cublas" #T "matinvBatched", Cube(n, n, n) * 2, k##T, Product(Positive(n), Positive(n)), batch, nullptr); \
  }                                                                                               \
  int cublas##T##getrsBatched(Handle* h, int, int n, int nrhs, P, int, const int*, P, int, int* info, int batch) { \
    return Batched(h, "cublas" #T "getrsBatched", 2 * Cube(n, n, nrhs), k##T, Product(Positive(n), Positive(n)), batch, info); \
  }                                                                                               \
  int cublas##T##geqrfBatched(Handle* h, int m, int n, P, int, P, int* info, int batch) {         \
    return Batched(h, "cublas" #T "geqrfBatched", 2 * Cube(m, n, std::min(m, n)), k##T, Product(Positive(m), Positive(n)), batch, info); \
  }                                                                                               \
  int cublas##T##gelsBatched(Handle* h, int, int m, int n, int nrhs, P, int, P, int, int* info, int*, int batch) { \
    return Batched(h, "cublas" #T "gelsBatched", 2 * Cube(m, n, std::min(m, n) + nrhs), k##T, Product(Positive(m), Positive(n)), batch, info); \
  }
VRAMSCOPE_EVERY_TYPE(X)
#undef X

// Submits groups of products. Their sizes are in host memory.
int cublasGemmGroupedBatchedEx(Handle* h, const int* ta, const int* tb, const int* m, const int* n,
                               const int* k, P, P, int at, const int* lda, P, int bt, const int* ldb,
                               P, P, int ct, const int* ldc, int groups, const int* sizes, int compute) {
  if (groups < 0 || (groups && (!ta || !tb || !m || !n || !k || !lda || !ldb || !ldc || !sizes)))
    return kInvalidValue;
  for (int g = 0; g < groups; ++g) {
    const int status = Mixed(h, "cublasGemmGroupedBatchedEx", ta[g], tb[g], m[g], n[g], k[g], nullptr, at,
                             lda[g], nullptr, bt, ldb[g], nullptr, ct, ldc[g], compute, 0, sizes[g]);
    if (status != kSuccess) return status;
  }
  return h ? kSuccess : kNotInitialized;
}

}  // extern "C"
