// Implements a part of libnvidia-ml. It serves nvidia-smi, torch.cuda's device counts, and the line
// about processes in PyTorch's out-of-memory message. Every function returns 0 (success) or one of
// NVML's error numbers.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "emulated/core/attributes.h"
#include "emulated/core/platform.h"
#include "emulated/libraries/program_version.h"
#include "nvml/structs.h"

namespace vramscope::emulated::nvml {
namespace {

using ::vramscope::nvml::Memory, ::vramscope::nvml::Memory2, ::vramscope::nvml::Process,
    ::vramscope::nvml::Process1, ::vramscope::nvml::PciInformation, ::vramscope::nvml::Utilization,
    ::vramscope::nvml::FabricInformation, ::vramscope::nvml::FabricInformation2,
    ::vramscope::nvml::FabricInformation3;

constexpr int kInvalidArgument = 2, kNotSupported = 3, kNotFound = 6, kInsufficientSize = 7;
constexpr unsigned char kFabricCompleted = 3;

// A handle is the device's index plus one, so it is never null.
int DeviceOf(const void* handle) {
  const auto number = reinterpret_cast<uint64_t>(handle);
  return number >= 1 && number <= ThePlatform().gpus.size() ? static_cast<int>(number - 1) : -1;
}
const Gpu* GpuOf(const void* handle) {
  const int device = DeviceOf(handle);
  return device < 0 ? nullptr : &ThePlatform().gpus[device];
}

// Once a process has used the GPU, its memory includes its CUDA context.
unsigned long long UsedOf(int device) {
  Platform& platform = ThePlatform();
  const bool used = platform.IsUsed(device);
  return platform.memory.used(device) + (used ? platform.memory.context(device) : 0);
}

int CopyText(char* to, unsigned length, const char* text) {
  if (to == nullptr || std::strlen(text) + 1 > length) {
    return to == nullptr ? kInvalidArgument : kInsufficientSize;
  }
  std::strcpy(to, text);
  return 0;
}

void UuidText(int device, char (&text)[64]) {
  unsigned char uuid[16];
  FillUuid(device, uuid);
  std::snprintf(text, sizeof text,
                "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", uuid[0],
                uuid[1], uuid[2], uuid[3], uuid[4], uuid[5], uuid[6], uuid[7], uuid[8], uuid[9],
                uuid[10], uuid[11], uuid[12], uuid[13], uuid[14], uuid[15]);
}

template <typename AnyProcess>
int Processes(const void* handle, unsigned* count, AnyProcess* processes) {
  const int device = DeviceOf(handle);
  if (device < 0 || count == nullptr) {
    return kInvalidArgument;
  }
  std::vector<SharedGpus::Holder> holders = ThePlatform().processes.OtherProcesses(device);
  if (ThePlatform().IsUsed(device)) {
    holders.insert(holders.begin(), {getpid(), UsedOf(device)});
  }
  const size_t room = processes == nullptr ? 0 : *count;
  *count = static_cast<unsigned>(holders.size());
  if (room < holders.size()) {
    return kInsufficientSize;
  }
  for (const SharedGpus::Holder& holder : holders) {
    std::memset(static_cast<void*>(processes), 0, sizeof *processes);
    processes->pid = static_cast<unsigned>(holder.process);
    processes->used = holder.bytes;
    if constexpr (requires { processes->gpu_instance; }) {
      processes->gpu_instance = processes->compute_instance = ~0u;
    }
    ++processes;
  }
  return 0;
}

int ClockOf(const void* handle, int type, unsigned* mhz) {
  const Gpu* gpu = GpuOf(handle);
  if (gpu == nullptr || mhz == nullptr) {
    return kInvalidArgument;
  }
  constexpr int kMemory = 2;
  *mhz = type == kMemory ? AttributeOf(DeviceOf(handle), Attribute::kMemoryClockKhz) / 1000
                         : gpu->boost_mhz;
  return 0;
}

template <typename T>
int Give(const void* handle, T* to, T value) {
  if (DeviceOf(handle) < 0 || to == nullptr) {
    return kInvalidArgument;
  }
  *to = value;
  return 0;
}

}  // namespace
}  // namespace vramscope::emulated::nvml

