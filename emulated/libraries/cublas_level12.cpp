// Implements libcublas's vector and matrix-vector operations. Results on the host are 0.
#include <cstdlib>

#include "emulated/libraries/cublas_handle.h"

namespace vramscope::emulated::cublas {
namespace {

constexpr DataType kS = DataTypeOf(0), kD = DataTypeOf(1), kC = DataTypeOf(4), kZ = DataTypeOf(5);

uint64_t VectorBytes(int64_t n, int64_t step, DataType type) {
  if (n <= 0) return 0;
  const uint64_t distance = static_cast<uint64_t>(step < 0 ? -step : step);
  return Product(Product(Positive(n - 1), distance) + 1, type.bits) / 8;
}
// Submits an operation that reads and writes n elements of y and, if it is given, of x.
int Vector(Handle* handle, const char* name, int64_t n, DataType type, void* y, int64_t step_y,
           void* x = nullptr, int64_t step_x = 1) {
  if (n <= 0) return handle ? kSuccess : kNotInitialized;
  return Submit(handle, name, 2.0 * static_cast<double>(n), Product(Positive(n), type.bits) / 8 * 3,
                {y, VectorBytes(n, step_y, type)},
                x ? Written{x, VectorBytes(n, step_x, type)} : Written{});
}
// Submits a reduction of n elements of one or two vectors.
int Reduce(Handle* handle, const char* name, int64_t n, DataType type, void* result,
           uint64_t result_bytes) {
  if (!handle) return kNotInitialized;
  if (!result) return kInvalidValue;
  int status = kSuccess;
  if (n > 0)
    status = Submit(handle, name, 2.0 * static_cast<double>(n), Product(Positive(n), type.bits) / 4,
                    {result, result_bytes});
  Answer(handle, result, result_bytes);
  return status;
}
int MatrixVector(Handle* handle, const char* name, int64_t elements, DataType type, void* y,
                 int64_t n, int64_t step) {
  if (elements < 0 || n < 0) return kInvalidValue;
  if (n == 0) return handle ? kSuccess : kNotInitialized;
  return Submit(handle, name,
                2.0 * static_cast<double>(elements) * (type.complex ? 4 : 1) * (type.fp64 ? 2 : 1),
                Product(Positive(elements), type.bits) / 8, {y, VectorBytes(n, step, type)});
}
int Rank(Handle* handle, const char* name, int64_t m, int64_t n, DataType type, void* a,
         int64_t lda) {
  if (m < 0 || n < 0) return kInvalidValue;
  if (m == 0 || n == 0) return handle ? kSuccess : kNotInitialized;
  const Matrix out{.address = a, .rows = m, .columns = n, .leading = lda, .type = type};
  return Submit(handle, name, 2.0 * static_cast<double>(m) * static_cast<double>(n),
                Product(out.elements(), type.bits) / 4, {a, out.extent_bytes(1)});
}
int64_t Elements(int64_t m, int64_t n) {
  const uint64_t elements = Product(Positive(m), Positive(n));
  return static_cast<int64_t>(elements);
}

}  // namespace
}  // namespace vramscope::emulated::cublas

using namespace vramscope::emulated::cublas;
using vramscope::emulated::DataTypeOf;
using P = const void*;

