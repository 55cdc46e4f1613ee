// Implements libcublasLt. Descriptors return what was set. A product is one kernel. There is only
// one algorithm. It needs no workspace, so it always satisfies the program's preference.
#include <algorithm>
#include <cstring>

#include "emulated/core/platform.h"
#include "emulated/libraries/attributes.h"
#include "emulated/libraries/cublas_handle.h"
#include "emulated/libraries/toolkit_versions.h"

using namespace vramscope::emulated;

namespace {

enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kInvalidValue = 7,
  kExecutionFailed = 13,
  kNotSupported = 15
};

// The documented numbers of the attributes that this file uses.
enum LayoutAttribute {
  kType = 0,
  kOrder = 1,
  kRows = 2,
  kColumns = 3,
  kLeading = 4,
  kBatch = 5,
  kStride = 6
};
enum MatmulAttribute {
  kComputeType = 0,
  kScaleType = 1,
  kTransposeA = 3,
  kTransposeB = 4,
  kEpilogue = 7,
  kBiasPointer = 8,
  kAuxiliaryPointer = 11,
  kAuxiliaryLeading = 12,
};

AttributeStore& Store() {
  static auto* store = new AttributeStore;
  return *store;
}

struct Algorithm {
  uint64_t data[8];
};
struct HeuristicResult {
  Algorithm algorithm;
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(HeuristicResult) == 96);

cublas::Matrix MatrixOf(const void* layout, const void* address) {
  AttributeStore& store = Store();
  cublas::Matrix matrix;
  matrix.address = address;
  matrix.type = DataTypeOf(store.Get<int>(layout, kType, 0));
  matrix.rows =
      static_cast<int64_t>(std::min<uint64_t>(store.Get<uint64_t>(layout, kRows, 0), INT64_MAX));
  matrix.columns =
      static_cast<int64_t>(std::min<uint64_t>(store.Get<uint64_t>(layout, kColumns, 0), INT64_MAX));
  if (store.Get<int>(layout, kOrder, 0) == 1) std::swap(matrix.rows, matrix.columns);  // row major
  matrix.leading = store.Get<int64_t>(layout, kLeading, matrix.rows);
  matrix.stride = store.Get<int64_t>(layout, kStride, 0);
  return matrix;
}

int Create(void** descriptor) {
  if (!descriptor) return kInvalidValue;
  *descriptor = Store().Create();
  return kSuccess;
}
int Destroy(void* descriptor) {
  Store().Destroy(descriptor);
  return kSuccess;
}
int SetAttribute(void* descriptor, int attribute, const void* value, size_t bytes) {
  return Store().Set(descriptor, attribute, value, bytes) ? kSuccess : kInvalidValue;
}
int GetAttribute(const void* descriptor, int attribute, void* value, size_t bytes,
                 size_t* written) {
  return Store().Copy(descriptor, attribute, value, bytes, written) ? kSuccess : kInvalidValue;
}
void InitLayout(void* layout, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  AttributeStore& store = Store();
  store.Put(layout, kType, type);
  store.Put(layout, kOrder, 0);
  store.Put(layout, kRows, rows);
  store.Put(layout, kColumns, columns);
  store.Put(layout, kLeading, leading);
  store.Put(layout, kBatch, 1);
  store.Put<int64_t>(layout, kStride, 0);
}
void InitMatmul(void* matmul, int compute_type, int scale_type) {
  Store().Put(matmul, kComputeType, compute_type);
  Store().Put(matmul, kScaleType, scale_type);
}

// The only algorithm. Its first bytes identify it as vramscope's.
constexpr Algorithm kAlgorithm = {{0x76736d757261706dull, 0, 0, 0, 0, 0, 0, 0}};

void Answer(HeuristicResult* result) {
  *result = {};
  result->algorithm = kAlgorithm;
  result->workspace_bytes = 0;
  result->state = kSuccess;
  result->waves = 1.0f;
}

}  // namespace

