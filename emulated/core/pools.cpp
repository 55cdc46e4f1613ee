#include "emulated/core/pools.h"

#include <algorithm>
#include <iterator>

namespace vramscope::emulated {
namespace {

constexpr uint64_t kFirstPool = uint64_t{0x0e5000000000};
constexpr uint64_t kApart = 0x100;

}  // namespace

Pools::Pools(Memory* memory, int devices) : memory_(memory) {
  for (int i = 0; i < devices; ++i) {
    void* pool = nullptr;
    Create(i, &pool);
    defaults_.push_back(pool);
  }
  current_ = defaults_;
}

Pools::Pool* Pools::Find(void* pool) const {
  const auto it = pools_.find(pool);
  return it == pools_.end() ? nullptr : it->second.get();
}

void* Pools::Default(int device) const {
  return device >= 0 && device < static_cast<int>(defaults_.size()) ? defaults_[device] : nullptr;
}

void* Pools::Current(int device) const {
  std::lock_guard lock(mutex_);
  return device >= 0 && device < static_cast<int>(current_.size()) ? current_[device] : nullptr;
}

Result Pools::SetCurrent(int device, void* pool) {
  std::lock_guard lock(mutex_);
  const Pool* found = Find(pool);
  if (found == nullptr || device < 0 || device >= static_cast<int>(current_.size())) {
    return Result::kInvalidValue;
  }
  current_[device] = pool;
  return Result::kSuccess;
}

Result Pools::Create(int device, void** pool) {
  std::lock_guard lock(mutex_);
  *pool = reinterpret_cast<void*>(kFirstPool + next_++ * kApart);
  pools_[*pool] = std::make_unique<Pool>();
  pools_[*pool]->device = device;
  return Result::kSuccess;
}

Result Pools::Destroy(void* pool) {
  std::lock_guard lock(mutex_);
  const auto it = pools_.find(pool);
  if (it == pools_.end() ||
      std::find(defaults_.begin(), defaults_.end(), pool) != defaults_.end()) {
    return Result::kInvalidValue;
  }
  for (const auto& [address, chunk] : it->second->chunks) {
    memory_->Free(reinterpret_cast<void*>(address));
  }
  std::replace(current_.begin(), current_.end(), pool, defaults_[it->second->device]);
  pools_.erase(it);
  return Result::kSuccess;
}

int Pools::DeviceOf(void* pool) const {
  std::lock_guard lock(mutex_);
  const Pool* found = Find(pool);
  return found == nullptr ? -1 : found->device;
}

uint64_t Pools::TakeHole(Pool* pool, uint64_t bytes) {
  auto best = pool->holes.end();
  for (auto it = pool->holes.begin(); it != pool->holes.end(); ++it) {
    if (it->second >= bytes && (best == pool->holes.end() || it->second < best->second)) {
      best = it;
    }
  }
  if (best == pool->holes.end()) {
    return 0;
  }
  const uint64_t address = best->first, rest = best->second - bytes;
  pool->holes.erase(best);
  if (rest > 0) {
    pool->holes[address + bytes] = rest;
  }
  return address;
}

Result Pools::Allocate(void* pool, uint64_t bytes, void** address) {
  std::lock_guard lock(mutex_);
  *address = nullptr;
  Pool* found = Find(pool);
  if (found == nullptr) {
    return Result::kInvalidValue;
  }
  if (bytes == 0) {
    return Result::kSuccess;
  }
  if (bytes > memory_->total(found->device)) {
    return Result::kOutOfMemory;
  }
  bytes = RoundUp(bytes, kAlignment);
  uint64_t at = TakeHole(found, bytes);
  if (at == 0) {
    const uint64_t wanted = RoundUp(bytes, kChunk);
    void* chunk = nullptr;
    if (memory_->Allocate(found->device, wanted, &chunk) != Result::kSuccess) {
      Release(found, 0);
      if (const Result result = memory_->Allocate(found->device, wanted, &chunk);
          result != Result::kSuccess) {
        return result;
      }
    }
    at = reinterpret_cast<uint64_t>(chunk);
    found->chunks[at] = {wanted, 0};
    found->reserved += wanted;
    found->most_reserved = std::max(found->most_reserved, found->reserved);
    if (wanted > bytes) {
      found->holes[at + bytes] = wanted - bytes;
    }
  }
  std::prev(found->chunks.upper_bound(at))->second.used += bytes;
  found->blocks[at] = bytes;
  found->used += bytes;
  found->most_used = std::max(found->most_used, found->used);
  *address = reinterpret_cast<void*>(at);
  return Result::kSuccess;
}

void Pools::Give(Pool* pool, uint64_t address, uint64_t bytes) {
  const auto chunk = std::prev(pool->chunks.upper_bound(address));
  auto it = pool->holes.insert({address, bytes}).first;
  const auto together = [&](auto first, auto second) {
    return first->first + first->second == second->first &&
           second->first < chunk->first + chunk->second.bytes && first->first >= chunk->first;
  };
  if (const auto next = std::next(it); next != pool->holes.end() && together(it, next)) {
    it->second += next->second;
    pool->holes.erase(next);
  }
  if (it != pool->holes.begin() && together(std::prev(it), it)) {
    std::prev(it)->second += it->second;
    pool->holes.erase(it);
  }
}

bool Pools::Free(void* address) {
  std::lock_guard lock(mutex_);
  const uint64_t at = reinterpret_cast<uint64_t>(address);
  for (auto& [handle, pool] : pools_) {
    const auto it = pool->blocks.find(at);
    if (it == pool->blocks.end()) {
      continue;
    }
    const uint64_t bytes = it->second;
    pool->blocks.erase(it);
    pool->used -= bytes;
    std::prev(pool->chunks.upper_bound(at))->second.used -= bytes;
    Give(pool.get(), at, bytes);
    return true;
  }
  return false;
}

void Pools::Release(Pool* pool, uint64_t keep) {
  for (auto it = pool->chunks.begin(); it != pool->chunks.end() && pool->reserved > keep;) {
    if (it->second.used > 0) {
      ++it;
      continue;
    }
    pool->holes.erase(it->first);
    pool->reserved -= it->second.bytes;
    memory_->Free(reinterpret_cast<void*>(it->first));
    it = pool->chunks.erase(it);
  }
}

Result Pools::Trim(void* pool, uint64_t keep) {
  std::lock_guard lock(mutex_);
  Pool* found = Find(pool);
  if (found == nullptr) {
    return Result::kInvalidValue;
  }
  Release(found, keep);
  return Result::kSuccess;
}

Result Pools::Get(void* pool, PoolAttribute attribute, uint64_t* value) const {
  std::lock_guard lock(mutex_);
  const Pool* found = Find(pool);
  if (found == nullptr || value == nullptr) {
    return Result::kInvalidValue;
  }
  switch (attribute) {
    case PoolAttribute::kReuseFollowEvents:
    case PoolAttribute::kReuseOpportunistic:
    case PoolAttribute::kReuseInternalDependencies:  // these three are ints
      *reinterpret_cast<int*>(value) = found->flags[static_cast<int>(attribute) - 1];
      return Result::kSuccess;
    case PoolAttribute::kReleaseThreshold:
      *value = found->threshold;
      return Result::kSuccess;
    case PoolAttribute::kReservedNow:
      *value = found->reserved;
      return Result::kSuccess;
    case PoolAttribute::kReservedMost:
      *value = found->most_reserved;
      return Result::kSuccess;
    case PoolAttribute::kUsedNow:
      *value = found->used;
      return Result::kSuccess;
    case PoolAttribute::kUsedMost:
      *value = found->most_used;
      return Result::kSuccess;
  }
  return Result::kInvalidValue;
}

Result Pools::Set(void* pool, PoolAttribute attribute, uint64_t value) {
  std::lock_guard lock(mutex_);
  Pool* found = Find(pool);
  if (found == nullptr) {
    return Result::kInvalidValue;
  }
  switch (attribute) {
    case PoolAttribute::kReuseFollowEvents:
    case PoolAttribute::kReuseOpportunistic:
    case PoolAttribute::kReuseInternalDependencies:
      found->flags[static_cast<int>(attribute) - 1] = static_cast<int>(value);
      return Result::kSuccess;
    case PoolAttribute::kReleaseThreshold:
      found->threshold = value;
      return Result::kSuccess;
    case PoolAttribute::kReservedMost:  // set to 0: restarts the measurement
      found->most_reserved = found->reserved;
      return value == 0 ? Result::kSuccess : Result::kInvalidValue;
    case PoolAttribute::kUsedMost:
      found->most_used = found->used;
      return value == 0 ? Result::kSuccess : Result::kInvalidValue;
    case PoolAttribute::kReservedNow:
    case PoolAttribute::kUsedNow:
      break;
  }
  return Result::kInvalidValue;
}

void Pools::Synchronized(int device) {
  std::lock_guard lock(mutex_);
  for (auto& [handle, pool] : pools_) {
    if (pool->device == device && pool->reserved > pool->threshold) {
      Release(pool.get(), pool->threshold);
    }
  }
}

void Pools::Reset(int device) {
  std::lock_guard lock(mutex_);
  for (auto& [handle, pool] : pools_) {
    if (pool->device == device) {
      pool->chunks.clear();
      pool->holes.clear();
      pool->blocks.clear();
      pool->reserved = pool->most_reserved = pool->used = pool->most_used = 0;
    }
  }
}

}  // namespace vramscope::emulated
