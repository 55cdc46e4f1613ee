// Implements libcurand's host interface: generators, and functions that fill memory with one kernel
// per call.
#include <cstring>

#include "emulated/core/memory.h"
#include "emulated/core/platform.h"
#include "emulated/libraries/data_type.h"
#include "emulated/libraries/program_version.h"

using namespace vramscope::emulated;

namespace {

enum Status : int {
  kSuccess = 0,
  kNotInitialized = 101,
  kAllocationFailed = 102,
  kOutOfRange = 104,
  kLaunchFailure = 201
};

struct Generator {
  int type = 0;
  bool host = false;
  void* stream = nullptr;
};
constexpr DataType kFloat = DataTypeOf(0);

int Fill(Generator* generator, const char* name, void* out, size_t count, uint64_t element) {
  if (!generator) return kNotInitialized;
  if (!out) return kOutOfRange;
  const uint64_t bytes = Product(count, element);
  if (generator->host && ThePlatform().memory.DeviceOf(out) < 0) {
    std::memset(out, 0, bytes);
    return kSuccess;
  }
  const Written writes[] = {{out, bytes}};
  return Submit({.name = name,
                 .stream = generator->stream,
                 .flops = 20.0 * static_cast<double>(count),
                 .precision = kFloat.precision,
                 .bytes = bytes,
                 .writes = writes}) == Result::kSuccess
             ? kSuccess
             : kLaunchFailure;
}
int Create(Generator** generator, int type, bool host) {
  if (!generator) return kOutOfRange;
  *generator = new Generator{type, host, nullptr};
  // The generator's states are in GPU memory, but their size is not published.
  if (!host) Assume("cuRAND states of a generator", "curandCreateGenerator", 0);
  return kSuccess;
}
Version TheVersion() { return ProgramVersion("nvidia-curand", {10, 3, 10}); }

}  // namespace

// clang-format off
extern "C" {

int curandCreateGenerator(Generator** g, int type) { return Create(g, type, false); }
int curandCreateGeneratorHost(Generator** g, int type) { return Create(g, type, true); }
int curandDestroyGenerator(Generator* g) { delete g; return kSuccess; }
int curandGetVersion(int* version) { const Version v = TheVersion(); return version ? (*version = v.major * 1000 + v.minor * 100 + v.patch, kSuccess) : kOutOfRange; }
int curandGetProperty(int type, int* value) { const Version v = TheVersion(); return value && type >= 0 && type < 3 ? (*value = type == 0 ? v.major : type == 1 ? v.minor : v.patch, kSuccess) : kOutOfRange; }
int curandSetStream(Generator* g, void* stream) { return g ? (g->stream = stream, kSuccess) : kNotInitialized; }
int curandSetPseudoRandomGeneratorSeed(Generator*, unsigned long long) { return kSuccess; }
int curandSetGeneratorOffset(Generator*, unsigned long long) { return kSuccess; }
int curandSetGeneratorOrdering(Generator*, int) { return kSuccess; }
int curandSetQuasiRandomGeneratorDimensions(Generator*, unsigned) { return kSuccess; }
int curandGenerateSeeds(Generator* g) { return g ? kSuccess : kNotInitialized; }
int curandGenerate(Generator* g, unsigned* out, size_t n) { return Fill(g, "curandGenerate", out, n, 4); }
int curandGenerateLongLong(Generator* g, unsigned long long* out, size_t n) { return Fill(g, "curandGenerateLongLong", out, n, 8); }
int curandGenerateUniform(Generator* g, float* out, size_t n) { return Fill(g, "curandGenerateUniform", out, n, 4); }
int curandGenerateUniformDouble(Generator* g, double* out, size_t n) { return Fill(g, "curandGenerateUniformDouble", out, n, 8); }
int curandGenerateNormal(Generator* g, float* out, size_t n, float, float) { return Fill(g, "curandGenerateNormal", out, n, 4); }
int curandGenerateNormalDouble(Generator* g, double* out, size_t n, double, double) { return Fill(g, "curandGenerateNormalDouble", out, n, 8); }
int curandGenerateLogNormal(Generator* g, float* out, size_t n, float, float) { return Fill(g, "curandGenerateLogNormal", out, n, 4); }
int curandGenerateLogNormalDouble(Generator* g, double* out, size_t n, double, double) { return Fill(g, "curandGenerateLogNormalDouble", out, n, 8); }
int curandGeneratePoisson(Generator* g, unsigned* out, size_t n, double) { return Fill(g, "curandGeneratePoisson", out, n, 4); }

}  // extern "C"
