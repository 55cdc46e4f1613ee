// Implements memory of GPUs and of the host, pools, peers, and IPC.
#include <cstring>

#include "emulated/core/attributes.h"
#include "emulated/core/ipc.h"
#include "emulated/core/recorder.h"
#include "emulated/runtime/status.h"

namespace vramscope::emulated::runtime {
namespace {

// Makes the first checks of a call that CUDA refuses during a stream capture.
Result Begin() {
  Platform& platform = ThePlatform();
  if (platform.gpus.empty()) {
    return Result::kNoDevice;
  }
  platform.MarkUsed(CurrentDevice());
  return platform.streams.Permitted();
}

// The first call that needs a context creates it, and thereby loads the library that records.
void UseDevice() {
  Platform& platform = ThePlatform();
  if (!platform.gpus.empty()) {
    platform.MarkUsed(CurrentDevice());
  }
}

int64_t Now() { return ThePlatform().clock.now(); }

// Reports a call that started at `begin`. If `bytes` is 0, the recorder uses the allocation's
// size.
void Tell(Call call, Place place, const void* address, uint64_t bytes, int64_t begin) {
  if (Recorder* recorder = TheRecorder()) {
    recorder->OnMemory(
        {.call = call,
         .allocated = call != Call::kFree && call != Call::kFreeHost && call != Call::kFreeAsync,
         .place = place,
         .address = reinterpret_cast<uint64_t>(address),
         .bytes = bytes,
         .device = CurrentDevice(),
         .begin_ns = begin,
         .end_ns = Now()});
  }
}

Result AllocateHere(void** address, size_t bytes) {
  if (address == nullptr) {
    return Result::kInvalidValue;
  }
  *address = nullptr;
  if (const Result result = Begin(); result != Result::kSuccess) {
    return result;
  }
  Platform& platform = ThePlatform();
  const int64_t begin = Now();
  const Result result = platform.memory.Allocate(CurrentDevice(), bytes, address);
  platform.clock.Submit(Clock::kAllocateNs);
  if (result == Result::kSuccess) {
    Tell(Call::kMalloc, Place::kDevice, *address, bytes, begin);
  }
  return result;
}

Result FreeHere(void* address) {
  if (address == nullptr) {
    return Result::kSuccess;
  }
  if (const Result result = Begin(); result != Result::kSuccess) {
    return result;
  }
  Platform& platform = ThePlatform();
  const PointerFacts facts = platform.memory.Find(address);
  const int64_t begin = Now();
  platform.streams.SynchronizeDevice(facts.device >= 0 ? facts.device : CurrentDevice());
  if (platform.pools.Free(address)) {
    Tell(Call::kFree, Place::kDevice, address, 0, begin);
    return Result::kSuccess;
  }
  const Result result = platform.memory.Free(address);
  if (result == Result::kSuccess) {
    Tell(Call::kFree, facts.kind == MemoryKind::kManaged ? Place::kManaged : Place::kDevice,
         address, facts.bytes, begin);
  }
  return result;
}

constexpr size_t kPitch = 512;

}  // namespace
}  // namespace vramscope::emulated::runtime

using namespace vramscope::emulated;           // NOLINT: C functions follow
using namespace vramscope::emulated::runtime;  // NOLINT

