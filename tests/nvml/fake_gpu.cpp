#include <cstdint>
#include <cstdio>
#include <cstring>

#include "nvml/structs.h"
#include "tests/nvml/fake_card.h"

using vramscope::nvml::Memory, vramscope::nvml::Memory2, vramscope::nvml::Process;

namespace {
const FakeGpu& Of(void* handle) { return g_fake.gpus[reinterpret_cast<uintptr_t>(handle) - 1]; }
constexpr int kNotSupported = 3, kInsufficientSize = 7;
}  // namespace

extern "C" {

int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(g_fake.gpus.size());
  return 0;
}
int cuDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<size_t>(length), "0000:%02X:00.0", device + 1);
  return 0;
}
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0;
  *active = g_fake.gpus[static_cast<size_t>(device)].context;
  return 0;
}

int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** handle) {
  unsigned domain = 0, bus = 0;
  if (std::sscanf(text, "%x:%x", &domain, &bus) != 2) return 2;
  *handle = reinterpret_cast<void*>(static_cast<uintptr_t>(bus));
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* handle, Memory* memory) {
  ++g_fake.queries;
  const FakeGpu& gpu = Of(handle);
  *memory = {gpu.total, 0, gpu.used + gpu.reserved};
  return 0;
}
int nvmlDeviceGetMemoryInfo_v2(void* handle, Memory2* memory) {
  if (!g_fake.second_version || memory->version != (sizeof(Memory2) | 2u << 24))
    return kNotSupported;
  ++g_fake.queries;
  const FakeGpu& gpu = Of(handle);
  *memory = {memory->version, gpu.total, gpu.reserved, 0, gpu.used};
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, Process* processes) {
  if (g_fake.processes_error != 0) return g_fake.processes_error;
  const FakeGpu& gpu = Of(handle);
  const unsigned room = *count;
  *count = static_cast<unsigned>(gpu.processes.size());
  if (room < *count) return kInsufficientSize;
  for (unsigned i = 0; i < *count; ++i)
    processes[i] = {gpu.processes[i].pid, gpu.processes[i].used, 0, 0};
  return 0;
}

}  // extern "C"
