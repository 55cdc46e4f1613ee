// Implements libcusparse: matrix descriptors, and products as kernels. The number of elements in a
// sparse result depends on unknown values and is assumed, as are the buffers (cusparse_sizes.h).
#include <algorithm>
#include <climits>

#include "emulated/core/platform.h"
#include "emulated/libraries/cusparse_sizes.h"
#include "emulated/libraries/data_type.h"
#include "emulated/libraries/toolkit_versions.h"

namespace vramscope::emulated::cusparse {
namespace {

enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 2,
  kInvalidValue = 3,
  kExecutionFailed = 6
};

struct Handle {
  void* stream = nullptr;
  int pointer_mode = 0;
};
struct Options {  // a descriptor that only returns what was set
  int type = 0, fill = 0, diagonal = 0, base = 0;
};
constexpr DataType kS = DataTypeOf(0), kD = DataTypeOf(1), kC = DataTypeOf(4), kZ = DataTypeOf(5);

int Work(Handle* handle, const char* name, DataType type, double flops, uint64_t bytes,
         Written written) {
  if (!handle) return kNotInitialized;
  const Result result = Submit({.name = name,
                                .stream = handle->stream,
                                .flops = flops * (type.complex ? 4 : 1) * (type.fp64 ? 2 : 1),
                                .precision = type.precision,
                                .bytes = bytes,
                                .writes = std::span(&written, written.address ? 1 : 0)});
  return result == Result::kSuccess ? kSuccess : kExecutionFailed;
}
// The duration depends on the bytes, because memory bandwidth limits sparse products in practice.
int Product2(Handle* handle, const char* name, const Matrix* sparse, const Matrix* dense,
             const Matrix* out) {
  if (!sparse || !out) return kInvalidValue;
  const int64_t columns = dense ? std::max<int64_t>(out->columns, 1) : 1;
  const double flops =
      2.0 * static_cast<double>(Positive(sparse->nonzeros)) * static_cast<double>(columns);
  const uint64_t bytes =
      ValueBytes(*sparse) + (dense ? ValueBytes(*dense) : 0) + 2 * ValueBytes(*out);
  return Work(handle, name, DataTypeOf(out->type), flops, bytes, {out->values, ValueBytes(*out)});
}
int Buffer(const char* what, uint64_t bytes, size_t* size) {
  if (!size) return kInvalidValue;
  *size = bytes;
  Assume("cuSPARSE buffer", what, bytes);
  return kSuccess;
}
int Buffer(const char* what, uint64_t bytes, int* size) {
  if (!size) return kInvalidValue;
  *size = static_cast<int>(std::min<uint64_t>(bytes, INT_MAX));
  Assume("cuSPARSE buffer", what, static_cast<uint64_t>(*size));
  return kSuccess;
}
template <class T>
int Make(T** made, const T& value) {
  if (!made) return kInvalidValue;
  *made = new T(value);
  return kSuccess;
}
template <class T>
int Unmake(const T* made) {
  delete made;
  return kSuccess;
}

}  // namespace
}  // namespace vramscope::emulated::cusparse

using namespace vramscope::emulated;
using namespace vramscope::emulated::cusparse;
using P = const void*;
using M = const Matrix;

