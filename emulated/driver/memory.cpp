// Implements plain memory, virtual memory (physical memory that is mapped to reserved addresses, as
// for expandable segments), pools and copies.
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "emulated/core/attributes.h"
#include "emulated/core/ipc.h"
#include "emulated/core/recorder.h"
#include "emulated/driver/types.h"

namespace vramscope::emulated::driver {
namespace {

// Physical memory without an address. It stays in use until its handle is released and all its
// mappings are gone.
struct Physical {
  int device = 0;
  uint64_t bytes = 0;
  int holders = 0;
};
// A range of memory, as it is reported to the recorder.
struct Piece {
  Pointer address = 0;
  uint64_t bytes = 0;
  int device = 0;
  Place place = Place::kDevice;
};
struct Mappings {
  std::mutex mutex;
  uint64_t next = 1;
  std::map<uint64_t, Physical> physical;  // keyed by handle
  struct Mapped {
    uint64_t bytes = 0, handle = 0;
    bool accessible = false;
  };
  std::map<Pointer, Mapped> mapped;

  Piece PieceOf(std::map<Pointer, Mapped>::const_iterator it) const {
    const auto physical_it = physical.find(it->second.handle);
    const bool known = physical_it != physical.end() && physical_it->second.device >= 0;
    return {.address = it->first,
            .bytes = it->second.bytes,
            .device = known ? physical_it->second.device : CurrentDevice()};
  }
  void Drop(uint64_t handle) {
    const auto it = physical.find(handle);
    if (it != physical.end() && --it->second.holders == 0) {
      ThePlatform().memory.GivePhysical(it->second.device, it->second.bytes);
      physical.erase(it);
    }
  }
};
Mappings& TheMappings() {
  static auto* mappings = new Mappings;
  return *mappings;
}

void RecordPiece(Call call, const Piece& piece, int64_t begin, bool first = true) {
  if (Recorder* recorder = TheRecorder()) {
    recorder->OnMemory({.call = call,
                        .allocated = call != Call::kDriverMemFree && call != Call::kMemUnmap &&
                                     call != Call::kDriverMemFreeHost,
                        .first = first,
                        .place = piece.place,
                        .address = piece.address,
                        .bytes = piece.bytes,
                        .device = piece.device,
                        .begin_ns = begin,
                        .end_ns = ThePlatform().clock.now()});
  }
}

Status FillHere(Pointer to, uint64_t value, uint64_t width, size_t count, void* stream,
                bool synchronous) {
  return Done(Fill(At(to), &value, width, count, stream, synchronous));
}

Status Copy2DHere(const Copy2D* p, void* stream, bool synchronous) {
  if (p == nullptr) {
    return Done(Result::kInvalidValue);
  }
  constexpr int kHost = 1, kArray = 3;
  if (p->srcMemoryType == kArray || p->dstMemoryType == kArray) {
    return Done(Result::kNotSupported);
  }
  const char* from = p->srcMemoryType == kHost ? static_cast<const char*>(p->srcHost)
                                               : static_cast<const char*>(At(p->srcDevice));
  char* to = p->dstMemoryType == kHost ? static_cast<char*>(p->dstHost)
                                       : static_cast<char*>(At(p->dstDevice));
  return Done(CopyRows(to + p->dstY * p->dstPitch + p->dstXInBytes, p->dstPitch,
                       from + p->srcY * p->srcPitch + p->srcXInBytes, p->srcPitch, p->WidthInBytes,
                       p->Height, stream, synchronous));
}

}  // namespace
}  // namespace vramscope::emulated::driver

using namespace vramscope::emulated;          // NOLINT: C functions follow
using namespace vramscope::emulated::driver;  // NOLINT

