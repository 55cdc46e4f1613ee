// Implements libnvToolsExt's ranges and marks. Programs can read back only depths and ids. As with
// the real library, the tool in NVTX_INJECTION64_PATH can replace functions, but here only the
// functions of pushed ranges.
#include <dlfcn.h>
#include <stdlib.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace {
thread_local int t_depth = 0;
std::atomic<uint64_t> g_ranges{0};
int g_domain = 0;  // represents all domains and all registered strings

int Push(const void*) { return t_depth++; }
int Pop() { return t_depth > 0 ? --t_depth : -2; }  // -2: none was pushed, as documented

using Function = void (*)();
constexpr unsigned kPushEx = 8, kPushA = 9, kPushW = 10, kPop = 11, kFunctions = 16;
constexpr uint32_t kCallbacks = 1, kCoreModule = 1;
Function g_functions[kFunctions] = {};
Function* g_table[kFunctions] = {};

int ModuleTable(uint32_t module, Function*** table, unsigned* size) {
  if (module != kCoreModule) return 0;
  *table = g_table;
  *size = kFunctions;
  return 1;
}
const struct {
  size_t bytes;
  int (*module_table)(uint32_t, Function***, unsigned*);
} kTable = {sizeof kTable, &ModuleTable};
const void* ExportTable(uint32_t id) { return id == kCallbacks ? &kTable : nullptr; }

// Returns the functions, some of which a tool may have replaced.
const Function* Functions() {
  static const bool once = [] {
    for (const unsigned push : {kPushEx, kPushA, kPushW})
      g_functions[push] = reinterpret_cast<Function>(&Push);
    g_functions[kPop] = reinterpret_cast<Function>(&Pop);
    for (unsigned i = 0; i < kFunctions; ++i) g_table[i] = &g_functions[i];
    const char* path = getenv("NVTX_INJECTION64_PATH");
    void* tool = path == nullptr || *path == 0 ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void* entry = tool == nullptr ? nullptr : dlsym(tool, "InitializeInjectionNvtx");
    if (entry != nullptr) reinterpret_cast<int (*)(const void* (*)(uint32_t))>(entry)(&ExportTable);
    return true;
  }();
  return once ? g_functions : nullptr;
}
int PushBy(unsigned form, const void* what) {
  return reinterpret_cast<int (*)(const void*)>(Functions()[form])(what);
}
}  // namespace

// clang-format off
extern "C" {

void nvtxInitialize(const void*) {}
void nvtxMarkA(const char*) {}
void nvtxMarkW(const wchar_t*) {}
void nvtxMarkEx(const void*) {}
uint64_t nvtxRangeStartA(const char*) { return ++g_ranges; }
uint64_t nvtxRangeStartW(const wchar_t*) { return ++g_ranges; }
uint64_t nvtxRangeStartEx(const void*) { return ++g_ranges; }
void nvtxRangeEnd(uint64_t) {}
int nvtxRangePushA(const char* name) { return PushBy(kPushA, name); }
int nvtxRangePushW(const wchar_t* name) { return PushBy(kPushW, name); }
int nvtxRangePushEx(const void* attributes) { return PushBy(kPushEx, attributes); }
int nvtxRangePop() { return reinterpret_cast<int (*)()>(Functions()[kPop])(); }
void* nvtxDomainCreateA(const char*) { return &g_domain; }
void* nvtxDomainCreateW(const wchar_t*) { return &g_domain; }
void nvtxDomainDestroy(void*) {}
void* nvtxDomainRegisterStringA(void*, const char*) { return &g_domain; }
void* nvtxDomainRegisterStringW(void*, const wchar_t*) { return &g_domain; }
void nvtxDomainMarkEx(void*, const void*) {}
uint64_t nvtxDomainRangeStartEx(void*, const void*) { return ++g_ranges; }
void nvtxDomainRangeEnd(void*, uint64_t) {}
int nvtxDomainRangePushEx(void*, const void*) { return t_depth++; }
int nvtxDomainRangePop(void*) { return Pop(); }
void nvtxNameOsThreadA(uint32_t, const char*) {}
void nvtxNameCudaDeviceA(int, const char*) {}
void nvtxNameCudaStreamA(void*, const char*) {}
void nvtxNameCudaEventA(void*, const char*) {}
void nvtxNameCuStreamA(void*, const char*) {}

}  // extern "C"
