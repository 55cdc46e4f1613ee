// Devices, versions and errors.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "emulated/core/attributes.h"
#include "emulated/libraries/program_version.h"
#include "emulated/runtime/status.h"

namespace vramscope::emulated::runtime {

thread_local Error last_error = 0;

namespace {

constexpr int kBusOfFirst = 0x10;

template <typename Properties>
Error FillProperties(Properties* p, int device) {
  Platform& platform = ThePlatform();
  if (p == nullptr) {
    return Done(Result::kInvalidValue);
  }
  if (device < 0 || device >= static_cast<int>(platform.gpus.size())) {
    return Done(Result::kInvalidDevice);
  }
  const Gpu& gpu = platform.gpus[device];
  const auto get = [&](Attribute attribute) { return AttributeOf(device, attribute); };
  std::memset(static_cast<void*>(p), 0, sizeof *p);
  std::snprintf(p->name, sizeof p->name, "%s", gpu.name.c_str());
  FillUuid(device, p->uuid);
  p->totalGlobalMem = gpu.memory_bytes;
  p->sharedMemPerBlock = get(Attribute::kSharedPerBlock);
  p->regsPerBlock = get(Attribute::kRegistersPerBlock);
  p->warpSize = get(Attribute::kWarpSize);
  p->memPitch = get(Attribute::kMaxPitch);
  p->maxThreadsPerBlock = get(Attribute::kThreadsPerBlock);
  p->maxThreadsDim[0] = get(Attribute::kBlockX);
  p->maxThreadsDim[1] = get(Attribute::kBlockY);
  p->maxThreadsDim[2] = get(Attribute::kBlockZ);
  p->maxGridSize[0] = get(Attribute::kGridX);
  p->maxGridSize[1] = get(Attribute::kGridY);
  p->maxGridSize[2] = get(Attribute::kGridZ);
  p->totalConstMem = get(Attribute::kConstantMemory);
  p->major = gpu.major();
  p->minor = gpu.minor();
  p->textureAlignment = get(Attribute::kTextureAlignment);
  p->texturePitchAlignment = get(Attribute::kTexturePitchAlignment);
  p->multiProcessorCount = gpu.sm_count;
  p->integrated = get(Attribute::kIntegrated);
  p->canMapHostMemory = get(Attribute::kCanMapHostMemory);
  p->maxTexture1D = get(Attribute::kTexture1DWidth);
  p->maxTexture2D[0] = get(Attribute::kTexture2DWidth);
  p->maxTexture2D[1] = get(Attribute::kTexture2DHeight);
  p->maxTexture3D[0] = p->maxTexture3D[1] = p->maxTexture3D[2] = get(Attribute::kTexture3DWidth);
  p->surfaceAlignment = get(Attribute::kSurfaceAlignment);
  p->concurrentKernels = get(Attribute::kConcurrentKernels);
  p->ECCEnabled = get(Attribute::kEccEnabled);
  p->pciBusID = get(Attribute::kPciBus);
  p->asyncEngineCount = get(Attribute::kAsyncEngines);
  p->unifiedAddressing = get(Attribute::kUnifiedAddressing);
  p->memoryBusWidth = get(Attribute::kBusWidth);
  p->l2CacheSize = get(Attribute::kL2Bytes);
  p->persistingL2CacheMaxSize = get(Attribute::kPersistingL2Bytes);
  p->maxThreadsPerMultiProcessor = gpu.max_threads_per_sm;
  p->streamPrioritiesSupported = get(Attribute::kStreamPriorities);
  p->globalL1CacheSupported = p->localL1CacheSupported = 1;
  p->sharedMemPerMultiprocessor = get(Attribute::kSharedPerMultiprocessor);
  p->regsPerMultiprocessor = get(Attribute::kRegistersPerMultiprocessor);
  p->managedMemory = get(Attribute::kManagedMemory);
  p->pageableMemoryAccess = get(Attribute::kPageableMemoryAccess);
  p->pageableMemoryAccessUsesHostPageTables = get(Attribute::kPageableUsesHostTables);
  p->concurrentManagedAccess = get(Attribute::kConcurrentManagedAccess);
  p->computePreemptionSupported = get(Attribute::kComputePreemption);
  p->canUseHostPointerForRegisteredMem = get(Attribute::kHostPointerForRegistered);
  p->cooperativeLaunch = get(Attribute::kCooperativeLaunch);
  p->sharedMemPerBlockOptin = get(Attribute::kSharedPerBlockOptIn);
  p->maxBlocksPerMultiProcessor = get(Attribute::kBlocksPerMultiprocessor);
  p->accessPolicyMaxWindowSize = get(Attribute::kAccessPolicyWindow);
  p->reservedSharedMemPerBlock = get(Attribute::kReservedSharedPerBlock);
  if constexpr (requires { p->clockRate; }) {
    p->clockRate = get(Attribute::kClockKhz);
    p->memoryClockRate = get(Attribute::kMemoryClockKhz);
    p->deviceOverlap = 1;
    p->singleToDoublePrecisionPerfRatio = get(Attribute::kSingleToDoubleRatio);
  }
  if constexpr (requires { p->clusterLaunch; }) {
    p->hostRegisterSupported = get(Attribute::kHostRegister);
    p->memoryPoolsSupported = get(Attribute::kMemoryPools);
    p->memoryPoolSupportedHandleTypes = get(Attribute::kMemoryPoolHandleTypes);
    p->clusterLaunch = get(Attribute::kClusterLaunch);
  }
  return Done(Result::kSuccess);
}

bool NoDevice() { return ThePlatform().gpus.empty(); }

}  // namespace
}  // namespace vramscope::emulated::runtime

