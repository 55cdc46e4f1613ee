// Memory of the cards and pinned memory of the host. A card gives out its memory less its context;
// beyond that the answer is "out of memory". Addresses are reserved (never backed until somebody
// copies a few bytes there), so 80 GB cost nothing.
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
#include "emulated/core/card.h"
#include "emulated/core/processes.h"
#include "emulated/core/result.h"

namespace vramscope::emulated {

enum class MemoryKind { kUnregistered, kHost, kDevice, kManaged };

struct PointerFacts {
  MemoryKind kind = MemoryKind::kUnregistered;
  int device = -1;
  uint64_t base = 0;  // of the allocation that it points into; 0: none
  uint64_t bytes = 0;
  bool is_mapped = false;  // in reserved addresses, by SetMapped()
};

class VRAMSCOPE_EMULATED_API Memory {
 public:
  // `on_freed` is told of every range of addresses that has nothing in it any more.
  using OnFreed = void (*)(void* context, uint64_t address, uint64_t bytes);
  Memory(std::span<const Card> cards, Placement placement, OnFreed on_freed = nullptr,
         void* context = nullptr);
  ~Memory();

  // cudaMalloc, cudaFree.
  Result Allocate(int device, uint64_t bytes, void** address);
  Result Free(void* address);

  // Physical memory without an address and addresses without memory (cuMemCreate,
  // cuMemAddressReserve).
  Result TakePhysical(int device, uint64_t bytes);
  void GivePhysical(int device, uint64_t bytes);
  Result ReserveAddresses(uint64_t bytes, uint64_t alignment, void** address);
  Result ReleaseAddresses(void* address, uint64_t bytes);
  // What lies in reserved addresses: `device` from now on, -1 nothing any more.
  Result SetMapped(void* address, uint64_t bytes, int device);

  // Pinned host memory; cudaHostRegister names memory that is somebody else's.
  Result AllocateHost(uint64_t bytes, void** address);
  // Makes `bytes` of the host's memory read as zeros by giving whole pages back: what nobody knows
  // takes no memory. False: neither in one piece of AllocateHost() nor large and wholly the
  // process' own (a file's is not), nothing was done.
  bool ClearHost(void* address, uint64_t bytes);
  // Whether this is in one piece of AllocateHost() and nobody wrote there since it was allocated or
  // cleared: what it holds, nobody knows. False where the system does not tell.
  bool IsUntouched(const void* address, uint64_t bytes) const;
  Result FreeHost(void* address);
  Result RegisterHost(void* address, uint64_t bytes);
  Result UnregisterHost(void* address);
  // cudaMallocManaged: the host's memory, which every card may use.
  Result AllocateManaged(uint64_t bytes, void** address);

  // What other processes of the run hold of a card is not there to be given out; what this one
  // holds is made known to them.
  void Share(SharedCards* processes) { processes_ = processes; }
  uint64_t held_by_others(int device) const;
  // The process has a context on the device from now on.
  void TakeContext(int device);

  // What the process holds beside what it asked for; beyond what is left it takes that.
  void GrowContext(int device, uint64_t bytes);
  void ShrinkContext(int device, uint64_t bytes);

  // Before the device's first use, or after Reset: it is another card from now on.
  void SetCard(int device, const Card& card);
  // Everything of the device is freed, addresses are given out as in a fresh process.
  void Reset(int device);

  // With an observer, a request that does not fit fails once, as on a card (the caching allocator
  // then releases what it can and asks again); asked for once more by the same thread, it is
  // granted over the limit and the observer is told.
  using OnOvercommit = void (*)(void* context, int device, uint64_t bytes, uint64_t free);
  void SetOvercommit(OnOvercommit observer, void* context);

  PointerFacts Look(const void* address) const;
  int DeviceOf(const void* address) const;  // -1: not a card's address

  uint64_t total(int device) const;
  uint64_t free(int device) const;
  uint64_t used(int device) const;  // given out: without the context
  uint64_t most_used(int device) const;
  uint64_t context(int device) const;

 private:
  struct Device {
    uint64_t mapped = 0, mapped_bytes = 0;  // what the system gave for its addresses; 0: nothing
    uint64_t total = 0, limit = 0, used = 0, most_used = 0, context = 0;
    bool has_context = false;
    void Set(const Card& card);
    std::unique_ptr<AddressSpace> addresses;
    std::map<uint64_t, uint64_t> blocks;  // address -> bytes
  };
  struct HostRange {
    uint64_t bytes = 0;
    MemoryKind kind = MemoryKind::kHost;
    bool ours = false;  // to be unmapped when it is freed
  };
  struct Mapped {
    uint64_t bytes = 0;
    int device = -1;
  };
  bool Known(int device) const { return device >= 0 && device < static_cast<int>(devices_.size()); }
  bool TakeLocked(int device, uint64_t bytes, std::unique_lock<std::mutex>* lock);
  void Tell(int device) const;                      // the other processes
  bool IsOurs(uint64_t begin, uint64_t end) const;  // in one piece of AllocateHost()
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
  SharedCards* processes_ = nullptr;
};

}  // namespace vramscope::emulated