extern "C" {

Status cuDevicePrimaryCtxRetain(void** context, int device);  // devices.cpp

Status cuMemAlloc_v2(Pointer* pointer, size_t bytes) {
  if (pointer == nullptr || bytes == 0) {
    return Done(Result::kInvalidValue);
  }
  void* address = nullptr;
  const int64_t begin = ThePlatform().clock.now();
  const Result result = ThePlatform().memory.Allocate(CurrentDevice(), bytes, &address);
  ThePlatform().clock.Submit(Clock::kAllocateNs);
  *pointer = reinterpret_cast<Pointer>(address);
  if (result == Result::kSuccess) {
    RecordPiece(Call::kDriverMemAlloc, {*pointer, bytes, CurrentDevice()}, begin);
  }
  return Done(result);
}
VRAMSCOPE_ALSO(cuMemAlloc, cuMemAlloc_v2)
Status cuMemFree_v2(Pointer pointer) {
  const int64_t begin = ThePlatform().clock.now();
  const bool managed = ThePlatform().memory.Find(At(pointer)).kind == MemoryKind::kManaged;
  const Result result = ThePlatform().pools.Free(At(pointer))
                            ? Result::kSuccess
                            : ThePlatform().memory.Free(At(pointer));
  if (result == Result::kSuccess) {
    RecordPiece(Call::kDriverMemFree,
                {pointer, 0, CurrentDevice(), managed ? Place::kManaged : Place::kDevice}, begin);
  }
  return Done(result);
}
VRAMSCOPE_ALSO(cuMemFree, cuMemFree_v2)
Status cuMemAllocPitch_v2(Pointer* pointer, size_t* pitch, size_t width, size_t height, unsigned) {
  if (width == 0 || height == 0 || width > (size_t{1} << 46) / height) {
    return Done(Result::kInvalidValue);
  }
  *pitch = RoundUp(width, 512);
  return cuMemAlloc_v2(pointer, *pitch * height);
}
VRAMSCOPE_ALSO(cuMemAllocPitch, cuMemAllocPitch_v2)
Status cuMemAllocManaged(Pointer* pointer, size_t bytes, unsigned) {
  void* address = nullptr;
  const int64_t begin = ThePlatform().clock.now();
  Assume("managed memory is allocated in host memory and is not counted as GPU memory",
         "cuMemAllocManaged", bytes);
  const Result result = ThePlatform().memory.AllocateManaged(bytes, &address);
  *pointer = reinterpret_cast<Pointer>(address);
  if (result == Result::kSuccess) {
    RecordPiece(Call::kDriverMemAllocManaged, {*pointer, bytes, CurrentDevice(), Place::kManaged},
                begin);
  }
  return Done(result);
}
Status cuMemGetInfo_v2(size_t* free, size_t* total) {
  *free = ThePlatform().memory.free(CurrentDevice());
  *total = ThePlatform().memory.total(CurrentDevice());
  return Done(ThePlatform().gpus.empty() ? Result::kNoDevice : Result::kSuccess);
}
VRAMSCOPE_ALSO(cuMemGetInfo, cuMemGetInfo_v2)
Status cuMemGetAddressRange_v2(Pointer* base, size_t* bytes, Pointer pointer) {
  const PointerFacts facts = ThePlatform().memory.Find(At(pointer));
  if (facts.base == 0) {
    return Done(Result::kInvalidValue);
  }
  if (base != nullptr) {
    *base = facts.base;
  }
  if (bytes != nullptr) {
    *bytes = facts.bytes;
  }
  return 0;
}
VRAMSCOPE_ALSO(cuMemGetAddressRange, cuMemGetAddressRange_v2)

Status cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  const int64_t begin = ThePlatform().clock.now();
  const Result result = ThePlatform().memory.AllocateHost(bytes, address);
  if (result == Result::kSuccess && *address != nullptr) {
    RecordPiece(Call::kDriverMemHostAlloc,
                {reinterpret_cast<Pointer>(*address), bytes, CurrentDevice(), Place::kPinned},
                begin);
  }
  return Done(result);
}
Status cuMemAllocHost_v2(void** address, size_t bytes) { return cuMemHostAlloc(address, bytes, 0); }
VRAMSCOPE_ALSO(cuMemAllocHost, cuMemAllocHost_v2)
Status cuMemFreeHost(void* address) {
  const int64_t begin = ThePlatform().clock.now();
  const Result result = ThePlatform().memory.FreeHost(address);
  if (result == Result::kSuccess && address != nullptr) {
    RecordPiece(Call::kDriverMemFreeHost,
                {reinterpret_cast<Pointer>(address), 0, CurrentDevice(), Place::kPinned}, begin);
  }
  return Done(result);
}
Status cuMemHostRegister_v2(void* address, size_t bytes, unsigned) {
  return Done(ThePlatform().memory.RegisterHost(address, bytes));
}
VRAMSCOPE_ALSO(cuMemHostRegister, cuMemHostRegister_v2)
Status cuMemHostUnregister(void* address) {
  return Done(ThePlatform().memory.UnregisterHost(address));
}
Status cuMemHostGetDevicePointer_v2(Pointer* pointer, void* address, unsigned) {
  *pointer = reinterpret_cast<Pointer>(address);
  return 0;
}
VRAMSCOPE_ALSO(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2)