extern "C" {

Error cudaMalloc(void** address, size_t bytes) { return Done(AllocateHere(address, bytes)); }
Error cudaFree(void* address) { return Done(FreeHere(address)); }
Error cudaMallocPitch(void** address, size_t* pitch, size_t width, size_t height) {
  if (pitch == nullptr || (height != 0 && width > (size_t{1} << 46) / height)) {
    return Done(Result::kInvalidValue);
  }
  *pitch = RoundUp(width, kPitch);
  return Done(AllocateHere(address, *pitch * height));
}
Error cudaMalloc3D(PitchedPointer* pointer, Extent extent) {
  if (pointer == nullptr ||
      (extent.height != 0 && extent.width > (size_t{1} << 46) / extent.height)) {
    return Done(Result::kInvalidValue);
  }
  const size_t pitch = RoundUp(extent.width, kPitch);
  if (extent.depth != 0 && pitch * extent.height > (size_t{1} << 46) / extent.depth) {
    return Done(Result::kOutOfMemory);
  }
  *pointer = {nullptr, pitch, extent.width, extent.height};
  return Done(AllocateHere(&pointer->ptr, pitch * extent.height * extent.depth));
}
Error cudaMallocManaged(void** address, size_t bytes, unsigned) {
  if (address == nullptr || bytes == 0) {
    return Done(Result::kInvalidValue);
  }
  if (const Result result = Begin(); result != Result::kSuccess) {
    return Done(result);
  }
  Assume("managed memory is allocated in host memory and is not counted as GPU memory",
         "cudaMallocManaged", bytes);
  const Result result = ThePlatform().memory.AllocateManaged(bytes, address);
  if (result == Result::kSuccess) {
    Tell(Call::kMallocManaged, Place::kManaged, *address, bytes, Now());
  }
  return Done(result);
}
Error cudaMemGetInfo(size_t* free, size_t* total) {
  if (const Result result = Begin(); result == Result::kNoDevice) {
    return Done(result);
  }
  if (free != nullptr) {
    *free = ThePlatform().memory.free(CurrentDevice());
  }
  if (total != nullptr) {
    *total = ThePlatform().memory.total(CurrentDevice());
  }
  return Done(Result::kSuccess);
}

Error cudaHostAlloc(void** address, size_t bytes, unsigned) {
  if (address == nullptr) {
    return Done(Result::kInvalidValue);
  }
  UseDevice();
  const Result result = ThePlatform().memory.AllocateHost(bytes, address);
  if (result == Result::kSuccess) {
    Tell(Call::kHostAlloc, Place::kPinned, *address, bytes, Now());
  }
  return Done(result);
}
Error cudaMallocHost(void** address, size_t bytes) { return cudaHostAlloc(address, bytes, 0); }
Error cudaFreeHost(void* address) {
  const Result result = ThePlatform().memory.FreeHost(address);
  if (result == Result::kSuccess && address != nullptr) {
    Tell(Call::kFreeHost, Place::kPinned, address, 0, Now());
  }
  return Done(result);
}
Error cudaHostRegister(void* address, size_t bytes, unsigned) {
  UseDevice();
  return Done(ThePlatform().memory.RegisterHost(address, bytes));
}
Error cudaHostUnregister(void* address) {
  return Done(ThePlatform().memory.UnregisterHost(address));
}
Error cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return Done(Result::kSuccess);
}
Error cudaHostGetFlags(unsigned* flags, void*) {
  *flags = 0;
  return Done(Result::kSuccess);
}

Error cudaPointerGetAttributes(PointerAttributes* attributes, const void* address) {
  if (attributes == nullptr) {
    return Done(Result::kInvalidValue);
  }
  std::memset(static_cast<void*>(attributes), 0, sizeof *attributes);
  const PointerFacts facts = ThePlatform().memory.Find(address);
  void* pointer = const_cast<void*>(address);
  switch (facts.kind) {
    case MemoryKind::kUnregistered:
      attributes->device = -2;  // cudaInvalidDeviceId
      attributes->hostPointer = pointer;
      break;
    case MemoryKind::kHost:
      attributes->type = 1;
      attributes->device = CurrentDevice();
      attributes->devicePointer = attributes->hostPointer = pointer;
      break;
    case MemoryKind::kDevice:
      attributes->type = 2;
      attributes->device = facts.device;
      attributes->devicePointer = pointer;
      break;
    case MemoryKind::kManaged:
      attributes->type = 3;
      attributes->device = CurrentDevice();
      attributes->devicePointer = attributes->hostPointer = pointer;
      break;
  }
  return Done(Result::kSuccess);
}

Error cudaMemAdvise(const void*, size_t) { return Done(Result::kSuccess); }
Error cudaMemPrefetchAsync(const void*, size_t) { return Done(Result::kSuccess); }

// ---- stream-ordered allocation
Error cudaMallocFromPoolAsync(void** address, size_t bytes, void* pool, void* stream) {
  StreamFacts facts;
  Platform& platform = ThePlatform();
  if (const Result result = platform.streams.FactsOf(stream, &facts); result != Result::kSuccess) {
    return Done(result);
  }
  CaptureFacts capture;
  platform.streams.CaptureOf(stream, &capture);
  if (capture.capturing) {
    Assume(
        "allocations in a CUDA graph are made when the graph is captured, not when it is launched",
        "cudaMallocAsync", bytes);
  }
  const int64_t begin = Now();
  const Result result = platform.pools.Allocate(pool, bytes, address);
  platform.clock.Submit();
  if (result == Result::kSuccess) {
    Tell(Call::kMallocAsync, Place::kDevice, *address, bytes, begin);
  }
  return Done(result);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaMallocFromPoolAsync)