using namespace vramscope::emulated;           // NOLINT: C functions follow
using namespace vramscope::emulated::runtime;  // NOLINT

extern "C" {

Error cudaGetDeviceCount(int* count) {
  if (count == nullptr) {
    return Done(Result::kInvalidValue);
  }
  *count = static_cast<int>(ThePlatform().gpus.size());
  return Done(NoDevice() ? Result::kNoDevice : Result::kSuccess);
}
Error cudaGetDevice(int* device) {
  *device = CurrentDevice();
  return Done(NoDevice() ? Result::kNoDevice : Result::kSuccess);
}
Error cudaSetDevice(int device) {
  const Result result = NoDevice() ? Result::kNoDevice : SetCurrentDevice(device);
#if VRAMSCOPE_CUDART >= 12
  if (result == Result::kSuccess) {  // since CUDA 12, this call also creates the context
    ThePlatform().MarkUsed(device);
  }
#endif
  return Done(result);
}
Error cudaInitDevice(int device, unsigned, unsigned) {
  return Done(device >= 0 && device < static_cast<int>(ThePlatform().gpus.size())
                  ? Result::kSuccess
                  : Result::kInvalidDevice);
}
Error cudaSetValidDevices(int*, int) { return Done(Result::kSuccess); }
Error cudaSetDeviceFlags(unsigned) { return Done(Result::kSuccess); }
Error cudaGetDeviceFlags(unsigned* flags) {
  *flags = 8;  // cudaDeviceMapHost
  return Done(Result::kSuccess);
}
Error cudaChooseDevice(int* device, const void*) {
  *device = 0;
  return Done(NoDevice() ? Result::kNoDevice : Result::kSuccess);
}

#if VRAMSCOPE_CUDART == 13
Error cudaGetDeviceProperties(DeviceProperties13* properties, int device) {
  return FillProperties(properties, device);
}
#else
Error cudaGetDeviceProperties(DeviceProperties11* properties, int device) {
  return FillProperties(properties, device);
}
#endif
#if VRAMSCOPE_CUDART == 12
Error cudaGetDeviceProperties_v2(DeviceProperties12* properties, int device) {
  return FillProperties(properties, device);
}
#endif

Error cudaDeviceGetAttribute(int* value, int attribute, int device) {
  if (value == nullptr) {
    return Done(Result::kInvalidValue);
  }
  if (device < 0 || device >= static_cast<int>(ThePlatform().gpus.size())) {
    return Done(Result::kInvalidDevice);
  }
  *value = AttributeOf(device, static_cast<Attribute>(attribute));
  return Done(Result::kSuccess);
}
Error cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (text == nullptr || length <= 0) {
    return Done(Result::kInvalidValue);
  }
  std::snprintf(text, length, "00000000:%02X:00.0", AttributeOf(device, Attribute::kPciBus));
  return Done(Result::kSuccess);
}
Error cudaDeviceGetByPCIBusId(int* device, const char* text) {
  unsigned domain = 0, bus = 0;
  if (text == nullptr || std::sscanf(text, "%x:%x", &domain, &bus) != 2) {
    return Done(Result::kInvalidValue);
  }
  *device = static_cast<int>(bus) - kBusOfFirst;
  return Done(*device >= 0 && *device < static_cast<int>(ThePlatform().gpus.size())
                  ? Result::kSuccess
                  : Result::kInvalidDevice);
}
Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) {
    *least = 0;
  }
  if (greatest != nullptr) {
    *greatest = -5;
  }
  return Done(Result::kSuccess);
}
Error cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = PeersOf(device, peer) != Peers::kNone;
  return Done(Result::kSuccess);
}
Error cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return Done(PeersOf(CurrentDevice(), peer) != Peers::kNone ? Result::kSuccess
                                                             : Result::kPeerAccessUnsupported);
}
Error cudaDeviceDisablePeerAccess(int) { return Done(Result::kSuccess); }
Error cudaDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  return Done(PeerAttributeOf(device, peer, attribute, value));
}
Error cudaDeviceGetLimit(size_t* value, int limit) {
  switch (limit) {
    case 0:  // stack size of a thread
      *value = 1024;
      break;
    case 1:  // printf buffer
      *value = size_t{1} << 20;
      break;
    case 2:  // malloc heap of kernels
      *value = size_t{8} << 20;
      break;
    default:
      *value = 0;
  }
  return Done(Result::kSuccess);
}
Error cudaDeviceSetLimit(int, size_t) { return Done(Result::kSuccess); }
Error cudaDeviceGetCacheConfig(int* configuration) {
  *configuration = 0;
  return Done(Result::kSuccess);
}
Error cudaDeviceSetCacheConfig(int) { return Done(Result::kSuccess); }
Error cudaDeviceGetSharedMemConfig(int* configuration) {
  *configuration = 1;
  return Done(Result::kSuccess);
}
Error cudaDeviceSetSharedMemConfig(int) { return Done(Result::kSuccess); }
Error cudaDeviceReset() {
  Assume("cudaDeviceReset does not free memory", "cudaDeviceReset", 0);
  return Done(Result::kSuccess);
}