// CUpointer_attribute.
Status cuPointerGetAttribute(void* value, int attribute, Pointer pointer) {
  const PointerFacts facts = ThePlatform().memory.Find(At(pointer));
  if (value == nullptr || facts.kind == MemoryKind::kUnregistered) {
    return Done(Result::kInvalidValue);
  }
  const bool on_device = facts.kind == MemoryKind::kDevice;
  const int device = on_device ? facts.device : CurrentDevice();
  switch (attribute) {
    case 1:  // context
      return cuDevicePrimaryCtxRetain(static_cast<void**>(value), device);
    case 2:  // memory type: 1 host, 2 device
      *static_cast<unsigned*>(value) = on_device ? 2 : 1;
      return 0;
    case 3:  // device pointer
    case 4:  // host pointer
      *static_cast<Pointer*>(value) = pointer;
      return 0;
    case 7:  // buffer id
      *static_cast<uint64_t*>(value) = facts.base;
      return 0;
    case 8:  // managed
      *static_cast<unsigned*>(value) = facts.kind == MemoryKind::kManaged;
      return 0;
    case 9:  // device ordinal
      *static_cast<int*>(value) = device;
      return 0;
    case 11:  // begin
    case 19:
      *static_cast<Pointer*>(value) = facts.base;
      return 0;
    case 12:  // size
    case 18:
      *static_cast<size_t*>(value) = facts.bytes;
      return 0;
    case 13:  // mapped
      *static_cast<int*>(value) = 1;
      return 0;
    default:
      *static_cast<int*>(value) = 0;
      return 0;
  }
}
Status cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                              Pointer pointer) {
  for (unsigned i = 0; i < count; ++i) {
    cuPointerGetAttribute(values[i], attributes[i], pointer);
  }
  return 0;
}
Status cuPointerSetAttribute(const void*, int, Pointer) { return 0; }

