// Implements stream-ordered allocation (cudaMallocAsync). Pools take memory from their GPU in
// chunks of 32 MiB and split them. When the program synchronizes, a pool with more memory than its
// threshold releases completely free chunks. Memory that is freed on one stream is assumed to be
// available to all streams immediately.
//
//   void* pool = platform.pools.Default(device);
//   platform.pools.Allocate(pool, bytes, &address);
//   platform.pools.Free(address);
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "emulated/core/api.h"
#include "emulated/core/memory.h"

namespace vramscope::emulated {

// cudaMemPoolAttr.
enum class PoolAttribute : int {
  kReuseFollowEvents = 1,
  kReuseOpportunistic = 2,
  kReuseInternalDependencies = 3,
  kReleaseThreshold = 4,
  kReservedNow = 5,
  kReservedMost = 6,
  kUsedNow = 7,
  kUsedMost = 8,
};

class VRAMSCOPE_EMULATED_API Pools {
 public:
  static constexpr uint64_t kChunk = uint64_t{32} << 20;
  static constexpr uint64_t kAlignment = 512;

  Pools(Memory* memory, int devices);

  void* Default(int device) const;  // null: unknown device
  void* Current(int device) const;
  Result SetCurrent(int device, void* pool);
  Result Create(int device, void** pool);
  Result Destroy(void* pool);
  int DeviceOf(void* pool) const;

  Result Allocate(void* pool, uint64_t bytes, void** address);
  bool Free(void* address);  // false: not allocated from a pool
  Result Trim(void* pool, uint64_t keep);
  Result Get(void* pool, PoolAttribute attribute, uint64_t* value) const;
  Result Set(void* pool, PoolAttribute attribute, uint64_t value);
  void Synchronized(int device);
  // Drops all pools of the device (Memory::Reset).
  void Reset(int device);

 private:
  struct Chunk {
    uint64_t bytes = 0, used = 0;
  };
  struct Pool {
    int device = 0;
    uint64_t threshold = 0, reserved = 0, most_reserved = 0, used = 0, most_used = 0;
    std::map<uint64_t, Chunk> chunks;
    std::map<uint64_t, uint64_t> holes, blocks;  // address -> bytes
    int flags[3] = {1, 1, 1};
  };
  Pool* Find(void* pool) const;
  void Release(Pool* pool, uint64_t keep);
  uint64_t TakeHole(Pool* pool, uint64_t bytes);
  void Give(Pool* pool, uint64_t address, uint64_t bytes);

  mutable std::mutex mutex_;
  Memory* memory_;
  std::unordered_map<void*, std::unique_ptr<Pool>> pools_;
  std::vector<void*> defaults_, current_;
  uint64_t next_ = 0;
};

}  // namespace vramscope::emulated