// clang-format off
extern "C" {

int cusparseCreate(Handle** handle) { return Make(handle, {}); }
int cusparseDestroy(Handle* handle) { return Unmake(handle); }
int cusparseSetStream(Handle* handle, void* stream) { return handle ? (handle->stream = stream, kSuccess) : kNotInitialized; }
int cusparseGetStream(Handle* handle, void** stream) { return handle && stream ? (*stream = handle->stream, kSuccess) : kInvalidValue; }
int cusparseSetPointerMode(Handle* handle, int mode) { return handle ? (handle->pointer_mode = mode, kSuccess) : kNotInitialized; }
int cusparseGetPointerMode(Handle* handle, int* mode) { return handle && mode ? (*mode = handle->pointer_mode, kSuccess) : kInvalidValue; }
int cusparseGetVersion(Handle*, int* version) {
  if (!version) return kInvalidValue;
  const Version v = CusparseVersion(VRAMSCOPE_EMULATED_MAJOR);
  *version = v.major * 1000 + v.minor * 100 + v.patch;
  return kSuccess;
}
int cusparseGetProperty(int type, int* value) {
  if (!value || type < 0 || type > 2) return kInvalidValue;
  const Version v = CusparseVersion(VRAMSCOPE_EMULATED_MAJOR);
  *value = type == 0 ? v.major : type == 1 ? v.minor : v.patch;
  return kSuccess;
}
const char* cusparseGetErrorName(int status) { return status == kSuccess ? "CUSPARSE_STATUS_SUCCESS" : "CUSPARSE_STATUS_INVALID_VALUE"; }
const char* cusparseGetErrorString(int status) { return status == kSuccess ? "success" : "invalid value"; }

// ---- descriptors
int cusparseCreateMatDescr(Options** o) { return Make(o, {}); }
int cusparseDestroyMatDescr(Options* o) { return Unmake(o); }
int cusparseSetMatType(Options* o, int v) { return o ? (o->type = v, kSuccess) : kInvalidValue; }
int cusparseSetMatFillMode(Options* o, int v) { return o ? (o->fill = v, kSuccess) : kInvalidValue; }
int cusparseSetMatDiagType(Options* o, int v) { return o ? (o->diagonal = v, kSuccess) : kInvalidValue; }
int cusparseSetMatIndexBase(Options* o, int v) { return o ? (o->base = v, kSuccess) : kInvalidValue; }
int cusparseGetMatType(const Options* o) { return o ? o->type : 0; }
int cusparseGetMatFillMode(const Options* o) { return o ? o->fill : 0; }
int cusparseGetMatDiagType(const Options* o) { return o ? o->diagonal : 0; }
int cusparseGetMatIndexBase(const Options* o) { return o ? o->base : 0; }
#define VRAMSCOPE_OPTIONS(CREATE, DESTROY)                            \
  int CREATE(Options** o) { return Make(o, {}); }                     \
  int DESTROY(Options* o) { return Unmake(o); }
VRAMSCOPE_OPTIONS(cusparseCreateBsrsm2Info, cusparseDestroyBsrsm2Info)
VRAMSCOPE_OPTIONS(cusparseCreateBsrsv2Info, cusparseDestroyBsrsv2Info)
VRAMSCOPE_OPTIONS(cusparseSpSV_createDescr, cusparseSpSV_destroyDescr)
VRAMSCOPE_OPTIONS(cusparseSpSM_createDescr, cusparseSpSM_destroyDescr)

int cusparseCreateCsr(Matrix** m, int64_t rows, int64_t columns, int64_t nonzeros, void* offsets, void* indices, void* values, int offset_type, int index_type, int, int type) {
  return Make(m, {.rows = rows, .columns = columns, .nonzeros = nonzeros, .type = type, .index_bytes = index_type == 3 ? 8 : 4, .offset_bytes = offset_type == 3 ? 8 : 4, .values = values, .offsets = offsets, .indices = indices, .sparse = true});
}
int cusparseCreateConstCsr(Matrix** m, int64_t rows, int64_t columns, int64_t nonzeros, P offsets, P indices, P values, int offset_type, int index_type, int base, int type) {
  return cusparseCreateCsr(m, rows, columns, nonzeros, const_cast<void*>(offsets), const_cast<void*>(indices), const_cast<void*>(values), offset_type, index_type, base, type);
}
int cusparseCreateCsc(Matrix** m, int64_t rows, int64_t columns, int64_t nonzeros, void* offsets, void* indices, void* values, int ot, int it, int base, int type) { return cusparseCreateCsr(m, rows, columns, nonzeros, offsets, indices, values, ot, it, base, type); }
int cusparseCreateCoo(Matrix** m, int64_t rows, int64_t columns, int64_t nonzeros, void* row, void* column, void* values, int index_type, int, int type) {
  return Make(m, {.rows = rows, .columns = columns, .nonzeros = nonzeros, .type = type, .index_bytes = index_type == 3 ? 8 : 4, .offset_bytes = 0, .values = values, .offsets = row, .indices = column, .sparse = true});
}
int cusparseDestroySpMat(M* m) { return Unmake(m); }
int cusparseSpMatGetSize(M* m, int64_t* rows, int64_t* columns, int64_t* nonzeros) {
  if (!m || !rows || !columns || !nonzeros) return kInvalidValue;
  *rows = m->rows, *columns = m->columns, *nonzeros = m->nonzeros;
  return kSuccess;
}
int cusparseSpMatGetValues(M* m, void** values) { return m && values ? (*values = m->values, kSuccess) : kInvalidValue; }
int cusparseSpMatSetValues(Matrix* m, void* values) { return m ? (m->values = values, kSuccess) : kInvalidValue; }
int cusparseSpMatSetAttribute(Matrix* m, int, void*, size_t) { return m ? kSuccess : kInvalidValue; }
int cusparseCsrSetPointers(Matrix* m, void* offsets, void* indices, void* values) {
  if (!m) return kInvalidValue;
  m->offsets = offsets, m->indices = indices, m->values = values;
  return kSuccess;
}
int cusparseCooSetPointers(Matrix* m, void* rows, void* columns, void* values) { return cusparseCsrSetPointers(m, rows, columns, values); }
int cusparseCsrSetStridedBatch(Matrix* m, int count, int64_t, int64_t) { return m ? (m->batch = count, kSuccess) : kInvalidValue; }
int cusparseCooSetStridedBatch(Matrix* m, int count, int64_t) { return m ? (m->batch = count, kSuccess) : kInvalidValue; }
int cusparseSpMatSetStridedBatch(Matrix* m, int count) { return m ? (m->batch = count, kSuccess) : kInvalidValue; }
int cusparseCreateDnMat(Matrix** m, int64_t rows, int64_t columns, int64_t, void* values, int type, int) {
  return Make(m, {.rows = rows, .columns = columns, .type = type, .values = values});
}
int cusparseCreateConstDnMat(Matrix** m, int64_t rows, int64_t columns, int64_t leading, P values, int type, int order) { return cusparseCreateDnMat(m, rows, columns, leading, const_cast<void*>(values), type, order); }
int cusparseDestroyDnMat(M* m) { return Unmake(m); }
int cusparseDnMatSetStridedBatch(Matrix* m, int count, int64_t) { return m ? (m->batch = count, kSuccess) : kInvalidValue; }
int cusparseCreateDnVec(Matrix** m, int64_t size, void* values, int type) { return Make(m, {.rows = size, .columns = 1, .type = type, .values = values}); }
int cusparseCreateConstDnVec(Matrix** m, int64_t size, P values, int type) { return cusparseCreateDnVec(m, size, const_cast<void*>(values), type); }
int cusparseDestroyDnVec(M* m) { return Unmake(m); }

// ---- products with dense matrices and vectors
int cusparseSpMV_bufferSize(Handle*, int, P, M* a, M*, P, M*, int, int, size_t* size) { return a ? Buffer("cusparseSpMV", SpmvBuffer(*a), size) : kInvalidValue; }
int cusparseSpMV_preprocess(Handle*, int, P, M*, M*, P, M*, int, int, void*) { return kSuccess; }
int cusparseSpMV(Handle* h, int, P, M* a, M*, P, M* y, int, int, void*) { return Product2(h, "cusparseSpMV", a, nullptr, y); }
int cusparseSpMM_bufferSize(Handle*, int, int, P, M* a, M* b, P, M*, int, int, size_t* size) { return a && b ? Buffer("cusparseSpMM", SpmmBuffer(*a), size) : kInvalidValue; }
int cusparseSpMM_preprocess(Handle*, int, int, P, M*, M*, P, M*, int, int, void*) { return kSuccess; }
int cusparseSpMM(Handle* h, int, int, P, M* a, M* b, P, M* c, int, int, void*) { return Product2(h, "cusparseSpMM", a, b, c); }
int cusparseSDDMM_bufferSize(Handle*, int, int, P, M*, M*, P, M*, int, int, size_t* size) { return Buffer("cusparseSDDMM", 0, size); }
int cusparseSDDMM_preprocess(Handle*, int, int, P, M*, M*, P, M*, int, int, void*) { return kSuccess; }
int cusparseSDDMM(Handle* h, int, int, P, M* a, M* b, P, M* c, int, int, void*) { return a ? Product2(h, "cusparseSDDMM", c, b, c) : kInvalidValue; }
int cusparseSpSV_bufferSize(Handle*, int, P, M* a, M*, M*, int, int, Options*, size_t* size) { return a ? Buffer("cusparseSpSV", SolveBuffer(*a), size) : kInvalidValue; }
int cusparseSpSV_analysis(Handle* h, int, P, M* a, M*, M* y, int, int, Options*, void*) { return a && y ? Work(h, "cusparseSpSV_analysis", DataTypeOf(a->type), 0, ValueBytes(*a), {}) : kInvalidValue; }
int cusparseSpSV_solve(Handle* h, int, P, M* a, M*, M* y, int, int, Options*) { return Product2(h, "cusparseSpSV_solve", a, nullptr, y); }
int cusparseSpSM_bufferSize(Handle*, int, int, P, M* a, M*, M*, int, int, Options*, size_t* size) { return a ? Buffer("cusparseSpSM", SolveBuffer(*a), size) : kInvalidValue; }
int cusparseSpSM_analysis(Handle* h, int, int, P, M* a, M*, M* c, int, int, Options*, void*) { return a && c ? Work(h, "cusparseSpSM_analysis", DataTypeOf(a->type), 0, ValueBytes(*a), {}) : kInvalidValue; }
int cusparseSpSM_solve(Handle* h, int, int, P, M* a, M* b, M* c, int, int, Options*) { return Product2(h, "cusparseSpSM_solve", a, b, c); }

// ---- sparse times sparse: the number of elements of the result is assumed
int cusparseSpGEMM_createDescr(Options** o) { return Make(o, {}); }
int cusparseSpGEMM_destroyDescr(Options* o) { return Unmake(o); }
int cusparseSpGEMM_workEstimation(Handle* h, int, int, P, M* a, M* b, P, M* c, int, int, Options*, size_t* size, void* buffer) {
  if (!a || !b || !c) return kInvalidValue;
  if (!buffer) return Buffer("cusparseSpGEMM_workEstimation", SpgemmBuffer(*a, *b), size);
  return Work(h, "cusparseSpGEMM_workEstimation", DataTypeOf(a->type), 0, ValueBytes(*a) + ValueBytes(*b), {});
}
int cusparseSpGEMM_estimateMemory(Handle*, int, int, P, M* a, M* b, P, M*, int, int, Options*, float, size_t* third, void*, size_t* second) {
  if (!a || !b) return kInvalidValue;
  if (third) Buffer("cusparseSpGEMM_estimateMemory", SpgemmBuffer(*a, *b), third);
  return second ? Buffer("cusparseSpGEMM_estimateMemory", SpgemmBuffer(*a, *b), second) : kSuccess;
}
int cusparseSpGEMM_compute(Handle* h, int, int, P, M* a, M* b, P, Matrix* c, int, int, Options*, size_t* size, void* buffer) {
  if (!a || !b || !c) return kInvalidValue;
  if (!buffer) return Buffer("cusparseSpGEMM_compute", SpgemmBuffer(*a, *b), size);
  c->nonzeros = SpgemmNonzeros(*a, *b);
  Assume("cuSPARSE: number of elements in a product of two sparse matrices", "cusparseSpGEMM_compute", ValueBytes(*c));
  return Work(h, "cusparseSpGEMM_compute", DataTypeOf(a->type), 2.0 * static_cast<double>(c->nonzeros), ValueBytes(*a) + ValueBytes(*b), {});
}
int cusparseSpGEMM_copy(Handle* h, int, int, P, M*, M*, P, M* c, int, int, Options*) { return c ? Work(h, "cusparseSpGEMM_copy", DataTypeOf(c->type), 0, 2 * ValueBytes(*c), {c->values, ValueBytes(*c)}) : kInvalidValue; }

// ---- the older interface: blocks, sums, sorting
int cusparseXcoo2csr(Handle* h, const int*, int nonzeros, int rows, int* out, int) { return Work(h, "cusparseXcoo2csr", kS, 0, Positive(nonzeros) * 4, {out, (Positive(rows) + 1) * 4}); }
int cusparseXcsr2coo(Handle* h, const int*, int nonzeros, int, int* out, int) { return Work(h, "cusparseXcsr2coo", kS, 0, Positive(nonzeros) * 4, {out, Positive(nonzeros) * 4}); }
int cusparseCreateIdentityPermutation(Handle* h, int n, int* p) { return Work(h, "cusparseCreateIdentityPermutation", kS, 0, Positive(n) * 4, {p, Positive(n) * 4}); }
int cusparseXcoosort_bufferSizeExt(Handle*, int, int, int nonzeros, const int*, const int*, size_t* size) { return Buffer("cusparseXcoosort", SortBuffer(nonzeros), size); }
int cusparseXcoosortByRow(Handle* h, int, int, int nonzeros, int* rows, int*, int*, void*) { ThePlatform().host_bytes.LaunchedUnknown(); return Work(h, "cusparseXcoosortByRow", kS, 0, Positive(nonzeros) * 24, {rows, Positive(nonzeros) * 4}); }
int cusparseXcsrsort_bufferSizeExt(Handle*, int, int, int nonzeros, const int*, const int*, size_t* size) { return Buffer("cusparseXcsrsort", SortBuffer(nonzeros), size); }
int cusparseXcsrsort(Handle* h, int, int, int nonzeros, const Options*, const int*, int* columns, int*, void*) { return Work(h, "cusparseXcsrsort", kS, 0, Positive(nonzeros) * 24, {columns, Positive(nonzeros) * 4}); }
int cusparseXcsrgeam2Nnz(Handle* h, int rows, int columns, const Options*, int a, const int*, const int*, const Options*, int b, const int*, const int*, const Options*, int* offsets, int* total, void*) {
  if (!h || !total) return kInvalidValue;
  const int most = static_cast<int>(std::min<uint64_t>(Product(Positive(rows), Positive(columns)), INT_MAX));
  const int sum = static_cast<int>(std::min<int64_t>(int64_t{a} + b, most));
  if (ThePlatform().memory.DeviceOf(total) >= 0) ThePlatform().host_bytes.Write(reinterpret_cast<uint64_t>(total), &sum, sizeof sum);
  else *total = sum;
  Assume("cuSPARSE: the sum of two sparse matrices is assumed to have as many elements as the two matrices together", "cusparseXcsrgeam2Nnz", Positive(sum) * 4);
  return Work(h, "cusparseXcsrgeam2Nnz", kS, 0, Positive(sum) * 8, {offsets, (Positive(rows) + 1) * 4});
}
int cusparseXbsrsv2_zeroPivot(Handle*, Options*, int* position) { return position ? (*position = -1, kSuccess) : kInvalidValue; }
int cusparseXbsrsm2_zeroPivot(Handle*, Options*, int* position) { return position ? (*position = -1, kSuccess) : kInvalidValue; }
#define X(T)                                                                                      \
  int cusparse##T##csrgeam2_bufferSizeExt(Handle*, int, int, P, const Options*, int a, P, const int*, const int*, P, const Options*, int b, P, const int*, const int*, const Options*, P, const int*, const int*, size_t* size) { return Buffer("cusparse" #T "csrgeam2", SortBuffer(int64_t{a} + b), size); } \
  int cusparse##T##csrgeam2(Handle* h, int, int, P, const Options*, int a, P, const int*, const int*, P, const Options*, int b, P, const int*, const int*, const Options*, void* c, int*, int*, void*) { return Work(h, "cusparse" #T "csrgeam2", k##T, Positive(int64_t{a} + b), Product(Positive(int64_t{a} + b), k##T.bits) / 4, {c, Product(Positive(int64_t{a} + b), k##T.bits) / 8}); } \
  int cusparse##T##bsrmm(Handle* h, int, int, int, int mb, int n, int, int blocks, P, const Options*, P, const int*, const int*, int block, P, int, P, void* c, int) { return Work(h, "cusparse" #T "bsrmm", k##T, 2.0 * blocks * block * block * n, Product(Product(Positive(blocks), Positive(block) * Positive(block)), k##T.bits) / 8, {c, Product(Product(Positive(mb), Positive(block)), Product(Positive(n), k##T.bits)) / 8}); } \
  int cusparse##T##bsrmv(Handle* h, int, int, int mb, int, int blocks, P, const Options*, P, const int*, const int*, int block, P, P, void* y) { return Work(h, "cusparse" #T "bsrmv", k##T, 2.0 * blocks * block * block, Product(Product(Positive(blocks), Positive(block) * Positive(block)), k##T.bits) / 8, {y, Product(Product(Positive(mb), Positive(block)), k##T.bits) / 8}); } \
  int cusparse##T##bsrsv2_bufferSize(Handle*, int, int, int mb, int, const Options*, P, const int*, const int*, int block, Options*, int* size) { return Buffer("cusparse" #T "bsrsv2", Product(Product(Positive(mb), Positive(block)), k##T.bits) / 8, size); } \
  int cusparse##T##bsrsv2_analysis(Handle* h, int, int, int, int blocks, const Options*, P, const int*, const int*, int, Options*, int, void*) { return Work(h, "cusparse" #T "bsrsv2_analysis", k##T, 0, Positive(blocks) * 4, {}); } \
  int cusparse##T##bsrsv2_solve(Handle* h, int, int, int mb, int blocks, P, const Options*, P, const int*, const int*, int block, Options*, P, void* x, int, void*) { return Work(h, "cusparse" #T "bsrsv2_solve", k##T, 2.0 * blocks * block * block, Product(Product(Positive(blocks), Positive(block) * Positive(block)), k##T.bits) / 8, {x, Product(Product(Positive(mb), Positive(block)), k##T.bits) / 8}); } \
  int cusparse##T##bsrsm2_bufferSize(Handle*, int, int, int, int mb, int n, int, const Options*, P, const int*, const int*, int block, Options*, int* size) { return Buffer("cusparse" #T "bsrsm2", Product(Product(Positive(mb), Positive(block)), Product(Positive(n), k##T.bits)) / 8, size); } \
  int cusparse##T##bsrsm2_analysis(Handle* h, int, int, int, int, int, int blocks, const Options*, P, const int*, const int*, int, Options*, int, void*) { return Work(h, "cusparse" #T "bsrsm2_analysis", k##T, 0, Positive(blocks) * 4, {}); } \
  int cusparse##T##bsrsm2_solve(Handle* h, int, int, int, int mb, int n, int blocks, P, const Options*, P, const int*, const int*, int block, Options*, P, int, void* x, int, int, void*) { return Work(h, "cusparse" #T "bsrsm2_solve", k##T, 2.0 * blocks * block * block * n, Product(Product(Positive(blocks), Positive(block) * Positive(block)), k##T.bits) / 8, {x, Product(Product(Positive(mb), Positive(block)), Product(Positive(n), k##T.bits)) / 8}); }
X(S) X(D) X(C) X(Z)

}  // extern "C"
