#include "nvml/sampler.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>

namespace vramscope::nvml {
namespace {

constexpr int kInsufficientSize = 7;
constexpr unsigned kMostProcesses = 4096;
constexpr unsigned long long kNotAvailable = ~0ull;
constexpr int kMostDevices = 64;

template <class Function>
bool Load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::string Sampler::Open() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);  // never closed
  if (library == nullptr) return "libnvidia-ml.so.1 was not found";
  int (*initialize)() = nullptr;
  if (!Load(library, "nvmlInit_v2", initialize) ||
      !Load(library, "nvmlDeviceGetMemoryInfo", MemoryInfo_) ||
      !Load(library, "nvmlDeviceGetHandleByPciBusId_v2", HandleByBus_)) {
    MemoryInfo_ = nullptr;
    return "libnvidia-ml.so.1 lacks required functions";
  }
  Load(library, "nvmlDeviceGetMemoryInfo_v2", MemoryInfo2_);
  if (!Load(library, "nvmlDeviceGetComputeRunningProcesses_v3", Processes_))
    Load(library, "nvmlDeviceGetComputeRunningProcesses_v2", Processes_);
  if (const int error = initialize(); error != 0) {
    MemoryInfo_ = nullptr;
    return "NVML could not be initialized: error " + std::to_string(error);
  }
  return "";
}

bool Sampler::FindDriver() {
  if (ContextState_ != nullptr) return true;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return driver != nullptr && Load(driver, "cuDeviceGetCount", DeviceCount_) &&
         Load(driver, "cuDeviceGetPCIBusId", BusOf_) &&
         Load(driver, "cuDevicePrimaryCtxGetState", ContextState_);
}

void* Sampler::HandleOf(int device) {
  if (handles_.size() <= static_cast<size_t>(device))
    handles_.resize(static_cast<size_t>(device) + 1);
  void*& handle = handles_[static_cast<size_t>(device)];
  char bus[32] = {};
  if (handle == nullptr && BusOf_(bus, sizeof bus, device) == 0 && HandleByBus_(bus, &handle) != 0)
    handle = nullptr;
  return handle;
}

std::optional<uint64_t> Sampler::OfThisProcess(void* handle) const {
  if (Processes_ == nullptr) return std::nullopt;
  std::vector<Process> processes(16);
  int error = kInsufficientSize;
  unsigned count = 0;
  for (int i = 0; i < 3 && error == kInsufficientSize; ++i) {
    count = static_cast<unsigned>(processes.size());
    error = Processes_(handle, &count, processes.data());
    if (error == kInsufficientSize)
      processes.resize(std::clamp<size_t>(count + 8, processes.size(), kMostProcesses));
  }
  if (error != 0) return std::nullopt;
  processes.resize(std::min<size_t>(count, processes.size()));
  // This process has a context on the GPU, so a single entry must be this process, even if the
  // entry has another pid, as in a container.
  const auto ours = processes.size() == 1
                        ? processes.begin()
                        : std::find_if(processes.begin(), processes.end(), [](const Process& p) {
                            return p.pid == static_cast<unsigned>(getpid());
                          });
  if (ours == processes.end() || ours->used == kNotAvailable) return std::nullopt;
  return ours->used;
}

std::vector<GpuMemory> Sampler::Now() {
  std::vector<GpuMemory> gpus;
  int count = 0;
  if (MemoryInfo_ == nullptr || !FindDriver() || DeviceCount_(&count) != 0) return gpus;
  for (int device = 0; device < std::min(count, kMostDevices); ++device) {
    unsigned flags = 0;
    int active = 0;
    if (ContextState_(device, &flags, &active) != 0 || active == 0) continue;
    void* const handle = HandleOf(device);
    if (handle == nullptr) continue;
    GpuMemory gpu{.device = static_cast<uint8_t>(device)};
    Memory2 memory2 = {};
    memory2.version = sizeof memory2 | 2u << 24;
    Memory memory = {};
    if (MemoryInfo2_ != nullptr && MemoryInfo2_(handle, &memory2) == 0) {
      gpu.total = memory2.total;
      gpu.used = memory2.used;
      gpu.driver = memory2.reserved;
    } else if (MemoryInfo_(handle, &memory) == 0) {
      gpu.total = memory.total;
      gpu.used = memory.used;
    } else {
      continue;
    }
    gpu.process = OfThisProcess(handle);
    gpus.push_back(gpu);
  }
  return gpus;
}

}  // namespace vramscope::nvml