// ---- virtual memory
Status cuMemGetAllocationGranularity(size_t* bytes, const AllocationProperties*, int) {
  *bytes = AddressSpace::kGranule;
  return 0;
}
Status cuMemAddressReserve(Pointer* pointer, size_t bytes, size_t alignment, Pointer,
                           unsigned long long) {
  void* address = nullptr;
  const Result result = ThePlatform().memory.ReserveAddresses(bytes, alignment, &address);
  *pointer = reinterpret_cast<Pointer>(address);
  return Done(result);
}
Status cuMemAddressFree(Pointer pointer, size_t bytes) {
  return Done(ThePlatform().memory.ReleaseAddresses(At(pointer), bytes));
}
Status cuMemCreate(uint64_t* handle, size_t bytes, const AllocationProperties* properties,
                   unsigned long long) {
  if (handle == nullptr || properties == nullptr || bytes == 0 ||
      bytes % AddressSpace::kGranule != 0) {
    return Done(Result::kInvalidValue);
  }
  constexpr int kDevice = 1;
  Platform& platform = ThePlatform();
  const bool on_device = properties->location_type == kDevice;
  platform.clock.Submit(Clock::kAllocateNs);
  if (on_device) {
    if (const Result result = platform.memory.TakePhysical(properties->location_id, bytes);
        result != Result::kSuccess) {
      return Done(result);
    }
  }
  Mappings& mappings = TheMappings();
  std::lock_guard lock(mappings.mutex);
  *handle = mappings.next++;
  mappings.physical[*handle] = {on_device ? properties->location_id : -1, bytes, 1};
  return 0;
}
Status cuMemRelease(uint64_t handle) {
  Mappings& mappings = TheMappings();
  std::lock_guard lock(mappings.mutex);
  if (!mappings.physical.contains(handle)) {
    return Done(Result::kInvalidValue);
  }
  mappings.Drop(handle);
  return 0;
}
Status cuMemRetainAllocationHandle(uint64_t* handle, void* address) {
  Mappings& mappings = TheMappings();
  std::lock_guard lock(mappings.mutex);
  auto it = mappings.mapped.upper_bound(reinterpret_cast<Pointer>(address));
  if (it == mappings.mapped.begin()) {
    return Done(Result::kInvalidValue);
  }
  --it;
  *handle = it->second.handle;
  ++mappings.physical[*handle].holders;
  return 0;
}
Status cuMemMap(Pointer pointer, size_t bytes, size_t, uint64_t handle, unsigned long long) {
  Mappings& mappings = TheMappings();
  std::lock_guard lock(mappings.mutex);
  const auto it = mappings.physical.find(handle);
  if (it == mappings.physical.end()) {
    return Done(Result::kInvalidValue);
  }
  const int device = it->second.device < 0 ? CurrentDevice() : it->second.device;
  if (const Result result = ThePlatform().memory.SetMapped(At(pointer), bytes, device);
      result != Result::kSuccess) {
    return Done(result);
  }
  ++it->second.holders;
  mappings.mapped[pointer] = {.bytes = bytes, .handle = handle};
  return 0;
}
// On an H200 with driver 580, CUPTI reports an allocation when it becomes accessible, with the
// call that makes it accessible (tests/golden/gpu/h200/record_gpt2_expandable.trace). It is
// assumed that CUPTI reports the same memory when it is unmapped, which does not happen in that
// recording.
Status cuMemUnmap(Pointer pointer, size_t bytes) {
  const int64_t begin = ThePlatform().clock.now();
  Mappings& mappings = TheMappings();
  std::vector<Piece> gone;
  {
    std::lock_guard lock(mappings.mutex);
    if (const Result result = ThePlatform().memory.SetMapped(At(pointer), bytes, -1);
        result != Result::kSuccess) {
      return Done(result);
    }
    for (auto it = mappings.mapped.lower_bound(pointer);
         it != mappings.mapped.end() && it->first < pointer + bytes;) {
      if (it->second.accessible) gone.push_back(mappings.PieceOf(it));
      mappings.Drop(it->second.handle);
      it = mappings.mapped.erase(it);
    }
  }
  for (const Piece& piece : gone)
    RecordPiece(Call::kMemUnmap, piece, begin, &piece == &gone.front());
  return 0;
}
Status cuMemSetAccess(Pointer pointer, size_t bytes, const driver::AccessDescription*, size_t) {
  const int64_t begin = ThePlatform().clock.now();
  Mappings& mappings = TheMappings();
  std::vector<Piece> fresh;
  {
    std::lock_guard lock(mappings.mutex);
    for (auto it = mappings.mapped.lower_bound(pointer);
         it != mappings.mapped.end() && it->first < pointer + bytes; ++it) {
      if (it->second.accessible) continue;  // already reported; this call adds another GPU
      it->second.accessible = true;
      fresh.push_back(mappings.PieceOf(it));
    }
  }
  for (const Piece& piece : fresh)
    RecordPiece(Call::kMemSetAccess, piece, begin, &piece == &fresh.front());
  return 0;
}
Status cuMemGetAccess(unsigned long long* flags, const void*, Pointer) {
  *flags = 3;  // read and write
  return 0;
}
Status cuMemExportToShareableHandle(void*, uint64_t, int, unsigned long long) {
  Assume("the emulated driver refuses to share memory between processes",
         "cuMemExportToShareableHandle", 0);
  return Done(Result::kNotSupported);
}
Status cuMemImportFromShareableHandle(uint64_t*, void*, int) {
  Assume("the emulated driver refuses to share memory between processes",
         "cuMemImportFromShareableHandle", 0);
  return Done(Result::kNotSupported);
}
Status cuMulticastCreate(uint64_t*, const void*) { return Done(Result::kNotSupported); }
Status cuIpcGetMemHandle(IpcHandle* handle, Pointer pointer) {
  return Done(ShareMemory(At(pointer), handle));
}
Status cuIpcOpenMemHandle_v2(Pointer* pointer, IpcHandle handle, unsigned) {
  if (pointer == nullptr) {
    return Done(Result::kInvalidValue);
  }
  void* address = nullptr;
  const Result result = OpenMemory(handle, &address);
  *pointer = reinterpret_cast<Pointer>(address);
  return Done(result);
}
VRAMSCOPE_ALSO(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2)
Status cuIpcCloseMemHandle(Pointer pointer) { return Done(CloseMemory(At(pointer))); }
Status cuIpcGetEventHandle(IpcHandle* handle, void* event) {
  return Done(ShareEvent(event, handle));
}
Status cuIpcOpenEventHandle(void** event, IpcHandle handle) {
  return Done(OpenEvent(handle, event));
}