// clang-format off
#define VRAMSCOPE_LEVEL1(T, SUFFIX, I)                                                            \
  int cublas##T##axpy##SUFFIX(Handle* h, I n, P, P, I, void* y, I incy) { return Vector(h, "cublas" #T "axpy" #SUFFIX, n, k##T, y, incy); } \
  int cublas##T##copy##SUFFIX(Handle* h, I n, P, I, void* y, I incy) { return Vector(h, "cublas" #T "copy" #SUFFIX, n, k##T, y, incy); } \
  int cublas##T##scal##SUFFIX(Handle* h, I n, P, void* x, I incx) { return Vector(h, "cublas" #T "scal" #SUFFIX, n, k##T, x, incx); } \
  int cublas##T##swap##SUFFIX(Handle* h, I n, void* x, I incx, void* y, I incy) { return Vector(h, "cublas" #T "swap" #SUFFIX, n, k##T, y, incy, x, incx); } \
  int cublas##T##rot##SUFFIX(Handle* h, I n, void* x, I incx, void* y, I incy, P, P) { return Vector(h, "cublas" #T "rot" #SUFFIX, n, k##T, y, incy, x, incx); } \
  int cublas##T##gemv##SUFFIX(Handle* h, int t, I m, I n, P, P, I, P, I, P, void* y, I incy) { return MatrixVector(h, "cublas" #T "gemv" #SUFFIX, Elements(m, n), k##T, y, t ? n : m, incy); } \
  int cublas##T##gbmv##SUFFIX(Handle* h, int t, I m, I n, I kl, I ku, P, P, I, P, I, P, void* y, I incy) { return MatrixVector(h, "cublas" #T "gbmv" #SUFFIX, Elements(n, I(kl + ku + 1)), k##T, y, t ? n : m, incy); } \
  int cublas##T##trmv##SUFFIX(Handle* h, int, int, int, I n, P, I, void* x, I incx) { return MatrixVector(h, "cublas" #T "trmv" #SUFFIX, Elements(n, n) / 2, k##T, x, n, incx); } \
  int cublas##T##trsv##SUFFIX(Handle* h, int, int, int, I n, P, I, void* x, I incx) { return MatrixVector(h, "cublas" #T "trsv" #SUFFIX, Elements(n, n) / 2, k##T, x, n, incx); } \
  int cublas##T##symv##SUFFIX(Handle* h, int, I n, P, P, I, P, I, P, void* y, I incy) { return MatrixVector(h, "cublas" #T "symv" #SUFFIX, Elements(n, n), k##T, y, n, incy); } \
  int cublas##T##syr##SUFFIX(Handle* h, int, I n, P, P, I, void* a, I lda) { return Rank(h, "cublas" #T "syr" #SUFFIX, n, n, k##T, a, lda); } \
  int cublas##T##syr2##SUFFIX(Handle* h, int, I n, P, P, I, P, I, void* a, I lda) { return Rank(h, "cublas" #T "syr2" #SUFFIX, n, n, k##T, a, lda); }
#define VRAMSCOPE_REAL(T, BYTES, SUFFIX, I)                                                       \
  int cublas##T##dot##SUFFIX(Handle* h, I n, P, I, P, I, void* r) { return Reduce(h, "cublas" #T "dot" #SUFFIX, n, k##T, r, BYTES); } \
  int cublas##T##ger##SUFFIX(Handle* h, I m, I n, P, P, I, P, I, void* a, I lda) { return Rank(h, "cublas" #T "ger" #SUFFIX, m, n, k##T, a, lda); } \
  int cublas##T##nrm2##SUFFIX(Handle* h, I n, P, I, void* r) { return Reduce(h, "cublas" #T "nrm2" #SUFFIX, n, k##T, r, BYTES); } \
  int cublas##T##asum##SUFFIX(Handle* h, I n, P, I, void* r) { return Reduce(h, "cublas" #T "asum" #SUFFIX, n, k##T, r, BYTES); } \
  int cublas##T##rotm##SUFFIX(Handle* h, I n, void* x, I incx, void* y, I incy, P) { return Vector(h, "cublas" #T "rotm" #SUFFIX, n, k##T, y, incy, x, incx); }