extern "C" {

int cublasLtCreate(void** handle) { return Create(handle); }
int cublasLtDestroy(void* handle) { return Destroy(handle); }
size_t cublasLtGetVersion() {
  const Version cublas = CublasVersion(VRAMSCOPE_EMULATED_MAJOR);
  return static_cast<size_t>(cublas.major * 10000 + cublas.minor * 100 + cublas.patch);
}
size_t cublasLtGetCudartVersion() {
  const Version cuda = CudaVersion(VRAMSCOPE_EMULATED_MAJOR);
  return static_cast<size_t>(cuda.major * 1000 + cuda.minor * 10);
}
int cublasLtGetProperty(int type, int* value) {
  if (!value || type < 0 || type > 2) return kInvalidValue;
  const Version cublas = CublasVersion(VRAMSCOPE_EMULATED_MAJOR);
  *value = type == 0 ? cublas.major : type == 1 ? cublas.minor : cublas.patch;
  return kSuccess;
}
const char* cublasLtGetStatusName(int status) {
  return status == kSuccess ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS_INVALID_VALUE";
}
const char* cublasLtGetStatusString(int status) { return cublasLtGetStatusName(status); }
unsigned cublasLtDisableCpuInstructionsSetMask(unsigned) { return 0; }
int cublasLtHeuristicsCacheGetCapacity(size_t* capacity) {
  if (!capacity) return kInvalidValue;
  *capacity = 8192;
  return kSuccess;
}
int cublasLtHeuristicsCacheSetCapacity(size_t) { return kSuccess; }
int cublasLtLoggerSetCallback(void*) { return kSuccess; }
int cublasLtLoggerSetFile(void*) { return kSuccess; }
int cublasLtLoggerOpenFile(const char*) { return kSuccess; }
int cublasLtLoggerSetLevel(int) { return kSuccess; }
int cublasLtLoggerSetMask(int) { return kSuccess; }
int cublasLtLoggerForceDisable() { return kSuccess; }

int cublasLtMatrixLayoutCreate(void** layout, int type, uint64_t rows, uint64_t columns,
                               int64_t leading) {
  const int status = Create(layout);
  if (status == kSuccess) InitLayout(*layout, type, rows, columns, leading);
  return status;
}
int cublasLtMatrixLayoutInit_internal(void* layout, size_t, int type, uint64_t rows,
                                      uint64_t columns, int64_t leading) {
  if (!layout) return kInvalidValue;
  Store().Adopt(layout);
  InitLayout(layout, type, rows, columns, leading);
  return kSuccess;
}
int cublasLtMatrixLayoutDestroy(void* layout) { return Destroy(layout); }
int cublasLtMatrixLayoutSetAttribute(void* d, int a, const void* v, size_t n) {
  return SetAttribute(d, a, v, n);
}
int cublasLtMatrixLayoutGetAttribute(const void* d, int a, void* v, size_t n, size_t* w) {
  return GetAttribute(d, a, v, n, w);
}

int cublasLtMatmulDescCreate(void** matmul, int compute_type, int scale_type) {
  const int status = Create(matmul);
  if (status == kSuccess) InitMatmul(*matmul, compute_type, scale_type);
  return status;
}
int cublasLtMatmulDescInit_internal(void* matmul, size_t, int compute_type, int scale_type) {
  if (!matmul) return kInvalidValue;
  Store().Adopt(matmul);
  InitMatmul(matmul, compute_type, scale_type);
  return kSuccess;
}
int cublasLtMatmulDescDestroy(void* matmul) { return Destroy(matmul); }
int cublasLtMatmulDescSetAttribute(void* d, int a, const void* v, size_t n) {
  return SetAttribute(d, a, v, n);
}
int cublasLtMatmulDescGetAttribute(const void* d, int a, void* v, size_t n, size_t* w) {
  return GetAttribute(d, a, v, n, w);
}

int cublasLtMatmulPreferenceCreate(void** preference) { return Create(preference); }
int cublasLtMatmulPreferenceInit_internal(void* preference, size_t) {
  if (!preference) return kInvalidValue;
  Store().Adopt(preference);
  return kSuccess;
}
int cublasLtMatmulPreferenceDestroy(void* preference) { return Destroy(preference); }
int cublasLtMatmulPreferenceSetAttribute(void* d, int a, const void* v, size_t n) {
  return SetAttribute(d, a, v, n);
}
int cublasLtMatmulPreferenceGetAttribute(const void* d, int a, void* v, size_t n, size_t* w) {
  return GetAttribute(d, a, v, n, w);
}

int cublasLtMatrixTransformDescCreate(void** d, int scale_type) {
  const int status = Create(d);
  if (status == kSuccess) Store().Put(*d, 0, scale_type);
  return status;
}
int cublasLtMatrixTransformDescInit_internal(void* d, size_t, int scale_type) {
  if (!d) return kInvalidValue;
  Store().Adopt(d);
  Store().Put(d, 0, scale_type);
  return kSuccess;
}
int cublasLtMatrixTransformDescDestroy(void* d) { return Destroy(d); }
int cublasLtMatrixTransformDescSetAttribute(void* d, int a, const void* v, size_t n) {
  return SetAttribute(d, a, v, n);
}
int cublasLtMatrixTransformDescGetAttribute(const void* d, int a, void* v, size_t n, size_t* w) {
  return GetAttribute(d, a, v, n, w);
}

int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int wanted,
                                   HeuristicResult* results, int* count) {
  if (!results || !count || wanted < 1) return kInvalidValue;
  Answer(&results[0]);
  *count = 1;
  return kSuccess;
}
int cublasLtMatmulAlgoGetIds(void*, int, int, int, int, int, int, int wanted, int* ids,
                             int* count) {
  if (wanted < 0 || (wanted && !ids)) return kInvalidValue;
  if (wanted) ids[0] = 0;
  if (count) *count = wanted ? 1 : 0;
  return kSuccess;
}
int cublasLtMatmulAlgoInit(void*, int, int, int, int, int, int, int, Algorithm* algorithm) {
  if (!algorithm) return kInvalidValue;
  *algorithm = kAlgorithm;
  return kSuccess;
}
int cublasLtMatmulAlgoCheck(void*, void*, void*, void*, void*, void*, const Algorithm*,
                            HeuristicResult* result) {
  if (!result) return kInvalidValue;
  Answer(result);
  return kSuccess;
}
int cublasLtMatmulAlgoCapGetAttribute(const Algorithm*, int, void* value, size_t bytes,
                                      size_t* written) {
  if (value) std::memset(value, 0, std::min(bytes, AttributeStore::kMostBytes));
  if (written) *written = bytes;
  return kSuccess;
}
int cublasLtMatmulAlgoConfigGetAttribute(const Algorithm*, int, void* value, size_t bytes,
                                         size_t* written) {
  return cublasLtMatmulAlgoCapGetAttribute(nullptr, 0, value, bytes, written);
}
int cublasLtMatmulAlgoConfigSetAttribute(Algorithm*, int, const void*, size_t) { return kSuccess; }

