// libnvToolsExt: ranges and marks, of which nobody listens to. Depths and ids are what a program
// may read back.
#include <atomic>
#include <cstdint>

namespace {
thread_local int t_depth = 0;
std::atomic<uint64_t> g_ranges{0};
int g_domain = 0;  // every domain and string is this one
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
int nvtxRangePushA(const char*) { return t_depth++; }
int nvtxRangePushW(const wchar_t*) { return t_depth++; }
int nvtxRangePushEx(const void*) { return t_depth++; }
int nvtxRangePop() { return t_depth > 0 ? --t_depth : -2; }  // -2: none was pushed, as documented
void* nvtxDomainCreateA(const char*) { return &g_domain; }
void* nvtxDomainCreateW(const wchar_t*) { return &g_domain; }
void nvtxDomainDestroy(void*) {}
void* nvtxDomainRegisterStringA(void*, const char*) { return &g_domain; }
void* nvtxDomainRegisterStringW(void*, const wchar_t*) { return &g_domain; }
void nvtxDomainMarkEx(void*, const void*) {}
uint64_t nvtxDomainRangeStartEx(void*, const void*) { return ++g_ranges; }
void nvtxDomainRangeEnd(void*, uint64_t) {}
int nvtxDomainRangePushEx(void*, const void*) { return t_depth++; }
int nvtxDomainRangePop(void*) { return nvtxRangePop(); }
void nvtxNameOsThreadA(uint32_t, const char*) {}
void nvtxNameCudaDeviceA(int, const char*) {}
void nvtxNameCudaStreamA(void*, const char*) {}
void nvtxNameCudaEventA(void*, const char*) {}
void nvtxNameCuStreamA(void*, const char*) {}

}  // extern "C"
