// Implements libcusolver's dense solvers. A call is one kernel. `info` is in GPU memory and reads
// as 0. Workspace sizes are in cusolver_sizes.h.
#include <algorithm>
#include <climits>

#include "emulated/core/context.h"
#include "emulated/core/platform.h"
#include "emulated/libraries/cusolver_sizes.h"
#include "emulated/libraries/data_type.h"
#include "emulated/libraries/toolkit_versions.h"

namespace vramscope::emulated::cusolver {
namespace {

enum Status : int { kSuccess = 0, kNotInitialized = 1, kInvalidValue = 3, kExecutionFailed = 6 };

struct Handle {
  void* stream = nullptr;
  int deterministic = 1;
};
struct Options {  // for Jacobi methods and the 64-bit interface; nothing is read back
  double tolerance = 0;
  int sweeps = 0, sorted = 1;
};

constexpr DataType kS = DataTypeOf(0), kD = DataTypeOf(1), kC = DataTypeOf(4), kZ = DataTypeOf(5);

double Cube(int64_t a, int64_t b, int64_t c) {
  return static_cast<double>(Positive(a)) * static_cast<double>(Positive(b)) *
         static_cast<double>(Positive(c));
}

int Work(Handle* handle, const char* name, DataType type, double flops, uint64_t elements,
         std::initializer_list<Written> writes) {
  if (!handle) return kNotInitialized;
  Written list[6];
  size_t count = 0;
  for (const Written& write : writes)
    if (write.address && write.bytes && count < std::size(list)) list[count++] = write;
  const Result result = Submit({.name = name,
                                .stream = handle->stream,
                                .flops = flops * (type.complex ? 4 : 1) * (type.fp64 ? 2 : 1),
                                .precision = Precision::kFp32,
                                .bytes = Product(elements, type.bits) / 4,
                                .writes = std::span(list, count)});
  return result == Result::kSuccess ? kSuccess : kExecutionFailed;
}
Written Of(const void* address, DataType type, uint64_t elements) {
  return {address, Product(elements, type.bits) / 8};
}
Written Info(const int* info, int64_t batch = 1) { return {info, Positive(batch) * sizeof(int)}; }

// Stores a size in elements, for the 32-bit interface.
int Size(const char* what, DataType type, uint64_t elements, int* lwork) {
  if (!lwork) return kInvalidValue;
  const uint64_t most = INT_MAX;
  *lwork = static_cast<int>(std::min(elements, most));
  Assume("cuSOLVER workspace", what, Product(static_cast<uint64_t>(*lwork), type.bits) / 8);
  return kSuccess;
}
// Stores sizes in bytes, for the GPU and for the host.
int Size(const char* what, int type, uint64_t elements, size_t* device, size_t* host) {
  if (!device || !host) return kInvalidValue;
  *device = Product(elements, DataTypeOf(type).bits) / 8;
  *host = 0;
  Assume("cuSOLVER workspace", what, *device);
  return kSuccess;
}

}  // namespace
}  // namespace vramscope::emulated::cusolver

using namespace vramscope::emulated;
using namespace vramscope::emulated::cusolver;
using P = const void*;

