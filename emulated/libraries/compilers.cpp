// Implements libnvrtc and libnvJitLink. Everything compiles to an empty image, whose kernels do
// nothing.
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include "emulated/libraries/toolkit_versions.h"

using namespace vramscope::emulated;

namespace {

enum Status : int { kSuccess = 0, kInvalidInput = 3, kInvalidProgram = 4 };

// The size of an empty image, which is all zeros. It is longer than any header that a loader
// reads.
constexpr size_t kImageBytes = 256;
[[maybe_unused]] int CopyImage(char* to) {
  if (!to) return kInvalidInput;
  std::memset(to, 0, kImageBytes);
  return kSuccess;
}
[[maybe_unused]] int Size(size_t* bytes, size_t value) {
  if (!bytes) return kInvalidInput;
  *bytes = value;
  return kSuccess;
}
[[maybe_unused]] int EmptyText(char* text) {
  if (!text) return kInvalidInput;
  *text = '\0';
  return kSuccess;
}

}  // namespace

#ifdef VRAMSCOPE_EMULATED_NVRTC
namespace {
struct Program {
  std::string name;
  std::map<std::string, std::string> lowered;
};
// Returns a valid kernel name: all characters except letters and digits become underscores.
std::string Lowered(const char* expression) {
  std::string name = expression;
  for (char& c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) c = '_';
  return name;
}
}  // namespace

// clang-format off
extern "C" {

const char* nvrtcGetErrorString(int status) { return status == kSuccess ? "NVRTC_SUCCESS" : "NVRTC_ERROR_INVALID_INPUT"; }
int nvrtcVersion(int* major, int* minor) {
  if (!major || !minor) return kInvalidInput;
  const Version cuda = CudaVersion(VRAMSCOPE_EMULATED_MAJOR);
  *major = cuda.major, *minor = cuda.minor;
  return kSuccess;
}
static constexpr int kArchitectures[] = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 120};
static constexpr int kArchitectureCount = VRAMSCOPE_EMULATED_MAJOR >= 13 ? 16 : VRAMSCOPE_EMULATED_MAJOR == 12 ? 16 : 14;
int nvrtcGetNumSupportedArchs(int* count) { return count ? (*count = kArchitectureCount, kSuccess) : kInvalidInput; }
int nvrtcGetSupportedArchs(int* architectures) {
  if (!architectures) return kInvalidInput;
  std::memcpy(architectures, kArchitectures, sizeof(int) * kArchitectureCount);
  return kSuccess;
}
int nvrtcCreateProgram(Program** program, const char* source, const char* name, int, const char* const*, const char* const*) {
  if (!program || !source) return kInvalidInput;
  *program = new Program{name ? name : "", {}};
  return kSuccess;
}
int nvrtcDestroyProgram(Program** program) {
  if (!program) return kInvalidProgram;
  delete *program;
  *program = nullptr;
  return kSuccess;
}
int nvrtcCompileProgram(Program* program, int, const char* const*) { return program ? kSuccess : kInvalidProgram; }
int nvrtcAddNameExpression(Program* program, const char* expression) {
  if (!program || !expression) return kInvalidInput;
  program->lowered[expression] = Lowered(expression);
  return kSuccess;
}
int nvrtcGetLoweredName(Program* program, const char* expression, const char** lowered) {
  if (!program || !expression || !lowered) return kInvalidInput;
  const auto [found, added] = program->lowered.try_emplace(expression, Lowered(expression));
  *lowered = found->second.c_str();
  return kSuccess;
}
#define VRAMSCOPE_IMAGE(KIND)                                                       \
  int nvrtcGet##KIND##Size(Program*, size_t* bytes) { return Size(bytes, kImageBytes); } \
  int nvrtcGet##KIND(Program*, char* image) { return CopyImage(image); }
VRAMSCOPE_IMAGE(PTX) VRAMSCOPE_IMAGE(CUBIN) VRAMSCOPE_IMAGE(LTOIR) VRAMSCOPE_IMAGE(OptiXIR) VRAMSCOPE_IMAGE(NVVM)
int nvrtcGetProgramLogSize(Program*, size_t* bytes) { return Size(bytes, 1); }
int nvrtcGetProgramLog(Program*, char* log) { return EmptyText(log); }
int nvrtcGetPCHHeapSize(size_t* bytes) { return Size(bytes, 0); }
int nvrtcSetPCHHeapSize(size_t) { return kSuccess; }
int nvrtcGetPCHCreateStatus(Program*) { return kSuccess; }
int nvrtcGetPCHHeapSizeRequired(Program*, size_t* bytes) { return Size(bytes, 0); }
int nvrtcSetFlowCallback(Program*, int (*)(void*, void*), void*) { return kSuccess; }

}  // extern "C"
#endif

#ifdef VRAMSCOPE_EMULATED_NVJITLINK
namespace { struct Linker {}; }

// clang-format off
extern "C" {

int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  if (!major || !minor) return kInvalidInput;
  const Version cuda = CudaVersion(VRAMSCOPE_EMULATED_MAJOR);
  *major = static_cast<unsigned>(cuda.major), *minor = static_cast<unsigned>(cuda.minor);
  return kSuccess;
}
// In every release of the toolkit, the names of these functions contain the number of the release. A
// program calls the functions of the release for which the program was built.
#define VRAMSCOPE_LINKER(V)                                                                       \
  int __nvJitLinkCreate_##V(Linker** linker, uint32_t, const char**) { return linker ? (*linker = new Linker, kSuccess) : kInvalidInput; } \
  int __nvJitLinkDestroy_##V(Linker** linker) { if (!linker) return kInvalidInput; delete *linker; *linker = nullptr; return kSuccess; } \
  int __nvJitLinkAddData_##V(Linker*, int, const void*, size_t, const char*) { return kSuccess; } \
  int __nvJitLinkAddFile_##V(Linker*, int, const char*) { return kSuccess; }                      \
  int __nvJitLinkComplete_##V(Linker*) { return kSuccess; }                                       \
  int __nvJitLinkGetLinkedCubinSize_##V(Linker*, size_t* bytes) { return Size(bytes, kImageBytes); } \
  int __nvJitLinkGetLinkedCubin_##V(Linker*, void* image) { return CopyImage(static_cast<char*>(image)); } \
  int __nvJitLinkGetLinkedPtxSize_##V(Linker*, size_t* bytes) { return Size(bytes, kImageBytes); } \
  int __nvJitLinkGetLinkedPtx_##V(Linker*, char* image) { return CopyImage(image); }              \
  int __nvJitLinkGetErrorLogSize_##V(Linker*, size_t* bytes) { return Size(bytes, 1); }           \
  int __nvJitLinkGetErrorLog_##V(Linker*, char* log) { return EmptyText(log); }                   \
  int __nvJitLinkGetInfoLogSize_##V(Linker*, size_t* bytes) { return Size(bytes, 1); }            \
  int __nvJitLinkGetInfoLog_##V(Linker*, char* log) { return EmptyText(log); }
#if VRAMSCOPE_EMULATED_MAJOR >= 13
VRAMSCOPE_LINKER(13_0)
#else
VRAMSCOPE_LINKER(12_0) VRAMSCOPE_LINKER(12_1) VRAMSCOPE_LINKER(12_2) VRAMSCOPE_LINKER(12_3) VRAMSCOPE_LINKER(12_4)
VRAMSCOPE_LINKER(12_5) VRAMSCOPE_LINKER(12_6) VRAMSCOPE_LINKER(12_7) VRAMSCOPE_LINKER(12_8) VRAMSCOPE_LINKER(12_9)
#endif

}  // extern "C"
#endif
