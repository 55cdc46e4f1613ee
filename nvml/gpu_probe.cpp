#include "nvml/gpu_probe.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstddef>

namespace vramscope::nvml {
namespace {

// The functions of the CUDA driver API that are needed, with their documented signatures. CUresult
// and CUdevice are int, and CUcontext is a pointer.
struct Driver {
  int (*Init)(unsigned) = nullptr;
  int (*DriverGetVersion)(int*) = nullptr;
  int (*DeviceGetCount)(int*) = nullptr;
  int (*DeviceGet)(int*, int) = nullptr;
  int (*DeviceGetName)(char*, int, int) = nullptr;
  int (*DeviceTotalMem)(size_t*, int) = nullptr;
  int (*DeviceGetAttribute)(int*, int, int) = nullptr;
  int (*DevicePrimaryCtxRetain)(void**, int) = nullptr;
  int (*DevicePrimaryCtxRelease)(int) = nullptr;
  int (*CtxSetCurrent)(void*) = nullptr;
  int (*MemGetInfo)(size_t*, size_t*) = nullptr;
};

// Numbers of CUdevice_attribute, from the CUDA driver API reference.
constexpr int kMultiprocessorCount = 16;
constexpr int kMaxThreadsPerMultiprocessor = 39;
constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;

template <class Function>
bool Load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool LoadAll(void* library, Driver& d) {
  return Load(library, "cuInit", d.Init) &&
         Load(library, "cuDriverGetVersion", d.DriverGetVersion) &&
         Load(library, "cuDeviceGetCount", d.DeviceGetCount) &&
         Load(library, "cuDeviceGet", d.DeviceGet) &&
         Load(library, "cuDeviceGetName", d.DeviceGetName) &&
         Load(library, "cuDeviceTotalMem_v2", d.DeviceTotalMem) &&
         Load(library, "cuDeviceGetAttribute", d.DeviceGetAttribute) &&
         Load(library, "cuDevicePrimaryCtxRetain", d.DevicePrimaryCtxRetain) &&
         Load(library, "cuDevicePrimaryCtxRelease_v2", d.DevicePrimaryCtxRelease) &&
         Load(library, "cuCtxSetCurrent", d.CtxSetCurrent) &&
         Load(library, "cuMemGetInfo_v2", d.MemGetInfo);
}

// Returns the used memory of the GPU while this process has a context. The result is too large if
// other processes use memory of the GPU, too.
uint64_t ContextBytes(const Driver& driver, int device) {
  void* context = nullptr;
  if (driver.DevicePrimaryCtxRetain(&context, device) != 0) return 0;
  size_t free = 0, total = 0;
  const bool known = driver.CtxSetCurrent(context) == 0 && driver.MemGetInfo(&free, &total) == 0;
  driver.CtxSetCurrent(nullptr);
  driver.DevicePrimaryCtxRelease(device);
  return known ? total - free : 0;
}

}  // namespace

GpuProbe ProbeGpu(bool make_context) {
  GpuProbe probe;
  probe.device_node = access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // never closed, as CUDA requires
  if (library == nullptr) {
    probe.error = "the NVIDIA driver's libcuda.so.1 is not installed";
    return probe;
  }
  Driver driver;
  if (!LoadAll(library, driver)) {
    probe.error = "libcuda.so.1 lacks required functions; the driver is too old";
    return probe;
  }
  probe.library = true;
  if (const int code = driver.Init(0); code != 0) {
    probe.error = "cuInit failed with CUDA error " + std::to_string(code);
    return probe;
  }
  driver.DriverGetVersion(&probe.driver_version);
  int device = 0;
  if (driver.DeviceGetCount(&probe.device_count) != 0 || probe.device_count < 1 ||
      driver.DeviceGet(&device, 0) != 0) {
    probe.error = "the driver finds no GPU";
    return probe;
  }
  char name[256] = {};
  driver.DeviceGetName(name, sizeof name - 1, device);
  probe.name = name;
  size_t total = 0;
  driver.DeviceTotalMem(&total, device);
  probe.memory_bytes = total;
  const auto attribute = [&](int which) {
    int value = 0;
    driver.DeviceGetAttribute(&value, which, device);
    return static_cast<uint32_t>(value);
  };
  probe.sm_count = attribute(kMultiprocessorCount);
  probe.max_threads_per_sm = attribute(kMaxThreadsPerMultiprocessor);
  probe.compute_capability =
      attribute(kComputeCapabilityMajor) * 10 + attribute(kComputeCapabilityMinor);
  probe.initialised = true;
  if (make_context) probe.context_bytes = ContextBytes(driver, device);
  return probe;
}

}  // namespace vramscope::nvml