using namespace vramscope::emulated;        // NOLINT: C functions follow
using namespace vramscope::emulated::nvml;  // NOLINT

#define VRAMSCOPE_ALSO(other, name) decltype(name) other __attribute__((alias(#name)));

extern "C" {

int nvmlInit_v2() { return 0; }
VRAMSCOPE_ALSO(nvmlInit, nvmlInit_v2)
int nvmlInitWithFlags(unsigned) { return 0; }
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int error) {
  switch (error) {
    case 0:
      return "Success";
    case kInvalidArgument:
      return "Invalid Argument";
    case kNotSupported:
      return "Not Supported";
    case kNotFound:
      return "Not Found";
    case kInsufficientSize:
      return "Insufficient Size";
    default:
      return "Unknown Error";
  }
}
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return CopyText(text, length, "580.65.06");  // the first driver of CUDA 13.0
}
int nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  return CopyText(text, length, "13.580.65.06");
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = DriverVersion();
  return 0;
}
VRAMSCOPE_ALSO(nvmlSystemGetCudaDriverVersion, nvmlSystemGetCudaDriverVersion_v2)
int nvmlSystemGetProcessName(unsigned, char* text, unsigned length) {
  return CopyText(text, length, "vramscope");
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(ThePlatform().gpus.size());
  return 0;
}
VRAMSCOPE_ALSO(nvmlDeviceGetCount, nvmlDeviceGetCount_v2)
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  *handle = reinterpret_cast<void*>(uint64_t{index} + 1);
  return GpuOf(*handle) == nullptr ? kInvalidArgument : 0;
}
VRAMSCOPE_ALSO(nvmlDeviceGetHandleByIndex, nvmlDeviceGetHandleByIndex_v2)
int nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** handle) {
  unsigned domain = 0, bus = 0;
  if (text == nullptr || std::sscanf(text, "%x:%x", &domain, &bus) != 2) {
    return kInvalidArgument;
  }
  const int first = AttributeOf(0, Attribute::kPciBus);
  *handle = reinterpret_cast<void*>(uint64_t{bus} - first + 1);
  return GpuOf(*handle) == nullptr ? kNotFound : 0;
}
VRAMSCOPE_ALSO(nvmlDeviceGetHandleByPciBusId, nvmlDeviceGetHandleByPciBusId_v2)
int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  for (unsigned i = 0; i < ThePlatform().gpus.size(); ++i) {
    char text[64];
    UuidText(static_cast<int>(i), text);
    if (uuid != nullptr && std::strcmp(text, uuid) == 0) {
      return nvmlDeviceGetHandleByIndex_v2(i, handle);
    }
  }
  return kNotFound;
}
int nvmlDeviceGetIndex(void* handle, unsigned* index) {
  return Give(handle, index, static_cast<unsigned>(DeviceOf(handle)));
}
int nvmlDeviceGetMinorNumber(void* handle, unsigned* number) {
  return Give(handle, number, static_cast<unsigned>(DeviceOf(handle)));
}
int nvmlDeviceGetName(void* handle, char* text, unsigned length) {
  const Gpu* gpu = GpuOf(handle);
  return gpu == nullptr ? kInvalidArgument : CopyText(text, length, gpu->name.c_str());
}
int nvmlDeviceGetUUID(void* handle, char* text, unsigned length) {
  if (GpuOf(handle) == nullptr) {
    return kInvalidArgument;
  }
  char uuid[64];
  UuidText(DeviceOf(handle), uuid);
  return CopyText(text, length, uuid);
}
int nvmlDeviceGetPciInfo_v3(void* handle, PciInformation* information) {
  const int device = DeviceOf(handle);
  if (device < 0 || information == nullptr) {
    return kInvalidArgument;
  }
  std::memset(information, 0, sizeof *information);
  information->bus = AttributeOf(device, Attribute::kPciBus);
  std::snprintf(information->bus_id_legacy, sizeof information->bus_id_legacy, "0000:%02X:00.0",
                information->bus);
  std::snprintf(information->bus_id, sizeof information->bus_id, "00000000:%02X:00.0",
                information->bus);
  return 0;
}
VRAMSCOPE_ALSO(nvmlDeviceGetPciInfo_v2, nvmlDeviceGetPciInfo_v3)
VRAMSCOPE_ALSO(nvmlDeviceGetPciInfo, nvmlDeviceGetPciInfo_v3)
int nvmlDeviceGetCudaComputeCapability(void* handle, int* major, int* minor) {
  const Gpu* gpu = GpuOf(handle);
  if (gpu == nullptr) {
    return kInvalidArgument;
  }
  *major = gpu->major();
  *minor = gpu->minor();
  return 0;
}