Error cudaMallocAsync(void** address, size_t bytes, void* stream) {
  StreamFacts facts;
  if (const Result result = ThePlatform().streams.FactsOf(stream, &facts);
      result != Result::kSuccess) {
    return Done(result);
  }
  return cudaMallocFromPoolAsync(address, bytes, ThePlatform().pools.Current(facts.device), stream);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaMallocAsync)
Error cudaFreeAsync(void* address, void* stream) {
  StreamFacts facts;
  Platform& platform = ThePlatform();
  if (const Result result = platform.streams.FactsOf(stream, &facts); result != Result::kSuccess) {
    return Done(result);
  }
  if (address == nullptr) {
    return Done(Result::kSuccess);
  }
  const int64_t begin = Now();
  platform.clock.Submit();
  if (!platform.pools.Free(address)) {
    return Done(platform.memory.Free(address));
  }
  Tell(Call::kFreeAsync, Place::kDevice, address, 0, begin);
  return Done(Result::kSuccess);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaFreeAsync)

Error cudaDeviceGetDefaultMemPool(void** pool, int device) {
  *pool = ThePlatform().pools.Default(device);
  return Done(*pool != nullptr ? Result::kSuccess : Result::kInvalidDevice);
}
Error cudaDeviceGetMemPool(void** pool, int device) {
  *pool = ThePlatform().pools.Current(device);
  return Done(*pool != nullptr ? Result::kSuccess : Result::kInvalidDevice);
}
Error cudaDeviceSetMemPool(int device, void* pool) {
  return Done(ThePlatform().pools.SetCurrent(device, pool));
}
Error cudaMemPoolCreate(void** pool, const PoolProperties* properties) {
  if (pool == nullptr || properties == nullptr || properties->location.id < 0 ||
      properties->location.id >= static_cast<int>(ThePlatform().gpus.size())) {
    return Done(Result::kInvalidValue);
  }
  return Done(ThePlatform().pools.Create(properties->location.id, pool));
}
Error cudaMemPoolDestroy(void* pool) { return Done(ThePlatform().pools.Destroy(pool)); }
Error cudaMemPoolTrimTo(void* pool, size_t keep) {
  return Done(ThePlatform().pools.Trim(pool, keep));
}
Error cudaMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return Done(ThePlatform().pools.Get(pool, static_cast<PoolAttribute>(attribute),
                                      static_cast<uint64_t*>(value)));
}
Error cudaMemPoolSetAttribute(void* pool, int attribute, void* value) {
  if (value == nullptr) {
    return Done(Result::kInvalidValue);
  }
  uint64_t wanted = 0;
  std::memcpy(&wanted, value, attribute <= 3 ? sizeof(int) : sizeof wanted);
  return Done(ThePlatform().pools.Set(pool, static_cast<PoolAttribute>(attribute), wanted));
}
Error cudaMemPoolSetAccess(void*, const AccessDescription*, size_t) {
  return Done(Result::kSuccess);
}
Error cudaMemPoolGetAccess(int* flags, void*, MemoryLocation*) {
  *flags = 3;  // read and write
  return Done(Result::kSuccess);
}

// ---- IPC
Error cudaIpcGetMemHandle(IpcHandle* handle, void* address) {
  return Done(ShareMemory(address, handle));
}
Error cudaIpcOpenMemHandle(void** address, IpcHandle handle, unsigned) {
  if (const Result result = Begin(); result != Result::kSuccess) {
    return Done(result);
  }
  return Done(OpenMemory(handle, address));
}
Error cudaIpcCloseMemHandle(void* address) { return Done(CloseMemory(address)); }
Error cudaIpcGetEventHandle(IpcHandle* handle, void* event) {
  return Done(ShareEvent(event, handle));
}
Error cudaIpcOpenEventHandle(void** event, IpcHandle handle) {
  return Done(OpenEvent(handle, event));
}

}  // extern "C"