// clang-format off
extern "C" {

int cusolverDnCreate(Handle** handle) {
  if (!handle) return kInvalidValue;
  *handle = new Handle;
  GrowContext(CurrentDevice(), ContextPart::kCusolver);
  return kSuccess;
}
int cusolverDnDestroy(Handle* handle) { delete handle; return kSuccess; }
int cusolverDnSetStream(Handle* handle, void* stream) { return handle ? (handle->stream = stream, kSuccess) : kNotInitialized; }
int cusolverDnGetStream(Handle* handle, void** stream) { return handle && stream ? (*stream = handle->stream, kSuccess) : kInvalidValue; }
int cusolverDnSetDeterministicMode(Handle* handle, int mode) { return handle ? (handle->deterministic = mode, kSuccess) : kNotInitialized; }
int cusolverDnGetDeterministicMode(Handle* handle, int* mode) { return handle && mode ? (*mode = handle->deterministic, kSuccess) : kInvalidValue; }
int cusolverDnSetAdvOptions(Options*, int, int) { return kSuccess; }
int cusolverGetProperty(int type, int* value) {
  if (!value || type < 0 || type > 2) return kInvalidValue;
  const Version v = CusolverVersion(VRAMSCOPE_EMULATED_MAJOR);
  *value = type == 0 ? v.major : type == 1 ? v.minor : v.patch;
  return kSuccess;
}
int cusolverGetVersion(int* version) {
  if (!version) return kInvalidValue;
  const Version v = CusolverVersion(VRAMSCOPE_EMULATED_MAJOR);
  *version = v.major * 1000 + v.minor * 100 + v.patch;
  return kSuccess;
}
#define VRAMSCOPE_OPTIONS(KIND)                                                                   \
  int cusolverDnCreate##KIND(Options** options) { return options ? (*options = new Options, kSuccess) : kInvalidValue; } \
  int cusolverDnDestroy##KIND(Options* options) { delete options; return kSuccess; }
VRAMSCOPE_OPTIONS(Params) VRAMSCOPE_OPTIONS(GesvdjInfo) VRAMSCOPE_OPTIONS(SyevjInfo)
#define VRAMSCOPE_JACOBI(KIND, SORT)                                                              \
  int cusolverDnX##KIND##SetTolerance(Options* o, double v) { return o ? (o->tolerance = v, kSuccess) : kInvalidValue; } \
  int cusolverDnX##KIND##SetMaxSweeps(Options* o, int v) { return o ? (o->sweeps = v, kSuccess) : kInvalidValue; } \
  int cusolverDnX##KIND##SetSort##SORT(Options* o, int v) { return o ? (o->sorted = v, kSuccess) : kInvalidValue; } \
  int cusolverDnX##KIND##GetResidual(Handle*, Options*, double* v) { return v ? (*v = 0, kSuccess) : kInvalidValue; } \
  int cusolverDnX##KIND##GetSweeps(Handle*, Options*, int* v) { return v ? (*v = 1, kSuccess) : kInvalidValue; }
VRAMSCOPE_JACOBI(gesvdj, Eig) VRAMSCOPE_JACOBI(syevj, Eig)

// Factorisations, and the solvers that use them, with the 32-bit interface.
#define X(T)                                                                                      \
  int cusolverDn##T##potrf_bufferSize(Handle*, int, int n, P, int, int* lwork) { return Size("cusolverDn" #T "potrf", k##T, Potrf(n), lwork); } \
  int cusolverDn##T##potrf(Handle* h, int, int n, void* a, int, void*, int, int* info) { return Work(h, "cusolverDn" #T "potrf", k##T, Cube(n, n, n) / 3, Times(n, n), {Of(a, k##T, Times(n, n)), Info(info)}); } \
  int cusolverDn##T##potrs(Handle* h, int, int n, int r, P, int, void* b, int, int* info) { return Work(h, "cusolverDn" #T "potrs", k##T, 2 * Cube(n, n, r), Times(n, n), {Of(b, k##T, Times(n, r)), Info(info)}); } \
  int cusolverDn##T##potri_bufferSize(Handle*, int, int n, P, int, int* lwork) { return Size("cusolverDn" #T "potri", k##T, Potrf(n), lwork); } \
  int cusolverDn##T##potri(Handle* h, int, int n, void* a, int, void*, int, int* info) { return Work(h, "cusolverDn" #T "potri", k##T, Cube(n, n, n), Times(n, n), {Of(a, k##T, Times(n, n)), Info(info)}); } \
  int cusolverDn##T##potrfBatched(Handle* h, int, int n, P, int, int* info, int batch) { ThePlatform().host_bytes.LaunchedUnknown(); return Work(h, "cusolverDn" #T "potrfBatched", k##T, Cube(n, n, n) / 3 * batch, Product(Times(n, n), Positive(batch)), {Info(info, batch)}); } \
  int cusolverDn##T##potrsBatched(Handle* h, int, int n, int r, P, int, P, int, int* info, int batch) { ThePlatform().host_bytes.LaunchedUnknown(); return Work(h, "cusolverDn" #T "potrsBatched", k##T, 2 * Cube(n, n, r) * batch, Product(Times(n, n), Positive(batch)), {Info(info)}); } \
  int cusolverDn##T##getrf_bufferSize(Handle*, int m, int n, P, int, int* lwork) { return Size("cusolverDn" #T "getrf", k##T, Getrf(m, n), lwork); } \
  int cusolverDn##T##getrf(Handle* h, int m, int n, void* a, int, void*, int* pivots, int* info) { return Work(h, "cusolverDn" #T "getrf", k##T, 2 * Cube(m, n, std::min(m, n)) / 3, Times(m, n), {Of(a, k##T, Times(m, n)), Info(pivots, std::min(m, n)), Info(info)}); } \
  int cusolverDn##T##getrs(Handle* h, int, int n, int r, P, int, const int*, void* b, int, int* info) { return Work(h, "cusolverDn" #T "getrs", k##T, 2 * Cube(n, n, r), Times(n, n), {Of(b, k##T, Times(n, r)), Info(info)}); } \
  int cusolverDn##T##geqrf_bufferSize(Handle*, int m, int n, P, int, int* lwork) { return Size("cusolverDn" #T "geqrf", k##T, Geqrf(m, n), lwork); } \
  int cusolverDn##T##geqrf(Handle* h, int m, int n, void* a, int, void* tau, void*, int, int* info) { return Work(h, "cusolverDn" #T "geqrf", k##T, 2 * Cube(m, n, std::min(m, n)), Times(m, n), {Of(a, k##T, Times(m, n)), Of(tau, k##T, Positive(std::min(m, n))), Info(info)}); } \
  int cusolverDn##T##sytrf_bufferSize(Handle*, int n, P, int, int* lwork) { return Size("cusolverDn" #T "sytrf", k##T, Sytrf(n), lwork); } \
  int cusolverDn##T##sytrf(Handle* h, int, int n, void* a, int, int* pivots, void*, int, int* info) { return Work(h, "cusolverDn" #T "sytrf", k##T, Cube(n, n, n) / 3, Times(n, n), {Of(a, k##T, Times(n, n)), Info(pivots, n), Info(info)}); } \
  int cusolverDn##T##gesvd_bufferSize(Handle*, int m, int n, int* lwork) { return Size("cusolverDn" #T "gesvd", k##T, Gesvd(m, n), lwork); } \
  int cusolverDn##T##gesvd(Handle* h, signed char, signed char, int m, int n, void* a, int, void* s, void* u, int, void* v, int, void*, int, void*, int* info) { return Work(h, "cusolverDn" #T "gesvd", k##T, 12 * Cube(m, n, std::min(m, n)), Times(m, n), {Of(a, k##T, Times(m, n)), Of(s, k##T, Positive(std::min(m, n))), Of(u, k##T, Times(m, m)), Of(v, k##T, Times(n, n)), Info(info)}); } \
  int cusolverDn##T##gesvdj_bufferSize(Handle*, int, int, int m, int n, P, int, P, P, int, P, int, int* lwork, Options*) { return Size("cusolverDn" #T "gesvdj", k##T, Gesvdj(m, n), lwork); } \
  int cusolverDn##T##gesvdj(Handle* h, int, int, int m, int n, void* a, int, void* s, void* u, int, void* v, int, void*, int, int* info, Options*) { return Work(h, "cusolverDn" #T "gesvdj", k##T, 24 * Cube(m, n, std::min(m, n)), Times(m, n), {Of(a, k##T, Times(m, n)), Of(s, k##T, Positive(std::min(m, n))), Of(u, k##T, Times(m, std::min(m, n))), Of(v, k##T, Times(n, std::min(m, n))), Info(info)}); } \
  int cusolverDn##T##gesvdjBatched_bufferSize(Handle*, int, int m, int n, P, int, P, P, int, P, int, int* lwork, Options*, int batch) { return Size("cusolverDn" #T "gesvdjBatched", k##T, Product(Gesvdj(m, n), Positive(batch)), lwork); } \
  int cusolverDn##T##gesvdjBatched(Handle* h, int, int m, int n, void* a, int, void* s, void* u, int, void* v, int, void*, int, int* info, Options*, int batch) { return Work(h, "cusolverDn" #T "gesvdjBatched", k##T, 24 * Cube(m, n, std::min(m, n)) * batch, Product(Times(m, n), Positive(batch)), {Of(a, k##T, Product(Times(m, n), Positive(batch))), Of(s, k##T, Times(std::min(m, n), batch)), Of(u, k##T, Product(Times(m, m), Positive(batch))), Of(v, k##T, Product(Times(n, n), Positive(batch))), Info(info, batch)}); } \
  int cusolverDn##T##gesvdaStridedBatched_bufferSize(Handle*, int, int, int m, int n, P, int, long long, P, long long, P, int, long long, P, int, long long, int* lwork, int batch) { return Size("cusolverDn" #T "gesvdaStridedBatched", k##T, Product(Gesvdj(m, n), Positive(batch)), lwork); } \
  int cusolverDn##T##gesvdaStridedBatched(Handle* h, int, int rank, int m, int n, P, int, long long, void* s, long long ss, void* u, int, long long su, void* v, int, long long sv, void*, int, int* info, double* norms, int batch) { for (int i = 0; norms && i < batch; ++i) norms[i] = 0; return Work(h, "cusolverDn" #T "gesvdaStridedBatched", k##T, 12 * Cube(m, n, rank) * batch, Product(Times(m, n), Positive(batch)), {Of(s, k##T, Times(ss, batch)), Of(u, k##T, Times(su, batch)), Of(v, k##T, Times(sv, batch)), Info(info, batch)}); }
X(S) X(D) X(C) X(Z)
#undef X

// Routines that have different names for real and complex matrices.
#define X(T, GQR, MQR, EVD, EVJ)                                                                  \
  int cusolverDn##T##GQR##_bufferSize(Handle*, int m, int n, int, P, int, P, int* lwork) { return Size("cusolverDn" #T #GQR, k##T, Orgqr(m, n), lwork); } \
  int cusolverDn##T##GQR(Handle* h, int m, int n, int k, void* a, int, P, void*, int, int* info) { return Work(h, "cusolverDn" #T #GQR, k##T, 4 * Cube(m, n, k), Times(m, n), {Of(a, k##T, Times(m, n)), Info(info)}); } \
  int cusolverDn##T##MQR##_bufferSize(Handle*, int, int, int m, int n, int, P, int, P, P, int, int* lwork) { return Size("cusolverDn" #T #MQR, k##T, Orgqr(m, n), lwork); } \
  int cusolverDn##T##MQR(Handle* h, int, int, int m, int n, int k, P, int, P, void* c, int, void*, int, int* info) { return Work(h, "cusolverDn" #T #MQR, k##T, 4 * Cube(m, n, k), Times(m, n), {Of(c, k##T, Times(m, n)), Info(info)}); } \
  int cusolverDn##T##EVD##_bufferSize(Handle*, int jobz, int, int n, P, int, P, int* lwork) { return Size("cusolverDn" #T #EVD, k##T, Syevd(jobz != 0, n), lwork); } \
  int cusolverDn##T##EVD(Handle* h, int, int, int n, void* a, int, void* w, void*, int, int* info) { return Work(h, "cusolverDn" #T #EVD, k##T, 9 * Cube(n, n, n), Times(n, n), {Of(a, k##T, Times(n, n)), Of(w, k##T, Positive(n)), Info(info)}); } \
  int cusolverDn##T##EVJ##_bufferSize(Handle*, int jobz, int, int n, P, int, P, int* lwork, Options*) { return Size("cusolverDn" #T #EVJ, k##T, Syevd(jobz != 0, n), lwork); } \
  int cusolverDn##T##EVJ(Handle* h, int, int, int n, void* a, int, void* w, void*, int, int* info, Options*) { return Work(h, "cusolverDn" #T #EVJ, k##T, 18 * Cube(n, n, n), Times(n, n), {Of(a, k##T, Times(n, n)), Of(w, k##T, Positive(n)), Info(info)}); } \
  int cusolverDn##T##EVJ##Batched_bufferSize(Handle*, int jobz, int, int n, P, int, P, int* lwork, Options*, int batch) { return Size("cusolverDn" #T #EVJ "Batched", k##T, Product(Syevd(jobz != 0, n), Positive(batch)), lwork); } \
  int cusolverDn##T##EVJ##Batched(Handle* h, int, int, int n, void* a, int, void* w, void*, int, int* info, Options*, int batch) { return Work(h, "cusolverDn" #T #EVJ "Batched", k##T, 18 * Cube(n, n, n) * batch, Product(Times(n, n), Positive(batch)), {Of(a, k##T, Product(Times(n, n), Positive(batch))), Of(w, k##T, Times(n, batch)), Info(info, batch)}); }
X(S, orgqr, ormqr, syevd, syevj) X(D, orgqr, ormqr, syevd, syevj) X(C, ungqr, unmqr, heevd, heevj) X(Z, ungqr, unmqr, heevd, heevj)
#undef X

// The 64-bit interface has sizes in bytes, and types as numbers.
int cusolverDnXpotrf_bufferSize(Handle*, Options*, int, int64_t n, int, P, int64_t, int type, size_t* device, size_t* host) { return Size("cusolverDnXpotrf", type, Potrf(n), device, host); }
int cusolverDnXpotrf(Handle* h, Options*, int, int64_t n, int type, void* a, int64_t, int, void*, size_t, void*, size_t, int* info) { return Work(h, "cusolverDnXpotrf", DataTypeOf(type), Cube(n, n, n) / 3, Times(n, n), {Of(a, DataTypeOf(type), Times(n, n)), Info(info)}); }
int cusolverDnXpotrs(Handle* h, Options*, int, int64_t n, int64_t r, int, P, int64_t, int type, void* b, int64_t, int* info) { return Work(h, "cusolverDnXpotrs", DataTypeOf(type), 2 * Cube(n, n, r), Times(n, n), {Of(b, DataTypeOf(type), Times(n, r)), Info(info)}); }
int cusolverDnXgeqrf_bufferSize(Handle*, Options*, int64_t m, int64_t n, int, P, int64_t, int, P, int type, size_t* device, size_t* host) { return Size("cusolverDnXgeqrf", type, Geqrf(m, n), device, host); }
int cusolverDnXgeqrf(Handle* h, Options*, int64_t m, int64_t n, int type, void* a, int64_t, int, void* tau, int, void*, size_t, void*, size_t, int* info) { return Work(h, "cusolverDnXgeqrf", DataTypeOf(type), 2 * Cube(m, n, std::min(m, n)), Times(m, n), {Of(a, DataTypeOf(type), Times(m, n)), Of(tau, DataTypeOf(type), Positive(std::min(m, n))), Info(info)}); }
int cusolverDnXgetrf_bufferSize(Handle*, Options*, int64_t m, int64_t n, int, P, int64_t, int type, size_t* device, size_t* host) { return Size("cusolverDnXgetrf", type, Getrf(m, n), device, host); }
int cusolverDnXgetrf(Handle* h, Options*, int64_t m, int64_t n, int type, void* a, int64_t, int64_t* pivots, int, void*, size_t, void*, size_t, int* info) { return Work(h, "cusolverDnXgetrf", DataTypeOf(type), 2 * Cube(m, n, std::min(m, n)) / 3, Times(m, n), {Of(a, DataTypeOf(type), Times(m, n)), {pivots, Positive(std::min(m, n)) * 8}, Info(info)}); }
int cusolverDnXgetrs(Handle* h, Options*, int, int64_t n, int64_t r, int, P, int64_t, const int64_t*, int type, void* b, int64_t, int* info) { return Work(h, "cusolverDnXgetrs", DataTypeOf(type), 2 * Cube(n, n, r), Times(n, n), {Of(b, DataTypeOf(type), Times(n, r)), Info(info)}); }
int cusolverDnXsyevd_bufferSize(Handle*, Options*, int jobz, int, int64_t n, int, P, int64_t, int, P, int type, size_t* device, size_t* host) { return Size("cusolverDnXsyevd", type, Syevd(jobz != 0, n), device, host); }
int cusolverDnXsyevd(Handle* h, Options*, int, int, int64_t n, int type, void* a, int64_t, int wtype, void* w, int, void*, size_t, void*, size_t, int* info) { return Work(h, "cusolverDnXsyevd", DataTypeOf(type), 9 * Cube(n, n, n), Times(n, n), {Of(a, DataTypeOf(type), Times(n, n)), Of(w, DataTypeOf(wtype), Positive(n)), Info(info)}); }
int cusolverDnXsyevBatched_bufferSize(Handle*, Options*, int jobz, int, int64_t n, int, P, int64_t, int, P, int type, size_t* device, size_t* host, int64_t batch) { return Size("cusolverDnXsyevBatched", type, Product(Syevd(jobz != 0, n), Positive(batch)), device, host); }
int cusolverDnXsyevBatched(Handle* h, Options*, int, int, int64_t n, int type, void* a, int64_t, int wtype, void* w, int, void*, size_t, void*, size_t, int* info, int64_t batch) { return Work(h, "cusolverDnXsyevBatched", DataTypeOf(type), 9 * Cube(n, n, n) * static_cast<double>(batch), Product(Times(n, n), Positive(batch)), {Of(a, DataTypeOf(type), Product(Times(n, n), Positive(batch))), Of(w, DataTypeOf(wtype), Times(n, batch)), Info(info, batch)}); }
int cusolverDnXgeev_bufferSize(Handle*, Options*, int, int, int64_t n, int, P, int64_t, int, P, int, P, int64_t, int, P, int64_t, int type, size_t* device, size_t* host) { return Size("cusolverDnXgeev", type, Geev(n), device, host); }
int cusolverDnXgeev(Handle* h, Options*, int, int, int64_t n, int type, void* a, int64_t, int wtype, void* w, int, void* vl, int64_t, int, void* vr, int64_t, int, void*, size_t, void*, size_t, int* info) { return Work(h, "cusolverDnXgeev", DataTypeOf(type), 25 * Cube(n, n, n), Times(n, n), {Of(a, DataTypeOf(type), Times(n, n)), Of(w, DataTypeOf(wtype), Positive(n)), Of(vl, DataTypeOf(type), Times(n, n)), Of(vr, DataTypeOf(type), Times(n, n)), Info(info)}); }
int cusolverDnXsytrs_bufferSize(Handle*, int, int64_t n, int64_t, int, P, int64_t, const int64_t*, int type, P, int64_t, size_t* device, size_t* host) { return Size("cusolverDnXsytrs", type, Panel(n), device, host); }
int cusolverDnXsytrs(Handle* h, int, int64_t n, int64_t r, int, P, int64_t, const int64_t*, int type, void* b, int64_t, void*, size_t, void*, size_t, int* info) { return Work(h, "cusolverDnXsytrs", DataTypeOf(type), 2 * Cube(n, n, r), Times(n, n), {Of(b, DataTypeOf(type), Times(n, r)), Info(info)}); }

}  // extern "C"