int cublasLtMatmul(void*, void* matmul, const void*, const void* a_address, void* layout_a,
                   const void* b_address, void* layout_b, const void*, const void* c_address,
                   void* layout_c, void* d, void* layout_d, const Algorithm*, void*, size_t,
                   void* stream) {
  AttributeStore& store = Store();
  if (!store.Has(matmul) || !store.Has(layout_a) || !store.Has(layout_d)) return kInvalidValue;
  const cublas::Matrix a = MatrixOf(layout_a, a_address), b = MatrixOf(layout_b, b_address),
                       c = MatrixOf(layout_c, c_address), out = MatrixOf(layout_d, d);
  const int64_t batch = std::max(store.Get<int>(layout_d, kBatch, 1), 1);
  const int64_t inner = store.Get<int>(matmul, kTransposeA, 0) ? a.rows : a.columns;
  const auto moved = [](const cublas::Matrix& matrix) {
    return Product(matrix.elements(), matrix.type.bits) / 8;
  };
  const uint64_t bytes = Product(moved(a) + moved(b) + moved(c) + moved(out), Positive(batch));

  // Besides D, a product may write a result of its epilogue: a mask, pre-activations or the bias's
  // gradient.
  Written writes[3] = {{d, out.extent_bytes(batch)}, {}, {}};
  size_t count = 1;
  if (void* auxiliary = store.Get<void*>(matmul, kAuxiliaryPointer, nullptr))
    writes[count++] = {
        auxiliary,
        Product(Product(Positive(store.Get<int64_t>(matmul, kAuxiliaryLeading, out.rows)),
                        Positive(out.columns)),
                out.type.bits) /
            8};
  const int epilogue = store.Get<int>(matmul, kEpilogue, 1);
  constexpr int kBiasGradients = 16 | 256 | 512;  // DRELU_BGRAD has 16, BGRADA 256, BGRADB 512
  void* const bias = store.Get<void*>(matmul, kBiasPointer, nullptr);
  const bool writes_bias = bias && (epilogue & kBiasGradients);
  // If C and D are the same matrix, it counts only as written: this function ignores beta, and C is
  // not read if beta is 0.
  const void* const reads[] = {a.address, b.address, c.address == d ? nullptr : c.address,
                               writes_bias ? nullptr : bias};
  if (writes_bias)
    writes[count++] = {bias, Product(std::max(Positive(out.rows), Positive(out.columns)), 4)};

  const double flops = 2.0 * static_cast<double>(out.rows) * static_cast<double>(out.columns) *
                       static_cast<double>(inner) * static_cast<double>(batch) *
                       (a.type.complex ? 4 : 1) * (a.type.fp64 ? 2 : 1);
  const Result result = Submit(
      {.name = "cublasLtMatmul",
       .stream = stream,
       .flops = flops,
       .precision = ComputePrecision(store.Get<int>(matmul, kComputeType, 68), a.type, false),
       .bytes = bytes,
       .product = {.m = out.rows,
                   .n = out.columns,
                   .k = inner,
                   .batch = batch,
                   .alignment = cublas::AlignmentOf({a, b, out})},
       .reads = reads,
       .writes = std::span(writes, count)});
  return result == Result::kSuccess ? kSuccess : kExecutionFailed;
}
int cublasLtMatrixTransform(void*, void*, const void*, const void*, void* layout_a, const void*,
                            const void*, void*, void* c, void* layout_c, void* stream) {
  const cublas::Matrix a = MatrixOf(layout_a, nullptr), out = MatrixOf(layout_c, c);
  const int64_t batch = std::max(Store().Get<int>(layout_c, kBatch, 1), 1);
  const Written writes[] = {{c, out.extent_bytes(batch)}};
  const uint64_t bytes =
      Product(Product(a.elements(), a.type.bits) / 8 + Product(out.elements(), out.type.bits) / 8,
              Positive(batch));
  return Submit({.name = "cublasLtMatrixTransform",
                 .stream = stream,
                 .bytes = bytes,
                 .writes = writes}) == Result::kSuccess
             ? kSuccess
             : kExecutionFailed;
}

}  // extern "C"
