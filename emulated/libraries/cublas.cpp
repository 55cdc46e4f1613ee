// Implements handles of libcublas and their settings, and copies of vectors and matrices. Products
// are in cublas_level3.cpp, vector and matrix-vector operations in cublas_level12.cpp. A handle
// allocates no GPU memory: the real library's own memory is part of the context, and PyTorch passes
// a workspace to each handle.
#include <cstring>

#include "emulated/core/context.h"
#include "emulated/core/memory.h"
#include "emulated/core/platform.h"
#include "emulated/libraries/cublas_handle.h"
#include "emulated/libraries/toolkit_versions.h"

namespace vramscope::emulated::cublas {

int Submit(Handle* handle, const Gemm& gemm) {
  if (!handle) return kNotInitialized;
  if (gemm.m < 0 || gemm.n < 0 || gemm.k < 0 || gemm.batch < 0) return kInvalidValue;
  if (gemm.m == 0 || gemm.n == 0 || gemm.batch == 0) return kSuccess;
  const double each =
      2.0 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
  const double flops = each * static_cast<double>(gemm.batch) * (gemm.a.type.complex ? 4 : 1) *
                       (gemm.a.type.fp64 ? 2 : 1);
  const auto moved = [](const Matrix& matrix) {
    return Product(matrix.elements(), matrix.type.bits) / 8;
  };
  const uint64_t bytes =
      Product(moved(gemm.a) + moved(gemm.b) + moved(gemm.c), Positive(gemm.batch));
  const void* const reads[] = {gemm.a.address, gemm.b.address};
  const Written writes[] = {{gemm.c.address, gemm.c.extent_bytes(gemm.batch)}};
  if (!gemm.c.address) ThePlatform().host_bytes.LaunchedUnknown();
  const Result result =
      emulated::Submit({.name = gemm.name,
                        .stream = handle->stream,
                        .flops = flops,
                        .precision = gemm.precision,
                        .bytes = bytes,
                        .product = {.m = gemm.m,
                                    .n = gemm.n,
                                    .k = gemm.k,
                                    .batch = gemm.batch,
                                    .alignment = AlignmentOf({gemm.a, gemm.b, gemm.c})},
                        .reads = reads,
                        .writes = std::span(writes, gemm.c.address ? 1 : 0)});
  return result == Result::kSuccess ? kSuccess : kExecutionFailed;
}

int Submit(Handle* handle, const char* name, double flops, uint64_t bytes, const Written& written,
           const Written& second) {
  if (!handle) return kNotInitialized;
  const Written writes[] = {written, second};
  const size_t count = second.address ? 2 : written.address ? 1 : 0;
  if (count == 0) ThePlatform().host_bytes.LaunchedUnknown();
  const Result result = emulated::Submit({.name = name,
                                          .stream = handle->stream,
                                          .flops = flops,
                                          .precision = Precision::kFp32,
                                          .bytes = bytes,
                                          .writes = std::span(writes, count)});
  return result == Result::kSuccess ? kSuccess : kExecutionFailed;
}

void Answer(Handle* handle, void* result, uint64_t bytes) {
  // If the result is in GPU memory, the work's `writes` already cover it.
  if (!result || ThePlatform().memory.DeviceOf(result) >= 0) return;
  if (handle->stream) ThePlatform().streams.Synchronize(handle->stream);
  std::memset(result, 0, bytes);
}

namespace {

// Copies a vector or matrix between host and GPU, element by element if they are not contiguous.
int Move(int64_t rows, int64_t columns, int64_t element, const void* from, int64_t from_leading,
         void* to, int64_t to_leading, void* stream, bool synchronous) {
  if (rows < 0 || columns < 0 || element <= 0 || from_leading < 1 || to_leading < 1)
    return kInvalidValue;
  if (rows == 0 || columns == 0) return kSuccess;
  if (!from || !to) return kInvalidValue;
  const uint64_t line = Product(Positive(rows), Positive(element));
  if (from_leading == rows && to_leading == rows)
    return Copy(to, from, Product(line, Positive(columns)), stream, synchronous) == Result::kSuccess
               ? kSuccess
               : kExecutionFailed;
  for (int64_t column = 0; column < columns; ++column)
    CopyBytes(static_cast<char*>(to) + column * to_leading * element,
              static_cast<const char*>(from) + column * from_leading * element, line);
  return Copy(to, from, 0, stream, synchronous) == Result::kSuccess ? kSuccess : kExecutionFailed;
}
int MoveVector(int64_t n, int64_t element, const void* from, int64_t from_step, void* to,
               int64_t to_step, void* stream, bool synchronous) {
  // A vector with gaps is a matrix with one row.
  if (from_step == 1 && to_step == 1)
    return Move(n, 1, element, from, n > 0 ? n : 1, to, n > 0 ? n : 1, stream, synchronous);
  return Move(1, n, element, from, from_step, to, to_step, stream, synchronous);
}

template <class T>
int Get(Handle* handle, T Handle::*member, T* value) {
  if (!handle) return kNotInitialized;
  if (!value) return kInvalidValue;
  *value = handle->*member;
  return kSuccess;
}
template <class T>
int Set(Handle* handle, T Handle::*member, T value) {
  if (!handle) return kNotInitialized;
  handle->*member = value;
  return kSuccess;
}

}  // namespace
}  // namespace vramscope::emulated::cublas