// ---- stream-ordered allocation
Status cuMemAllocFromPoolAsync(Pointer* pointer, size_t bytes, void* pool, void*) {
  void* address = nullptr;
  const Result result = ThePlatform().pools.Allocate(pool, bytes, &address);
  *pointer = reinterpret_cast<Pointer>(address);
  return Done(result);
}
VRAMSCOPE_ALSO(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync)
Status cuMemAllocAsync(Pointer* pointer, size_t bytes, void* stream) {
  return cuMemAllocFromPoolAsync(pointer, bytes, ThePlatform().pools.Current(CurrentDevice()),
                                 stream);
}
VRAMSCOPE_ALSO(cuMemAllocAsync_ptsz, cuMemAllocAsync)
Status cuMemFreeAsync(Pointer pointer, void*) { return cuMemFree_v2(pointer); }
VRAMSCOPE_ALSO(cuMemFreeAsync_ptsz, cuMemFreeAsync)
Status cuDeviceGetDefaultMemPool(void** pool, int device) {
  *pool = ThePlatform().pools.Default(device);
  return Done(*pool != nullptr ? Result::kSuccess : Result::kInvalidDevice);
}
Status cuDeviceGetMemPool(void** pool, int device) {
  *pool = ThePlatform().pools.Current(device);
  return Done(*pool != nullptr ? Result::kSuccess : Result::kInvalidDevice);
}
Status cuMemPoolTrimTo(void* pool, size_t keep) {
  return Done(ThePlatform().pools.Trim(pool, keep));
}

