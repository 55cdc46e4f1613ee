// The caching allocator written down as plainly as possible: std::set of free blocks over all
// streams, std::map of blocks by address, every answer found by definition. The reference of the
// property tests and the peer of the benchmark.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "profiler/allocator/caching_allocator.h"

namespace vramscope::allocator {

class NaiveAllocator {
 public:
  struct Held {
    uint64_t bytes = 0;
    bool live = false;
    uint64_t segment = 0;
    uint32_t stream = 0;
    bool small = false;
  };

  explicit NaiveAllocator(Settings settings) : settings_(settings), next_(settings.first_address) {}

  // Address and size of the block, or nullopt when out of memory.
  std::optional<std::pair<uint64_t, uint64_t>> Malloc(uint64_t bytes, uint32_t stream) {
    const uint64_t size = bytes <= 512 ? 512 : (bytes + 511) / 512 * 512;
    const bool small = size <= (1 << 20);
    auto& pool = free_[small];
    auto fit = pool.lower_bound({stream, size, 0});
    uint64_t address = 0;
    if (fit != pool.end() && std::get<0>(*fit) == stream) {
      address = std::get<2>(*fit);
      pool.erase(fit);
    } else {
      constexpr uint64_t kMiB = 1 << 20;
      const uint64_t segment = small              ? 2 * kMiB
                               : size < 10 * kMiB ? 20 * kMiB
                                                  : (size + 2 * kMiB - 1) / (2 * kMiB) * 2 * kMiB;
      if (!Fits(segment)) {
        Release();
        if (!Fits(segment)) return std::nullopt;
      }
      address = next_;
      next_ += segment;
      reserved_ += segment;
      blocks_[address] = {segment, false, address, stream, small};
      segments_[address] = segment;
    }
    Held& b = blocks_[address];
    const uint64_t rest = b.bytes - size;
    if (small ? rest >= 512 : rest > (1 << 20)) {
      blocks_[address + size] = {rest, false, b.segment, stream, small};
      pool.insert({stream, rest, address + size});
      b.bytes = size;
    }
    b.live = true;
    allocated_ += b.bytes;
    return std::pair(address, b.bytes);
  }

  bool Free(uint64_t address) {
    auto it = blocks_.find(address);
    if (it == blocks_.end() || !it->second.live) return false;
    it->second.live = false;
    allocated_ -= it->second.bytes;
    auto& pool = free_[it->second.small];
    const auto joins = [this](auto a, auto b) {
      return a != blocks_.end() && b != blocks_.end() && !a->second.live && !b->second.live &&
             a->second.segment == b->second.segment;
    };
    const auto forget = [&pool](auto b) {
      pool.erase({b->second.stream, b->second.bytes, b->first});
    };
    if (it != blocks_.begin() && joins(std::prev(it), it)) {
      auto prev = std::prev(it);
      forget(prev);
      prev->second.bytes += it->second.bytes;
      blocks_.erase(it);
      it = prev;
    }
    if (auto next = std::next(it); joins(it, next)) {
      forget(next);
      it->second.bytes += next->second.bytes;
      blocks_.erase(next);
    }
    pool.insert({it->second.stream, it->second.bytes, it->first});
    return true;
  }

  void Release() {
    for (const bool small : {false, true}) {
      for (auto it = free_[small].begin(); it != free_[small].end();) {
        const auto [stream, bytes, address] = *it;
        const auto segment = segments_.find(address);
        if (segment == segments_.end() || segment->second != bytes) {
          ++it;
          continue;
        }
        released_.push_back(address);
        reserved_ -= bytes;
        blocks_.erase(address);
        segments_.erase(segment);
        it = free_[small].erase(it);
      }
    }
  }

  uint64_t allocated() const { return allocated_; }
  uint64_t reserved() const { return reserved_; }
  const std::map<uint64_t, Held>& blocks() const { return blocks_; }
  const std::map<uint64_t, uint64_t>& segments() const { return segments_; }
  const std::vector<uint64_t>& released() const { return released_; }

 private:
  bool Fits(uint64_t segment) const {
    return settings_.device_memory_bytes == 0 ||
           reserved_ + segment <= settings_.device_memory_bytes;
  }
  Settings settings_;
  uint64_t next_;
  uint64_t allocated_ = 0, reserved_ = 0;
  std::set<std::tuple<uint32_t, uint64_t, uint64_t>> free_[2];  // [small]: (stream, size, address)
  std::map<uint64_t, Held> blocks_;
  std::map<uint64_t, uint64_t> segments_;
  std::vector<uint64_t> released_;  // addresses of segments, in order
};

}  // namespace vramscope::allocator