using namespace vramscope::emulated;
using vramscope::emulated::cublas::Handle;

extern "C" {

int cublasCreate_v2(Handle** handle) {
  if (!handle) return cublas::kInvalidValue;
  *handle = nullptr;
  if (ThePlatform().gpus.empty()) return cublas::kNotInitialized;
  *handle = new Handle;
  (*handle)->device = CurrentDevice();
  GrowContext((*handle)->device, ContextPart::kCublas);
  return cublas::kSuccess;
}
int cublasDestroy_v2(Handle* handle) {
  if (!handle) return cublas::kNotInitialized;
  // Documented: synchronises like cudaDeviceSynchronize.
  ThePlatform().streams.SynchronizeDevice(CurrentDevice());
  ShrinkContext(handle->device, ContextPart::kCublas);
  delete handle;
  return cublas::kSuccess;
}
int cublasInit() { return cublas::kSuccess; }
int cublasShutdown() { return cublas::kSuccess; }
int cublasGetVersion_v2(Handle*, int* version) {
  if (!version) return cublas::kInvalidValue;
  const Version cublas = CublasVersion(VRAMSCOPE_EMULATED_MAJOR);
  *version = cublas.major * 10000 + cublas.minor * 100 + cublas.patch;
  return cublas::kSuccess;
}
int cublasGetProperty(int type, int* value) {
  if (!value || type < 0 || type > 2) return cublas::kInvalidValue;
  const Version cublas = CublasVersion(VRAMSCOPE_EMULATED_MAJOR);
  *value = type == 0 ? cublas.major : type == 1 ? cublas.minor : cublas.patch;
  return cublas::kSuccess;
}
size_t cublasGetCudartVersion() {
  const Version cuda = CudaVersion(VRAMSCOPE_EMULATED_MAJOR);
  return static_cast<size_t>(cuda.major * 1000 + cuda.minor * 10);
}
int cublasSetStream_v2(Handle* handle, void* stream) {
  if (!handle) return cublas::kNotInitialized;
  handle->workspace = nullptr;  // documented: returns to the default pool
  handle->workspace_bytes = 0;
  return cublas::Set(handle, &Handle::stream, stream);
}
int cublasGetStream_v2(Handle* handle, void** stream) {
  return cublas::Get(handle, &Handle::stream, stream);
}
int cublasSetWorkspace_v2(Handle* handle, void* workspace, size_t bytes) {
  if (!handle) return cublas::kNotInitialized;
  handle->workspace = workspace;
  handle->workspace_bytes = bytes;
  return cublas::kSuccess;
}
int cublasSetPointerMode_v2(Handle* h, int v) { return cublas::Set(h, &Handle::pointer_mode, v); }
int cublasGetPointerMode_v2(Handle* h, int* v) { return cublas::Get(h, &Handle::pointer_mode, v); }
int cublasSetAtomicsMode(Handle* h, int v) { return cublas::Set(h, &Handle::atomics_mode, v); }
int cublasGetAtomicsMode(Handle* h, int* v) { return cublas::Get(h, &Handle::atomics_mode, v); }
int cublasSetMathMode(Handle* h, int v) { return cublas::Set(h, &Handle::math_mode, v); }
int cublasGetMathMode(Handle* h, int* v) { return cublas::Get(h, &Handle::math_mode, v); }
int cublasSetSmCountTarget(Handle* h, int v) { return cublas::Set(h, &Handle::sm_count_target, v); }
int cublasGetSmCountTarget(Handle* h, int* v) {
  return cublas::Get(h, &Handle::sm_count_target, v);
}
int cublasSetEmulationStrategy(Handle* h, int v) {
  return cublas::Set(h, &Handle::emulation_strategy, v);
}
int cublasGetEmulationStrategy(Handle* h, int* v) {
  return cublas::Get(h, &Handle::emulation_strategy, v);
}
int cublasLoggerConfigure(int, int, int, const char*) { return cublas::kSuccess; }
int cublasSetLoggerCallback(void*) { return cublas::kSuccess; }
int cublasGetLoggerCallback(void** callback) {
  if (!callback) return cublas::kInvalidValue;
  *callback = nullptr;
  return cublas::kSuccess;
}

// clang-format does not converge on this list.
// clang-format off
#define VRAMSCOPE_STATUS(X)                                                             \
  X(0, "CUBLAS_STATUS_SUCCESS")                                                         \
  X(1, "CUBLAS_STATUS_NOT_INITIALIZED")                                                 \
  X(3, "CUBLAS_STATUS_ALLOC_FAILED") X(7, "CUBLAS_STATUS_INVALID_VALUE")                \
      X(8, "CUBLAS_STATUS_ARCH_MISMATCH") X(11, "CUBLAS_STATUS_MAPPING_ERROR")          \
          X(13, "CUBLAS_STATUS_EXECUTION_FAILED") X(14, "CUBLAS_STATUS_INTERNAL_ERROR") \
              X(15, "CUBLAS_STATUS_NOT_SUPPORTED") X(16, "CUBLAS_STATUS_LICENSE_ERROR")
// clang-format on
const char* cublasGetStatusName(int status) {
  switch (status) {
#define VRAMSCOPE_CASE(NUMBER, NAME) \
  case NUMBER:                       \
    return NAME;
    VRAMSCOPE_STATUS(VRAMSCOPE_CASE)
#undef VRAMSCOPE_CASE
    default:
      return "unknown cuBLAS status";
  }
}
const char* cublasGetStatusString(int status) { return cublasGetStatusName(status); }

#define VRAMSCOPE_MOVES(SUFFIX, I)                                                            \
  int cublasSetVector##SUFFIX(I n, I element, const void* x, I incx, void* y, I incy) {       \
    return cublas::MoveVector(n, element, x, incx, y, incy, nullptr, true);                   \
  }                                                                                           \
  int cublasGetVector##SUFFIX(I n, I element, const void* x, I incx, void* y, I incy) {       \
    return cublas::MoveVector(n, element, x, incx, y, incy, nullptr, true);                   \
  }                                                                                           \
  int cublasSetMatrix##SUFFIX(I m, I n, I element, const void* a, I lda, void* b, I ldb) {    \
    return cublas::Move(m, n, element, a, lda, b, ldb, nullptr, true);                        \
  }                                                                                           \
  int cublasGetMatrix##SUFFIX(I m, I n, I element, const void* a, I lda, void* b, I ldb) {    \
    return cublas::Move(m, n, element, a, lda, b, ldb, nullptr, true);                        \
  }                                                                                           \
  int cublasSetVectorAsync##SUFFIX(I n, I element, const void* x, I incx, void* y, I incy,    \
                                   void* stream) {                                            \
    return cublas::MoveVector(n, element, x, incx, y, incy, stream, false);                   \
  }                                                                                           \
  int cublasGetVectorAsync##SUFFIX(I n, I element, const void* x, I incx, void* y, I incy,    \
                                   void* stream) {                                            \
    return cublas::MoveVector(n, element, x, incx, y, incy, stream, false);                   \
  }                                                                                           \
  int cublasSetMatrixAsync##SUFFIX(I m, I n, I element, const void* a, I lda, void* b, I ldb, \
                                   void* stream) {                                            \
    return cublas::Move(m, n, element, a, lda, b, ldb, stream, false);                        \
  }                                                                                           \
  int cublasGetMatrixAsync##SUFFIX(I m, I n, I element, const void* a, I lda, void* b, I ldb, \
                                   void* stream) {                                            \
    return cublas::Move(m, n, element, a, lda, b, ldb, stream, false);                        \
  }
VRAMSCOPE_MOVES(, int)
VRAMSCOPE_MOVES(_64, int64_t)

}  // extern "C"