// ---- copies and memsets
Status cuMemcpy(Pointer to, Pointer from, size_t bytes) {
  return Done(Copy(At(to), At(from), bytes, nullptr, true));
}
VRAMSCOPE_ALSO(cuMemcpy_ptds, cuMemcpy)
VRAMSCOPE_ALSO(cuMemcpyDtoD_v2, cuMemcpy)
VRAMSCOPE_ALSO(cuMemcpyDtoD_v2_ptds, cuMemcpy)
VRAMSCOPE_ALSO(cuMemcpyDtoD, cuMemcpy)
Status cuMemcpyAsync(Pointer to, Pointer from, size_t bytes, void* stream) {
  return Done(Copy(At(to), At(from), bytes, stream, false));
}
VRAMSCOPE_ALSO(cuMemcpyAsync_ptsz, cuMemcpyAsync)
VRAMSCOPE_ALSO(cuMemcpyDtoDAsync_v2, cuMemcpyAsync)
VRAMSCOPE_ALSO(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyAsync)
VRAMSCOPE_ALSO(cuMemcpyDtoDAsync, cuMemcpyAsync)
Status cuMemcpyHtoD_v2(Pointer to, const void* from, size_t bytes) {
  return Done(Copy(At(to), from, bytes, nullptr, true));
}
VRAMSCOPE_ALSO(cuMemcpyHtoD, cuMemcpyHtoD_v2)
VRAMSCOPE_ALSO(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2)
Status cuMemcpyHtoDAsync_v2(Pointer to, const void* from, size_t bytes, void* stream) {
  return Done(Copy(At(to), from, bytes, stream, false));
}
VRAMSCOPE_ALSO(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2)
VRAMSCOPE_ALSO(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync_v2)
Status cuMemcpyDtoH_v2(void* to, Pointer from, size_t bytes) {
  return Done(Copy(to, At(from), bytes, nullptr, true));
}
VRAMSCOPE_ALSO(cuMemcpyDtoH, cuMemcpyDtoH_v2)
VRAMSCOPE_ALSO(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2)
Status cuMemcpyDtoHAsync_v2(void* to, Pointer from, size_t bytes, void* stream) {
  return Done(Copy(to, At(from), bytes, stream, false));
}
VRAMSCOPE_ALSO(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2)
VRAMSCOPE_ALSO(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync_v2)
Status cuMemcpyPeerAsync(Pointer to, void*, Pointer from, void*, size_t bytes, void* stream) {
  return Done(Copy(At(to), At(from), bytes, stream, false));
}
Status cuMemcpyPeer(Pointer to, void*, Pointer from, void*, size_t bytes) {
  return Done(Copy(At(to), At(from), bytes, nullptr, true));
}
Status cuMemcpy2D_v2(const Copy2D* parameters) { return Copy2DHere(parameters, nullptr, true); }
VRAMSCOPE_ALSO(cuMemcpy2DUnaligned_v2, cuMemcpy2D_v2)
VRAMSCOPE_ALSO(cuMemcpy2D_v2_ptds, cuMemcpy2D_v2)
VRAMSCOPE_ALSO(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2D_v2)
Status cuMemcpy2DAsync_v2(const Copy2D* parameters, void* stream) {
  return Copy2DHere(parameters, stream, false);
}
Status cuMemsetD8_v2(Pointer to, unsigned char value, size_t count) {
  return FillHere(to, value, 1, count, nullptr, true);
}
VRAMSCOPE_ALSO(cuMemsetD8, cuMemsetD8_v2)
VRAMSCOPE_ALSO(cuMemsetD8_v2_ptds, cuMemsetD8_v2)
Status cuMemsetD8Async(Pointer to, unsigned char value, size_t count, void* stream) {
  return FillHere(to, value, 1, count, stream, false);
}
VRAMSCOPE_ALSO(cuMemsetD8Async_ptsz, cuMemsetD8Async)
Status cuMemsetD16_v2(Pointer to, unsigned short value, size_t count) {
  return FillHere(to, value, 2, count, nullptr, true);
}
VRAMSCOPE_ALSO(cuMemsetD16, cuMemsetD16_v2)
VRAMSCOPE_ALSO(cuMemsetD16_v2_ptds, cuMemsetD16_v2)
Status cuMemsetD16Async(Pointer to, unsigned short value, size_t count, void* stream) {
  return FillHere(to, value, 2, count, stream, false);
}
Status cuMemsetD32_v2(Pointer to, unsigned value, size_t count) {
  return FillHere(to, value, 4, count, nullptr, true);
}
VRAMSCOPE_ALSO(cuMemsetD32, cuMemsetD32_v2)
VRAMSCOPE_ALSO(cuMemsetD32_v2_ptds, cuMemsetD32_v2)
Status cuMemsetD32Async(Pointer to, unsigned value, size_t count, void* stream) {
  return FillHere(to, value, 4, count, stream, false);
}
VRAMSCOPE_ALSO(cuMemsetD32Async_ptsz, cuMemsetD32Async)

}  // extern "C"
