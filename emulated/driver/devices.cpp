// Implements devices, contexts, versions and errors. Each device has only its primary context, so a
// context is the same as its device.
#include <cstdio>
#include <cstring>
#include <vector>

#include "emulated/core/attributes.h"
#include "emulated/driver/types.h"
#include "emulated/libraries/program_version.h"

namespace vramscope::emulated::driver {
namespace {

constexpr uint64_t kFirstContext = uint64_t{0x0e6000000000};
constexpr uint64_t kApart = 0x100;

void* ContextOf(int device) { return reinterpret_cast<void*>(kFirstContext + device * kApart); }
int DeviceOfContext(void* context) {
  const uint64_t at = reinterpret_cast<uint64_t>(context);
  const int device = static_cast<int>((at - kFirstContext) / kApart);
  return at >= kFirstContext && KnownDevice(device) ? device : -1;
}

thread_local std::vector<int> pushed;  // stack of devices below the current one

}  // namespace
}  // namespace vramscope::emulated::driver

using namespace vramscope::emulated;          // NOLINT: C functions follow
using namespace vramscope::emulated::driver;  // NOLINT

extern "C" {

Status cuInit(unsigned) {
  return Done(ThePlatform().gpus.empty() ? Result::kNoDevice : Result::kSuccess);
}
Status cuDriverGetVersion(int* version) {
  *version = DriverVersion();
  return 0;
}
Status cuGetErrorName(Status status, const char** name) {
  *name = NameOf(static_cast<Result>(status));
  return Done(*name != nullptr ? Result::kSuccess : Result::kInvalidValue);
}
Status cuGetErrorString(Status status, const char** text) {
  *text = TextOf(static_cast<Result>(status));
  return Done(*text != nullptr ? Result::kSuccess : Result::kInvalidValue);
}
// The platform does not provide these undocumented tables, which only NVIDIA's libraries use.
Status cuGetExportTable(const void** table, const void*) {
  *table = nullptr;
  return Done(Result::kNotSupported);
}

Status cuDeviceGetCount(int* count) {
  *count = static_cast<int>(ThePlatform().gpus.size());
  return 0;
}
Status cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return Done(KnownDevice(ordinal) ? Result::kSuccess : Result::kInvalidDevice);
}
Status cuDeviceGetName(char* name, int length, int device) {
  if (!KnownDevice(device) || name == nullptr || length <= 0) {
    return Done(Result::kInvalidDevice);
  }
  std::snprintf(name, length, "%s", ThePlatform().gpus[device].name.c_str());
  return 0;
}
Status cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  FillUuid(device, uuid);
  return Done(KnownDevice(device) ? Result::kSuccess : Result::kInvalidDevice);
}
VRAMSCOPE_ALSO(cuDeviceGetUuid, cuDeviceGetUuid_v2)
Status cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = ThePlatform().memory.total(device);
  return Done(KnownDevice(device) ? Result::kSuccess : Result::kInvalidDevice);
}
VRAMSCOPE_ALSO(cuDeviceTotalMem, cuDeviceTotalMem_v2)
Status cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (!KnownDevice(device)) {
    return Done(Result::kInvalidDevice);
  }
  *value = AttributeOf(device, static_cast<Attribute>(attribute));
  return 0;
}
Status cuDeviceComputeCapability(int* major, int* minor, int device) {
  if (!KnownDevice(device)) {
    return Done(Result::kInvalidDevice);
  }
  *major = ThePlatform().gpus[device].major();
  *minor = ThePlatform().gpus[device].minor();
  return 0;
}
Status cuDeviceGetPCIBusId(char* text, int length, int device) {
  if (!KnownDevice(device) || length <= 0) {
    return Done(Result::kInvalidDevice);
  }
  std::snprintf(text, length, "00000000:%02X:00.0", AttributeOf(device, Attribute::kPciBus));
  return 0;
}
Status cuDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = PeersOf(device, peer) != Peers::kNone;
  return 0;
}
Status cuDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  return Done(PeerAttributeOf(device, peer, attribute, value));
}
Status cuCtxEnablePeerAccess(void* context, unsigned) {
  return Done(PeersOf(CurrentDevice(), DeviceOfContext(context)) != Peers::kNone
                  ? Result::kSuccess
                  : Result::kPeerAccessUnsupported);
}
Status cuCtxDisablePeerAccess(void*) { return 0; }

Status cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0;
  *active = ThePlatform().IsUsed(device);
  return Done(KnownDevice(device) ? Result::kSuccess : Result::kInvalidDevice);
}
Status cuDevicePrimaryCtxRetain(void** context, int device) {
  if (!KnownDevice(device)) {
    return Done(Result::kInvalidDevice);
  }
  ThePlatform().MarkUsed(device);
  *context = ContextOf(device);
  return 0;
}
Status cuDevicePrimaryCtxRelease_v2(int) { return 0; }
VRAMSCOPE_ALSO(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2)
Status cuDevicePrimaryCtxReset_v2(int) { return 0; }
VRAMSCOPE_ALSO(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2)
Status cuDevicePrimaryCtxSetFlags_v2(int, unsigned) { return 0; }
VRAMSCOPE_ALSO(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2)

