// Implements libcusparseLt: products with matrices in which two of four elements are nonzero. The
// program provides the memory for descriptors. The size of this memory differs between versions, so
// the contents of descriptors are stored elsewhere.
#include <algorithm>
#include <cstring>

#include "emulated/core/platform.h"
#include "emulated/libraries/attributes.h"
#include "emulated/libraries/data_type.h"
#include "emulated/libraries/program_version.h"

using namespace vramscope::emulated;

namespace {

enum Status : int { kSuccess = 0, kNotInitialized = 1, kInvalidValue = 3, kExecutionFailed = 6 };
// Keys of stored values. They are larger than the numbers of the interface's own attributes.
enum Key : int { kRows = 1000, kColumns, kType, kOutRows, kOutColumns, kInner, kOutType, kInType };

AttributeStore& Store() {
  static auto* store = new AttributeStore;
  return *store;
}
int Init(const void* descriptor) {
  if (!descriptor) return kInvalidValue;
  Store().Adopt(const_cast<void*>(descriptor));
  return kSuccess;
}
int InitMatrix(void* descriptor, int64_t rows, int64_t columns, int type) {
  if (rows < 0 || columns < 0 || Init(descriptor) != kSuccess) return kInvalidValue;
  Store().Put(descriptor, kRows, rows);
  Store().Put(descriptor, kColumns, columns);
  Store().Put(descriptor, kType, type);
  return kSuccess;
}
int Destroy(const void* descriptor) {
  Store().Destroy(descriptor);
  return kSuccess;
}
int SetAttribute(void* descriptor, int attribute, const void* data, size_t bytes) {
  return attribute >= 0 && attribute < kRows && Store().Set(descriptor, attribute, data, bytes)
             ? kSuccess
             : kInvalidValue;
}
int GetAttribute(const void* descriptor, int attribute, void* data, size_t bytes) {
  return data && bytes <= AttributeStore::kMostBytes &&
                 Store().Copy(descriptor, attribute, data, bytes, nullptr)
             ? kSuccess
             : kInvalidValue;
}

// Returns the size of half of the elements, with two bits of metadata for each of them. The
// library's layout is not published, but PyTorch's own compression has this size.
uint64_t CompressedBytes(const void* matrix) {
  const int64_t rows = Store().Get<int64_t>(matrix, kRows, 0),
                columns = Store().Get<int64_t>(matrix, kColumns, 0);
  const DataType type = DataTypeOf(Store().Get<int>(matrix, kType, 0));
  const uint64_t elements = Product(Positive(rows), Positive(columns));
  return Product(elements / 2, type.bits) / 8 + (elements / 2 * 2 + 7) / 8;
}
int CompressedSize(const void* matrix, size_t* size, size_t* buffer) {
  if (!size) return kInvalidValue;
  *size = CompressedBytes(matrix);
  if (buffer) *buffer = 0;
  Assume("cuSPARSELt compressed matrix", "cusparseLtSpMMACompressedSize", *size);
  return kSuccess;
}
int Work(const char* name, void* stream, double flops, uint64_t bytes, void* out,
         uint64_t out_bytes) {
  const Written writes[] = {{out, out_bytes}};
  return Submit({.name = name,
                 .stream = stream,
                 .flops = flops,
                 .precision = Precision::kBf16,
                 .bytes = bytes,
                 .writes = std::span(writes, out ? 1 : 0)}) == Result::kSuccess
             ? kSuccess
             : kExecutionFailed;
}

}  // namespace