#define VRAMSCOPE_COMPLEX(T, BYTES, SUFFIX, I)                                                 \
  int cublas##T##dotu##SUFFIX(Handle* h, I n, P, I, P, I, void* r) { return Reduce(h, "cublas" #T "dotu" #SUFFIX, n, k##T, r, BYTES); } \
  int cublas##T##dotc##SUFFIX(Handle* h, I n, P, I, P, I, void* r) { return Reduce(h, "cublas" #T "dotc" #SUFFIX, n, k##T, r, BYTES); } \
  int cublas##T##geru##SUFFIX(Handle* h, I m, I n, P, P, I, P, I, void* a, I lda) { return Rank(h, "cublas" #T "geru" #SUFFIX, m, n, k##T, a, lda); } \
  int cublas##T##gerc##SUFFIX(Handle* h, I m, I n, P, P, I, P, I, void* a, I lda) { return Rank(h, "cublas" #T "gerc" #SUFFIX, m, n, k##T, a, lda); } \
  int cublas##T##hemv##SUFFIX(Handle* h, int, I n, P, P, I, P, I, P, void* y, I incy) { return MatrixVector(h, "cublas" #T "hemv" #SUFFIX, Elements(n, n), k##T, y, n, incy); } \
  int cublas##T##her##SUFFIX(Handle* h, int, I n, P, P, I, void* a, I lda) { return Rank(h, "cublas" #T "her" #SUFFIX, n, n, k##T, a, lda); } \
  int cublas##T##her2##SUFFIX(Handle* h, int, I n, P, P, I, P, I, void* a, I lda) { return Rank(h, "cublas" #T "her2" #SUFFIX, n, n, k##T, a, lda); }
#define VRAMSCOPE_MIXED_NAMES(SUFFIX, I)                                                          \
  int cublasScnrm2##SUFFIX(Handle* h, I n, P, I, void* r) { return Reduce(h, "cublasScnrm2" #SUFFIX, n, kC, r, 4); }  \
  int cublasDznrm2##SUFFIX(Handle* h, I n, P, I, void* r) { return Reduce(h, "cublasDznrm2" #SUFFIX, n, kZ, r, 8); }  \
  int cublasScasum##SUFFIX(Handle* h, I n, P, I, void* r) { return Reduce(h, "cublasScasum" #SUFFIX, n, kC, r, 4); }  \
  int cublasDzasum##SUFFIX(Handle* h, I n, P, I, void* r) { return Reduce(h, "cublasDzasum" #SUFFIX, n, kZ, r, 8); }  \
  int cublasCsscal##SUFFIX(Handle* h, I n, P, void* x, I incx) { return Vector(h, "cublasCsscal" #SUFFIX, n, kC, x, incx); } \
  int cublasZdscal##SUFFIX(Handle* h, I n, P, void* x, I incx) { return Vector(h, "cublasZdscal" #SUFFIX, n, kZ, x, incx); } \
  int cublasCsrot##SUFFIX(Handle* h, I n, void* x, I incx, void* y, I incy, P, P) { return Vector(h, "cublasCsrot" #SUFFIX, n, kC, y, incy, x, incx); } \
  int cublasZdrot##SUFFIX(Handle* h, I n, void* x, I incx, void* y, I incy, P, P) { return Vector(h, "cublasZdrot" #SUFFIX, n, kZ, y, incy, x, incx); } \
  int cublasIsamax##SUFFIX(Handle* h, I n, P, I, void* r) { return Reduce(h, "cublasIsamax" #SUFFIX, n, kS, r, sizeof(I)); } \
  int cublasIdamax##SUFFIX(Handle* h, I n, P, I, void* r) { return Reduce(h, "cublasIdamax" #SUFFIX, n, kD, r, sizeof(I)); } \
  int cublasIcamax##SUFFIX(Handle* h, I n, P, I, void* r) { return Reduce(h, "cublasIcamax" #SUFFIX, n, kC, r, sizeof(I)); } \
  int cublasIzamax##SUFFIX(Handle* h, I n, P, I, void* r) { return Reduce(h, "cublasIzamax" #SUFFIX, n, kZ, r, sizeof(I)); } \
  int cublasIsamin##SUFFIX(Handle* h, I n, P, I, void* r) { return Reduce(h, "cublasIsamin" #SUFFIX, n, kS, r, sizeof(I)); } \
  int cublasIdamin##SUFFIX(Handle* h, I n, P, I, void* r) { return Reduce(h, "cublasIdamin" #SUFFIX, n, kD, r, sizeof(I)); } \
  int cublasIcamin##SUFFIX(Handle* h, I n, P, I, void* r) { return Reduce(h, "cublasIcamin" #SUFFIX, n, kC, r, sizeof(I)); } \
  int cublasIzamin##SUFFIX(Handle* h, I n, P, I, void* r) { return Reduce(h, "cublasIzamin" #SUFFIX, n, kZ, r, sizeof(I)); }