Error cudaDriverGetVersion(int* version) {
  *version = DriverVersion();
  return Done(Result::kSuccess);
}
Error cudaRuntimeGetVersion(int* version) {
  *version = kVersion;
  return Done(Result::kSuccess);
}
Error cudaGetLastError() {
  const Error error = last_error;
  last_error = 0;
  return error;
}
Error cudaPeekAtLastError() { return last_error; }
const char* cudaGetErrorName(Error error) {
  const char* name = NameOf(static_cast<Result>(error));
  return name != nullptr ? name : "unrecognized error code";
}
const char* cudaGetErrorString(Error error) {
  const char* text = TextOf(static_cast<Result>(error));
  return text != nullptr ? text : "unrecognized error code";
}
// The platform does not provide these undocumented tables, which only NVIDIA's tools use.
Error cudaGetExportTable(const void** table, const Uuid*) {
  if (table != nullptr) {
    *table = nullptr;
  }
  return Done(Result::kNotSupported);
}

Error cudaProfilerStart() { return Done(Result::kSuccess); }
Error cudaProfilerStop() { return Done(Result::kSuccess); }

using EntryPoint = int (*)(const char*, void**, int, uint64_t, int*);

Error cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                       unsigned long long flags, int* answer) {
  static const auto get = reinterpret_cast<EntryPoint>(DriverFunction("cuGetProcAddress_v2"));
  if (name == nullptr || function == nullptr) {
    return Done(Result::kInvalidValue);
  }
  *function = nullptr;
  int status = 1;  // symbol not found
  if (get != nullptr) {
    get(name, function, static_cast<int>(version), flags, &status);
  }
  if (answer != nullptr) {
    *answer = status;
    return Done(Result::kSuccess);
  }
  return Done(*function != nullptr ? Result::kSuccess : Result::kNotFound);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaGetDriverEntryPointByVersion)
#if VRAMSCOPE_CUDART == 11
Error cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags) {
  return cudaGetDriverEntryPointByVersion(name, function, kVersion, flags, nullptr);
}
#else
Error cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                              int* answer) {
  return cudaGetDriverEntryPointByVersion(name, function, kVersion, flags, answer);
}
#endif
VRAMSCOPE_PER_THREAD_STREAM(cudaGetDriverEntryPoint)

}  // extern "C"