Status cuCtxCreate_v2(void** context, unsigned, int device) {
  if (!KnownDevice(device)) {
    return Done(Result::kInvalidDevice);
  }
  pushed.push_back(CurrentDevice());
  SetCurrentDevice(device);
  ThePlatform().MarkUsed(device);
  *context = ContextOf(device);
  return 0;
}
VRAMSCOPE_ALSO(cuCtxCreate, cuCtxCreate_v2)
Status cuCtxCreate_v4(void** context, const void*, unsigned flags, int device) {
  return cuCtxCreate_v2(context, flags, device);
}
Status cuCtxDestroy_v2(void*) { return 0; }
VRAMSCOPE_ALSO(cuCtxDestroy, cuCtxDestroy_v2)
Status cuCtxGetCurrent(void** context) {
  const int device = CurrentDevice();
  *context = ThePlatform().IsUsed(device) ? ContextOf(device) : nullptr;
  return 0;
}
Status cuCtxSetCurrent(void* context) {
  if (context == nullptr) {
    return 0;
  }
  return Done(SetCurrentDevice(DeviceOfContext(context)) == Result::kSuccess
                  ? Result::kSuccess
                  : Result::kInvalidContext);
}
Status cuCtxPushCurrent_v2(void* context) {
  const int before = CurrentDevice();
  const Status status = cuCtxSetCurrent(context);
  if (status == 0) {
    pushed.push_back(before);
  }
  return status;
}
VRAMSCOPE_ALSO(cuCtxPushCurrent, cuCtxPushCurrent_v2)
Status cuCtxPopCurrent_v2(void** context) {
  if (context != nullptr) {
    *context = ContextOf(CurrentDevice());
  }
  if (!pushed.empty()) {
    SetCurrentDevice(pushed.back());
    pushed.pop_back();
  }
  return 0;
}
VRAMSCOPE_ALSO(cuCtxPopCurrent, cuCtxPopCurrent_v2)
Status cuCtxGetDevice(int* device) {
  *device = CurrentDevice();
  return Done(ThePlatform().gpus.empty() ? Result::kInvalidContext : Result::kSuccess);
}
Status cuCtxGetDevice_v2(int* device, void* context) {
  *device = context == nullptr ? CurrentDevice() : DeviceOfContext(context);
  return Done(*device >= 0 ? Result::kSuccess : Result::kInvalidContext);
}
Status cuCtxGetId(void* context, unsigned long long* id) {
  *id = context == nullptr ? CurrentDevice() + 1 : DeviceOfContext(context) + 1;
  return 0;
}
Status cuCtxGetApiVersion(void*, unsigned* version) {
  *version = DriverVersion();
  return 0;
}
Status cuCtxGetFlags(unsigned* flags) {
  *flags = 0;
  return 0;
}
Status cuCtxGetLimit(size_t* value, int) {
  *value = 1024;
  return 0;
}
Status cuCtxSetLimit(int, size_t) { return 0; }
Status cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) {
    *least = 0;
  }
  if (greatest != nullptr) {
    *greatest = -5;
  }
  return 0;
}
Status cuCtxSynchronize() { return Done(ThePlatform().streams.SynchronizeDevice(CurrentDevice())); }
Status cuCtxSynchronize_v2(void* context) {
  return Done(ThePlatform().streams.SynchronizeDevice(
      context == nullptr ? CurrentDevice() : DeviceOfContext(context)));
}
Status cuProfilerStart() { return 0; }
Status cuProfilerStop() { return 0; }
// The driver's log (CUDA 13) stays empty, so registered callbacks are never called.
Status cuLogsRegisterCallback(void* callback, void*, void** handle) {
  if (callback == nullptr || handle == nullptr) {
    return Done(Result::kInvalidValue);
  }
  *handle = callback;
  return 0;
}
Status cuLogsUnregisterCallback(void* handle) {
  return Done(handle == nullptr ? Result::kInvalidValue : Result::kSuccess);
}
Status cuLogsCurrent(unsigned* iterator, unsigned) {
  if (iterator == nullptr) {
    return Done(Result::kInvalidValue);
  }
  *iterator = 0;
  return 0;
}
Status cuLogsDumpToMemory(unsigned*, char* buffer, size_t* size, unsigned) {
  if (buffer == nullptr || size == nullptr) {
    return Done(Result::kInvalidValue);
  }
  if (*size > 0) {
    buffer[0] = 0;
  }
  *size = 0;
  return 0;
}

}  // extern "C"
