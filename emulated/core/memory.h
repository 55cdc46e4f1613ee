// Manages the memory of the GPUs and pinned host memory. A GPU provides its memory minus the CUDA
// context. Allocations beyond that fail with "out of memory". GPU memory consists only of reserved
// addresses, so 80 GB cost nothing. Host memory is used only for the few bytes that are copied.
//
//   void* at = nullptr;
//   if (ThePlatform().memory.Allocate(device, bytes, &at) != Result::kSuccess) ...
//   ThePlatform().memory.Free(at);
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "emulated/core/addresses.h"
#include "emulated/core/api.h"
#include "emulated/core/gpu.h"
#include "emulated/core/processes.h"
#include "emulated/core/result.h"

namespace vramscope::emulated {

enum class MemoryKind { kUnregistered, kHost, kDevice, kManaged };

struct PointerFacts {
  MemoryKind kind = MemoryKind::kUnregistered;
  int device = -1;
  uint64_t base = 0;  // begin of the allocation that contains the address; 0: none
  uint64_t bytes = 0;
  bool is_mapped = false;  // mapped into reserved addresses by SetMapped()
};

class VRAMSCOPE_EMULATED_API Memory {
 public:
  // `on_freed` is called for every range of addresses that no longer contains memory.
  using OnFreed = void (*)(void* context, uint64_t address, uint64_t bytes);
  Memory(std::span<const Gpu> gpus, Placement placement, OnFreed on_freed = nullptr,
         void* context = nullptr);
  ~Memory();

  // cudaMalloc and cudaFree.
  Result Allocate(int device, uint64_t bytes, void** address);
  Result Free(void* address);

  // For cuMemCreate (physical memory without an address) and cuMemAddressReserve (addresses without
  // memory).
  Result TakePhysical(int device, uint64_t bytes);
  void GivePhysical(int device, uint64_t bytes);
  Result ReserveAddresses(uint64_t bytes, uint64_t alignment, void** address);
  Result ReleaseAddresses(void* address, uint64_t bytes);
  // Maps memory of `device` into reserved addresses. If `device` is -1, unmaps memory.
  Result SetMapped(void* address, uint64_t bytes, int device);

  // Pinned host memory; cudaHostRegister registers memory allocated elsewhere.
  Result AllocateHost(uint64_t bytes, void** address);
  // Makes `bytes` of host memory read as zeros by releasing its pages, so that unknown contents
  // take no memory. Does nothing and returns false unless the range is in one allocation of
  // AllocateHost(), or is large, private to the process and not backed by a file.
  bool ClearHost(void* address, uint64_t bytes);
  // Returns whether the range is in one allocation of AllocateHost() and was not written to after
  // it was allocated or cleared. If so, its contents are unknown. Returns false if the system gives
  // no information.
  bool IsUntouched(const void* address, uint64_t bytes) const;
  Result FreeHost(void* address);
  Result RegisterHost(void* address, uint64_t bytes);
  Result UnregisterHost(void* address);
  // Implements cudaMallocManaged: allocates host memory that every GPU may use.
  Result AllocateManaged(uint64_t bytes, void** address);

  // Makes the GPU memory that the run's other processes use unavailable in this process, and shows
  // the other processes how much this process uses.
  void Share(SharedGpus* processes) { processes_ = processes; }
  uint64_t used_by_other_processes(int device) const;
  // Call when the process creates its context on the device.
  void TakeContext(int device);

  // Grows the CUDA context of the process by `bytes`, or by the free memory if that is less.
  void GrowContext(int device, uint64_t bytes);
  void ShrinkContext(int device, uint64_t bytes);

  // Replaces the GPU of a device, before its first use or after Reset.
  void SetGpu(int device, const Gpu& gpu);
  // Frees everything on the device. Later allocations get addresses as in a new process.
  void Reset(int device);

  // With an observer, an allocation that does not fit fails at first, as on a real GPU. The caching
  // allocator then releases cached memory and retries. If the same thread retries, the allocation
  // succeeds although it exceeds the limit, and the observer is called.
  using OnOvercommit = void (*)(void* context, int device, uint64_t bytes, uint64_t free);
  void SetOvercommit(OnOvercommit observer, void* context);

  PointerFacts Find(const void* address) const;
  int DeviceOf(const void* address) const;  // -1: not a GPU address

  uint64_t total(int device) const;
  uint64_t free(int device) const;
  uint64_t used(int device) const;  // allocated bytes, without the context
  uint64_t most_used(int device) const;
  uint64_t context(int device) const;

 private:
  struct Device {
    uint64_t mapped = 0, mapped_bytes = 0;  // the reserved address space; 0: none
    uint64_t total = 0, limit = 0, used = 0, most_used = 0, context = 0;
    bool has_context = false;
    void Set(const Gpu& gpu);
    std::unique_ptr<AddressSpace> addresses;
    std::map<uint64_t, uint64_t> blocks;  // address -> bytes
  };
  struct HostRange {
    uint64_t bytes = 0;
    MemoryKind kind = MemoryKind::kHost;
    bool ours = false;  // mapped by this class, which unmaps it when it is freed
  };
  struct Mapped {
    uint64_t bytes = 0;
    int device = -1;
  };
  bool Known(int device) const { return device >= 0 && device < static_cast<int>(devices_.size()); }
  bool TakeLocked(int device, uint64_t bytes, std::unique_lock<std::mutex>* lock);
  void Publish(int device) const;  // shows the other processes how much is used
  // Returns whether the range is in one allocation of AllocateHost().
  bool IsOurs(uint64_t begin, uint64_t end) const;
  void Emptied(uint64_t address, uint64_t bytes);
  Result MapHost(uint64_t bytes, MemoryKind kind, void** address);
  const HostRange* FindHost(uint64_t address, uint64_t* base) const;

  mutable std::mutex mutex_;
  std::vector<Device> devices_;
  std::map<uint64_t, HostRange> host_;
  std::map<uint64_t, uint64_t> reserved_;
  std::map<uint64_t, Mapped> mapped_;
  uint64_t next_reservation_ = 0;
  OnOvercommit on_overcommit_ = nullptr;
  void* overcommit_context_ = nullptr;
  Placement placement_;
  OnFreed on_freed_;
  void* context_;
  SharedGpus* processes_ = nullptr;
};

}  // namespace vramscope::emulated