int nvmlDeviceGetMemoryInfo(void* handle, nvml::Memory* memory) {
  const Gpu* gpu = GpuOf(handle);
  if (gpu == nullptr || memory == nullptr) {
    return kInvalidArgument;
  }
  // nvidia-smi shows "[N/A]" for GPUs without memory of their own (NVIDIA's known issues of the DGX
  // Spark).
  if (gpu->integrated) {
    return kNotSupported;
  }
  memory->total = gpu->memory_bytes;
  const int device = DeviceOf(handle);
  memory->used =
      UsedOf(device) + ThePlatform().memory.used_by_other_processes(device) + gpu->idle_bytes;
  memory->free = memory->total - std::min(memory->used, memory->total);
  return 0;
}
int nvmlDeviceGetMemoryInfo_v2(void* handle, Memory2* memory) {
  nvml::Memory first;
  if (const int error = nvmlDeviceGetMemoryInfo(handle, &first); error != 0 || memory == nullptr) {
    return error != 0 ? error : kInvalidArgument;
  }
  memory->total = first.total;
  memory->reserved = 0;
  memory->free = first.free;
  memory->used = first.used;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* handle, Utilization* utilization) {
  return Give(handle, utilization, Utilization{0, 0});
}
int nvmlDeviceGetTemperature(void* handle, int, unsigned* celsius) {
  return Give(handle, celsius, 40u);
}
int nvmlDeviceGetFanSpeed(void*, unsigned*) { return kNotSupported; }
int nvmlDeviceGetPowerUsage(void* handle, unsigned* milliwatts) {
  return Give(handle, milliwatts, 0u);
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned*) { return kNotSupported; }
int nvmlDeviceGetPowerManagementLimit(void*, unsigned*) { return kNotSupported; }
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long*) { return kNotSupported; }
int nvmlDeviceGetPerformanceState(void* handle, int* state) { return Give(handle, state, 0); }
int nvmlDeviceGetPersistenceMode(void* handle, int* mode) { return Give(handle, mode, 1); }
int nvmlDeviceGetDisplayActive(void* handle, int* active) { return Give(handle, active, 0); }
int nvmlDeviceGetDisplayMode(void* handle, int* mode) { return Give(handle, mode, 0); }
int nvmlDeviceGetComputeMode(void* handle, int* mode) { return Give(handle, mode, 0); }
int nvmlDeviceGetMigMode(void*, unsigned*, unsigned*) { return kNotSupported; }
int nvmlDeviceGetEccMode(void*, int*, int*) { return kNotSupported; }
int nvmlDeviceGetClockInfo(void* handle, int type, unsigned* mhz) {
  return ClockOf(handle, type, mhz);
}
int nvmlDeviceGetMaxClockInfo(void* handle, int type, unsigned* mhz) {
  return ClockOf(handle, type, mhz);
}
int nvmlDeviceGetMemoryBusWidth(void* handle, unsigned* bits) {
  const Gpu* gpu = GpuOf(handle);
  return gpu == nullptr ? kInvalidArgument
                        : Give(handle, bits, static_cast<unsigned>(gpu->bus_bits));
}