#define VRAMSCOPE_EX(SUFFIX, I)                                                                   \
  int cublasDotEx##SUFFIX(Handle* h, I n, P, int xt, I, P, int, I, void* r, int rt, int) { return Reduce(h, "cublasDotEx" #SUFFIX, n, DataTypeOf(xt), r, DataTypeOf(rt).bits / 8); } \
  int cublasDotcEx##SUFFIX(Handle* h, I n, P, int xt, I, P, int, I, void* r, int rt, int) { return Reduce(h, "cublasDotcEx" #SUFFIX, n, DataTypeOf(xt), r, DataTypeOf(rt).bits / 8); } \
  int cublasNrm2Ex##SUFFIX(Handle* h, I n, P, int xt, I, void* r, int rt, int) { return Reduce(h, "cublasNrm2Ex" #SUFFIX, n, DataTypeOf(xt), r, DataTypeOf(rt).bits / 8); } \
  int cublasAxpyEx##SUFFIX(Handle* h, I n, P, int, P, int, I, void* y, int yt, I incy, int) { return Vector(h, "cublasAxpyEx" #SUFFIX, n, DataTypeOf(yt), y, incy); } \
  int cublasScalEx##SUFFIX(Handle* h, I n, P, int, void* x, int xt, I incx, int) { return Vector(h, "cublasScalEx" #SUFFIX, n, DataTypeOf(xt), x, incx); }

extern "C" {
VRAMSCOPE_LEVEL1(S, _v2, int) VRAMSCOPE_LEVEL1(S, _v2_64, int64_t)
VRAMSCOPE_LEVEL1(D, _v2, int) VRAMSCOPE_LEVEL1(D, _v2_64, int64_t)
VRAMSCOPE_LEVEL1(C, _v2, int) VRAMSCOPE_LEVEL1(C, _v2_64, int64_t)
VRAMSCOPE_LEVEL1(Z, _v2, int) VRAMSCOPE_LEVEL1(Z, _v2_64, int64_t)
VRAMSCOPE_REAL(S, 4, _v2, int) VRAMSCOPE_REAL(S, 4, _v2_64, int64_t)
VRAMSCOPE_REAL(D, 8, _v2, int) VRAMSCOPE_REAL(D, 8, _v2_64, int64_t)
VRAMSCOPE_COMPLEX(C, 8, _v2, int) VRAMSCOPE_COMPLEX(C, 8, _v2_64, int64_t)
VRAMSCOPE_COMPLEX(Z, 16, _v2, int) VRAMSCOPE_COMPLEX(Z, 16, _v2_64, int64_t)
VRAMSCOPE_MIXED_NAMES(_v2, int) VRAMSCOPE_MIXED_NAMES(_v2_64, int64_t)
VRAMSCOPE_EX(, int) VRAMSCOPE_EX(_64, int64_t)

// Rotating two numbers counts as one operation, whose result replaces them.
#define X(T, BYTES)                                                                               \
  int cublas##T##rotg_v2(Handle* h, void* a, void* b, void* c, void* s) {                         \
    for (void* result : {a, b, c, s}) Answer(h, result, BYTES);                                   \
    return h ? kSuccess : kNotInitialized;                                                        \
  }
X(S, 4) X(D, 8) X(C, 4) X(Z, 8)
#undef X
#define X(T, BYTES)                                                                               \
  int cublas##T##rotmg_v2(Handle* h, void* d1, void* d2, void* x1, P, void* parameters) {         \
    for (void* result : {d1, d2, x1, parameters}) Answer(h, result, BYTES);                       \
    return h ? kSuccess : kNotInitialized;                                                        \
  }
X(S, 4) X(D, 8)
#undef X
}  // extern "C"