// clang-format off
extern "C" {

int cusparseLtInit(void* handle) { return Init(handle); }
int cusparseLtDestroy(const void* handle) { return Destroy(handle); }
int cusparseLtGetVersion(const void*, int* version) {
  if (!version) return kInvalidValue;
  const Version v = ProgramVersion("nvidia-cusparselt-cu", {0, 7, 1});
  *version = v.major * 1000 + v.minor * 100 + v.patch;
  return kSuccess;
}
int cusparseLtGetProperty(int type, int* value) {
  if (!value || type < 0 || type > 2) return kInvalidValue;
  const Version v = ProgramVersion("nvidia-cusparselt-cu", {0, 7, 1});
  *value = type == 0 ? v.major : type == 1 ? v.minor : v.patch;
  return kSuccess;
}
const char* cusparseLtGetErrorName(int status) { return status == kSuccess ? "CUSPARSE_STATUS_SUCCESS" : "CUSPARSE_STATUS_INVALID_VALUE"; }
const char* cusparseLtGetErrorString(int status) { return status == kSuccess ? "success" : "invalid value"; }

int cusparseLtDenseDescriptorInit(const void*, void* m, int64_t rows, int64_t columns, int64_t, uint32_t, int type, int) { return InitMatrix(m, rows, columns, type); }
int cusparseLtStructuredDescriptorInit(const void*, void* m, int64_t rows, int64_t columns, int64_t, uint32_t, int type, int, int) { return InitMatrix(m, rows, columns, type); }
int cusparseLtMatDescriptorDestroy(const void* m) { return Destroy(m); }
int cusparseLtMatDescSetAttribute(const void*, void* m, int a, const void* d, size_t n) { return SetAttribute(m, a, d, n); }
int cusparseLtMatDescGetAttribute(const void*, const void* m, int a, void* d, size_t n) { return GetAttribute(m, a, d, n); }

int cusparseLtMatmulDescriptorInit(const void*, void* matmul, int op_a, int, const void* a, const void*, const void*, const void* d, int) {
  if (!a || !d || Init(matmul) != kSuccess) return kInvalidValue;
  AttributeStore& store = Store();
  store.Put(matmul, kOutRows, store.Get<int64_t>(d, kRows, 0));
  store.Put(matmul, kOutColumns, store.Get<int64_t>(d, kColumns, 0));
  store.Put(matmul, kOutType, store.Get<int>(d, kType, 0));
  store.Put(matmul, kInType, store.Get<int>(a, kType, 0));
  store.Put(matmul, kInner, store.Get<int64_t>(a, op_a == 0 ? kColumns : kRows, 0));
  return kSuccess;
}
int cusparseLtMatmulDescSetAttribute(const void*, void* m, int a, const void* d, size_t n) { return SetAttribute(m, a, d, n); }
int cusparseLtMatmulDescGetAttribute(const void*, const void* m, int a, void* d, size_t n) { return GetAttribute(m, a, d, n); }
int cusparseLtMatmulAlgSelectionInit(const void*, void* selection, const void*, int) { return Init(selection); }
int cusparseLtMatmulAlgSetAttribute(const void*, void* s, int a, const void* d, size_t n) { return SetAttribute(s, a, d, n); }
int cusparseLtMatmulAlgGetAttribute(const void*, const void* s, int attribute, void* data, size_t bytes) {
  constexpr int kMostConfigurations = 1;  // CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID; the answer is one configuration
  if (attribute == kMostConfigurations && data && bytes >= sizeof(int)) {
    const int one = 1;
    std::memset(data, 0, std::min(bytes, AttributeStore::kMostBytes));
    std::memcpy(data, &one, sizeof one);
    return kSuccess;
  }
  return GetAttribute(s, attribute, data, bytes);
}
int cusparseLtMatmulPlanInit(const void*, void* plan, const void* matmul, const void*) {
  if (!matmul || Init(plan) != kSuccess) return kInvalidValue;
  AttributeStore& store = Store();
  for (int key : {kOutRows, kOutColumns, kInner}) store.Put(plan, key, store.Get<int64_t>(matmul, key, 0));
  for (int key : {kOutType, kInType}) store.Put(plan, key, store.Get<int>(matmul, key, 0));
  return kSuccess;
}
int cusparseLtMatmulPlanDestroy(const void* plan) { return Destroy(plan); }
int cusparseLtMatmulGetWorkspace(const void*, const void*, size_t* bytes) {
  if (!bytes) return kInvalidValue;
  *bytes = 0;
  Assume("cuSPARSELt workspace", "cusparseLtMatmulGetWorkspace", 0);
  return kSuccess;
}
int cusparseLtMatmul(const void*, const void* plan, const void*, const void*, const void*, const void*, const void*, void* d, void*, void** streams, int32_t count) {
  AttributeStore& store = Store();
  if (!store.Has(plan)) return kInvalidValue;
  const int64_t rows = store.Get<int64_t>(plan, kOutRows, 0), columns = store.Get<int64_t>(plan, kOutColumns, 0), inner = store.Get<int64_t>(plan, kInner, 0);
  const uint64_t out = Product(Product(Positive(rows), Positive(columns)), DataTypeOf(store.Get<int>(plan, kOutType, 0)).bits) / 8;
  // Half of the multiplications are left out.
  return Work("cusparseLtMatmul", count > 0 && streams ? streams[0] : nullptr, static_cast<double>(Positive(rows)) * static_cast<double>(Positive(columns)) * static_cast<double>(Positive(inner)), out, d, out);
}
int cusparseLtMatmulSearch(const void* h, void* plan, const void* alpha, const void* a, const void* b, const void* beta, const void* c, void* d, void* workspace, void** streams, int32_t count) {
  return cusparseLtMatmul(h, plan, alpha, a, b, beta, c, d, workspace, streams, count);
}
int cusparseLtSpMMACompressedSize(const void*, const void* plan, size_t* size, size_t* buffer) {
  if (!size) return kInvalidValue;
  AttributeStore& store = Store();
  const uint64_t elements = Product(Positive(store.Get<int64_t>(plan, kOutRows, 0)), Positive(store.Get<int64_t>(plan, kInner, 0)));
  *size = Product(elements / 2, DataTypeOf(store.Get<int>(plan, kInType, 0)).bits) / 8 + (elements / 2 * 2 + 7) / 8;
  if (buffer) *buffer = 0;
  Assume("cuSPARSELt compressed matrix", "cusparseLtSpMMACompressedSize", *size);
  return kSuccess;
}
int cusparseLtSpMMACompressedSize2(const void*, const void* m, size_t* size, size_t* buffer) { return CompressedSize(m, size, buffer); }
int cusparseLtSpMMACompress(const void*, const void*, const void*, void* out, void*, void* stream) { return Work("cusparseLtSpMMACompress", stream, 0, 0, out, out ? 1 : 0); }
int cusparseLtSpMMACompress2(const void*, const void* m, int, int, const void*, void* out, void*, void* stream) { const uint64_t bytes = CompressedBytes(m); return Work("cusparseLtSpMMACompress2", stream, 0, 3 * bytes, out, bytes); }
int cusparseLtSpMMAPrune(const void*, const void*, const void*, void* out, int, void* stream) { return Work("cusparseLtSpMMAPrune", stream, 0, 0, out, out ? 1 : 0); }
int cusparseLtSpMMAPrune2(const void*, const void*, int, int, const void*, void* out, int, void* stream) { return Work("cusparseLtSpMMAPrune2", stream, 0, 0, out, out ? 1 : 0); }
// The result, in GPU memory, reads as 0, which means that the matrix has the required structure.
int cusparseLtSpMMAPruneCheck(const void*, const void*, const void*, int* valid, void* stream) { return Work("cusparseLtSpMMAPruneCheck", stream, 0, 0, valid, valid ? sizeof *valid : 0); }
int cusparseLtSpMMAPruneCheck2(const void*, const void*, int, int, const void*, int* valid, void* stream) { return Work("cusparseLtSpMMAPruneCheck2", stream, 0, 0, valid, valid ? sizeof *valid : 0); }

}  // extern "C"