int nvmlDeviceGetComputeRunningProcesses(void* handle, unsigned* count, Process1* processes) {
  return Processes(handle, count, processes);
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, Process* processes) {
  return Processes(handle, count, processes);
}
VRAMSCOPE_ALSO(nvmlDeviceGetComputeRunningProcesses_v2, nvmlDeviceGetComputeRunningProcesses_v3)
int nvmlDeviceGetGraphicsRunningProcesses_v3(void*, unsigned* count, Process*) {
  *count = 0;
  return 0;
}
VRAMSCOPE_ALSO(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlDeviceGetGraphicsRunningProcesses_v3)
VRAMSCOPE_ALSO(nvmlDeviceGetGraphicsRunningProcesses, nvmlDeviceGetGraphicsRunningProcesses_v3)

// Reports no links between GPUs.
int nvmlDeviceGetNvLinkState(void*, unsigned, int*) { return kNotSupported; }
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*) { return kNotSupported; }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, PciInformation*) { return kNotSupported; }
int nvmlDeviceGetNvLinkCapability(void*, unsigned, int, unsigned*) { return kNotSupported; }
// GPUs since Hopper are registered with the NVSwitch fabric of their board. Other GPUs have no
// fabric.
int nvmlDeviceGetGpuFabricInfo(void* handle, FabricInformation* information) {
  const Gpu* gpu = GpuOf(handle);
  if (gpu == nullptr || information == nullptr) {
    return kInvalidArgument;
  }
  if (gpu->peers != Peers::kNvlink || gpu->major() < 9) {
    return kNotSupported;
  }
  std::memset(information, 0, sizeof *information);
  information->state = kFabricCompleted;
  return 0;
}
int nvmlDeviceGetGpuFabricInfoV(void* handle, FabricInformation2* information) {
  constexpr int kVersionMismatch = 25;
  if (information == nullptr) {
    return kInvalidArgument;
  }
  const unsigned version = information->version;
  if (version != FabricInformation2::kVersion && version != FabricInformation3::kVersion) {
    return kVersionMismatch;
  }
  FabricInformation first;
  if (const int error = nvmlDeviceGetGpuFabricInfo(handle, &first); error != 0) {
    return error;
  }
  std::memset(information, 0,
              version == FabricInformation3::kVersion ? sizeof(FabricInformation3)
                                                      : sizeof(FabricInformation2));
  information->version = version;
  information->state = first.state;
  return 0;
}
int nvmlDeviceGetP2PStatus(void* handle, void* peer, int index, int* status) {
  constexpr int kNvlink = 2, kAtomics = 3;
  constexpr int kOk = 0, kGpuNotSupported = 2, kStatusNotSupported = 5;
  if (GpuOf(handle) == nullptr || GpuOf(peer) == nullptr || status == nullptr) {
    return kInvalidArgument;
  }
  const Peers peers = PeersOf(DeviceOf(handle), DeviceOf(peer));
  *status = peers == Peers::kNone                                              ? kGpuNotSupported
            : peers == Peers::kPcie && (index == kNvlink || index == kAtomics) ? kStatusNotSupported
                                                                               : kOk;
  return 0;
}
int nvmlDeviceGetTopologyCommonAncestor(void*, void*, int* level) {
  *level = 30;  // NVML_TOPOLOGY_HOSTBRIDGE
  return 0;
}
int nvmlDeviceGetCpuAffinity(void*, unsigned, unsigned long*) { return kNotSupported; }
int nvmlDeviceSetCpuAffinity(void*) { return kNotSupported; }

}  // extern "C"
