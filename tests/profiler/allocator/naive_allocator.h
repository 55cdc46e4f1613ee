// The caching allocator in its simplest form, with a std::set of the free blocks of all streams and
// a std::map of blocks by address. Follows c10/cuda/CUDACachingAllocator.cpp step by step and uses
// its terms. The property tests and the benchmark compare the real model with it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "profiler/allocator/caching_allocator.h"

namespace vramscope::allocator {

// A call of the driver, a completed free or a failed allocation.
struct DriverEvent {
  enum Kind { kAlloc, kFree, kMap, kUnmap, kCompleted, kOutOfMemory } kind;
  uint64_t address = 0, bytes = 0;
  friend bool operator==(const DriverEvent&, const DriverEvent&) = default;
};

class NaiveAllocator {
 public:
  enum State { kFree, kLive, kPending, kUnmapped };
  struct BlockInfo {
    uint64_t bytes = 0;
    State state = kFree;
    uint64_t segment = 0;
    uint32_t stream = 0;
    bool small = false;
    uint32_t mempool = 0;
    uint64_t requested = 0;
    uint64_t since = 0;  // number of searches of the pool when the block became free
  };

  explicit NaiveAllocator(Settings settings)
      : settings_(std::move(settings)), conf_(settings_.conf), next_(settings_.first_address) {
    total_ = settings_.device_total_bytes    ? settings_.device_total_bytes
             : settings_.device_memory_bytes ? settings_.device_memory_bytes
                                             : uint64_t{256} << 30;
    has_fraction_ = conf_.memory_fraction > 0 && conf_.memory_fraction < 1;
    if (has_fraction_) allowed_ = static_cast<uint64_t>(conf_.memory_fraction * total_);
  }

  // Returns the block's address and size, or nullopt if there is not enough memory.
  std::optional<std::pair<uint64_t, uint64_t>> Malloc(uint64_t bytes, uint32_t stream,
                                                      uint32_t mempool = 0) {
    const uint64_t size = Round(bytes);
    const bool small = size <= kMiB;
    Pool& pool = pools_[mempool];
    if (has_fraction_ && conf_.garbage_collection_threshold > 0) ++pool.searches[small];
    const Request r{size, stream, small, mempool};
    std::optional<uint64_t> address = Search(r);
    const bool cached = address.has_value();
    if (!address && has_fraction_ && conf_.garbage_collection_threshold > 0) CollectGarbage();
    if (!address) address = AllocateSegment(r, false);
    if (!address && ReleaseAvailable(r)) address = AllocateSegment(r, false);
    if (!address && mempool == 0) {
      Release();
      address = AllocateSegment(r, false);
    }
    if (address && !cached) over_limit_ = false;
    if (!address) {
      if (!settings_.grant_over_limit || !over_limit_) {
        log_.push_back({DriverEvent::kOutOfMemory, 0, bytes});
      }
      if (!settings_.grant_over_limit) return std::nullopt;
      over_limit_ = true;
      address = AllocateSegment(r, true);
    }
    BlockInfo& b = blocks_[*address];
    const uint64_t rest = b.bytes - size;
    if (small || conf_.expandable_segments ? rest >= 512
                                           : size < conf_.max_split_size && rest > kMiB) {
      blocks_[*address + size] = {rest, kFree, b.segment, stream, small, mempool};
      Insert(*address + size);
      b.bytes = size;
    }
    b.state = kLive;
    b.requested = bytes;
    allocated_ += b.bytes;
    return std::pair(*address, b.bytes);
  }

  bool Free(uint64_t address) {
    auto it = blocks_.find(address);
    if (it == blocks_.end() || it->second.state != kLive) return false;
    if (used_elsewhere_.count(address)) return RequestFree(address);
    Complete(it);
    return true;
  }
  bool RequestFree(uint64_t address) {
    auto it = blocks_.find(address);
    if (it == blocks_.end() || it->second.state != kLive) return false;
    it->second.state = kPending;
    used_elsewhere_.erase(address);
    pending_.push_back(address);
    return true;
  }
  bool CompleteFree(uint64_t address) {
    auto it = blocks_.find(address);
    if (it == blocks_.end() || it->second.state != kPending) return false;
    pending_.erase(std::find(pending_.begin(), pending_.end(), address));
    Complete(it);
    return true;
  }
  void RecordStream(uint64_t address, uint32_t stream) {
    if (stream != blocks_.at(address).stream) used_elsewhere_.insert(address);
  }

  void Release() {
    for (const uint64_t address : std::exchange(pending_, {})) {
      log_.push_back({DriverEvent::kCompleted, address, blocks_.at(address).bytes});
      Complete(blocks_.find(address));
    }
    for (auto& [id, pool] : pools_) {
      if (id != 0 && !pool.released) continue;
      for (const bool small : {id != 0, id == 0}) ReleasePart(pool, small);
    }
  }
  void ReleasePool(uint32_t mempool) { pools_[mempool].released = true; }

  uint64_t allocated() const { return allocated_; }
  uint64_t reserved() const { return reserved_; }
  const std::map<uint64_t, BlockInfo>& blocks() const { return blocks_; }
  const std::vector<DriverEvent>& log() const { return log_; }

 private:
  static constexpr uint64_t kMiB = 1 << 20;
  using Key = std::tuple<uint32_t, uint64_t, uint64_t>;  // (stream, size, address)
  struct Pool {
    std::set<Key> free[2];  // [small]
    std::set<std::pair<uint32_t, uint64_t>> unmapped[2];
    uint64_t searches[2] = {0, 0};
    bool released = false;
  };
  struct Range {
    uint64_t bytes = 0, page = 0;  // page 0: not expandable
  };
  struct Request {
    uint64_t size;
    uint32_t stream;
    bool small;
    uint32_t mempool;
  };
  using BlockIt = std::map<uint64_t, BlockInfo>::iterator;

  static uint64_t Up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

  uint64_t Round(uint64_t bytes) const {
    if (bytes <= 512) return 512;
    int log = 0;
    while (bytes >> (log + 1)) ++log;
    const uint64_t d = conf_.roundup_power2_divisions[log < 20 ? 0 : log > 35 ? 15 : log - 20];
    if (d <= 1 || bytes <= 512 * d) return Up(bytes, 512);
    // Rounds up to one of d equal steps between two powers of two.
    for (uint64_t k = 0;; ++k) {
      const uint64_t step = (uint64_t{1} << log) + k * ((uint64_t{1} << log) / d);
      if (step >= bytes) return step;
    }
  }
  uint64_t SegmentSize(const Request& r) const {
    return r.small              ? 2 * kMiB
           : r.size < 10 * kMiB ? conf_.large_segment_size
                                : Up(r.size, 2 * kMiB);
  }
  bool Expandable(uint64_t block) const { return segments_.at(blocks_.at(block).segment).page; }
  bool Fits(uint64_t bytes) const {
    return settings_.device_memory_bytes == 0 || reserved_ + bytes <= settings_.device_memory_bytes;
  }
  // Returns the preceding block of the same segment, or end().
  BlockIt Before(BlockIt it) {
    if (it == blocks_.begin()) return blocks_.end();
    auto p = std::prev(it);
    return p->second.segment == it->second.segment ? p : blocks_.end();
  }
  BlockIt After(BlockIt it) {
    auto n = std::next(it);
    return n != blocks_.end() && n->second.segment == it->second.segment ? n : blocks_.end();
  }
  bool Whole(uint64_t block) {
    auto it = blocks_.find(block);
    return Before(it) == blocks_.end() && After(it) == blocks_.end();
  }

  void Insert(uint64_t address) {
    BlockInfo& b = blocks_.at(address);
    Pool& pool = pools_[b.mempool];
    if (b.state == kUnmapped) {
      pool.unmapped[b.small].insert({b.stream, address});
    } else {
      b.state = kFree;
      b.since = pool.searches[b.small];
      pool.free[b.small].insert({b.stream, b.bytes, address});
    }
  }
  void Remove(uint64_t address) {
    const BlockInfo& b = blocks_.at(address);
    Pool& pool = pools_[b.mempool];
    if (b.state == kUnmapped) {
      pool.unmapped[b.small].erase({b.stream, address});
    } else {
      pool.free[b.small].erase({b.stream, b.bytes, address});
    }
  }
  // Merges the block with neighbours in the same state, then inserts the result into the set of
  // that state. Before the call, the block must not be in a set.
  uint64_t MergeAndInsert(BlockIt it) {
    if (auto p = Before(it); p != blocks_.end() && p->second.state == it->second.state) {
      Remove(p->first);
      p->second.bytes += it->second.bytes;
      blocks_.erase(it);
      it = p;
    }
    if (auto n = After(it); n != blocks_.end() && n->second.state == it->second.state) {
      Remove(n->first);
      it->second.bytes += n->second.bytes;
      blocks_.erase(n);
    }
    Insert(it->first);
    return it->first;
  }
  void Complete(BlockIt it) {
    allocated_ -= it->second.bytes;
    it->second.state = kFree;
    it->second.requested = 0;
    MergeAndInsert(it);
  }

  std::optional<uint64_t> Search(const Request& r) {
    auto& set = pools_[r.mempool].free[r.small];
    auto it = set.lower_bound({r.stream, r.size, 0});
    const auto ours = [&](auto i) { return i != set.end() && std::get<0>(*i) == r.stream; };
    if (!ours(it)) return std::nullopt;
    if (Expandable(std::get<2>(*it))) {
      if (conf_.expandable_segments) {
        const auto room = [this](const Key& key) {
          auto b = blocks_.find(std::get<2>(key));
          auto n = After(b);
          const bool grows = n != blocks_.end() && n->second.state == kUnmapped;
          return b->second.bytes + (grows ? n->second.bytes : 0);
        };
        for (auto n = std::next(it);
             Expandable(std::get<2>(*it)) && ours(n) && room(*n) < room(*it); ++n) {
          it = n;
        }
      } else {
        while (ours(it) && Expandable(std::get<2>(*it))) ++it;
        if (!ours(it)) return std::nullopt;
      }
    }
    const auto [stream, bytes, address] = *it;
    if (r.size < conf_.max_split_size && bytes >= conf_.max_split_size) return std::nullopt;
    if (r.size >= conf_.max_split_size && bytes - r.size >= conf_.max_non_split_rounding)
      return std::nullopt;
    set.erase(it);
    return address;
  }

  std::optional<uint64_t> AllocateSegment(const Request& r, bool forced) {
    const uint64_t bytes = SegmentSize(r);
    if (!forced && has_fraction_ && reserved_ + bytes > allowed_) return std::nullopt;
    if (conf_.expandable_segments) return Grow(r, forced);
    if (!forced && !Fits(bytes)) return std::nullopt;
    const uint64_t address = next_;
    next_ += Up(bytes, 2 * kMiB);
    reserved_ += bytes;
    blocks_[address] = {bytes, kFree, address, r.stream, r.small, r.mempool};
    segments_[address] = {bytes, 0};
    log_.push_back({DriverEvent::kAlloc, address, bytes});
    return address;
  }

  std::optional<uint64_t> Grow(const Request& r, bool forced) {
    uint64_t at = FindRoom(r);
    if (blocks_.at(at).state == kUnmapped) {
      const std::optional<uint64_t> mapped =
          Map(at, std::min(blocks_.at(at).bytes, r.size), forced);
      if (!mapped) return std::nullopt;
      at = *mapped;
    }
    while (blocks_.at(at).bytes < r.size) {
      const auto next = After(blocks_.find(at));
      const std::optional<uint64_t> mapped =
          Map(next->first, std::min(r.size - blocks_.at(at).bytes, next->second.bytes), forced);
      if (!mapped) return std::nullopt;
      at = *mapped;
    }
    Remove(at);
    return at;
  }
  uint64_t FindRoom(const Request& r) {
    for (const auto& [stream, address] : pools_[r.mempool].unmapped[r.small]) {
      if (stream != r.stream) continue;
      auto it = blocks_.find(address);
      if (auto p = Before(it); p != blocks_.end() && p->second.state == kFree) it = p;
      uint64_t bytes = 0;
      for (auto n = it; n != blocks_.end() && bytes < r.size; n = After(n)) {
        if (n->second.state != kFree && n->second.state != kUnmapped) break;
        bytes += n->second.bytes;
      }
      if (bytes >= r.size) return it->first;
    }
    const uint64_t page = r.small ? 2 * kMiB : conf_.large_segment_size;
    const uint64_t bytes = Up(std::max(total_ + total_ / 8, r.size), page);
    const uint64_t address = next_;
    next_ += Up(bytes, 2 * kMiB);
    segments_[address] = {bytes, page};
    blocks_[address] = {bytes, kUnmapped, address, r.stream, r.small, r.mempool};
    Insert(address);
    log_.push_back({DriverEvent::kAlloc, address, bytes});
    return address;
  }
  std::optional<uint64_t> Map(uint64_t at, uint64_t bytes, bool forced) {
    auto it = blocks_.find(at);
    const uint64_t mapped = Up(bytes, segments_.at(it->second.segment).page);
    if (!forced && !Fits(mapped)) return std::nullopt;
    Remove(at);
    if (it->second.bytes > mapped) {
      BlockInfo rest = it->second;
      rest.bytes -= mapped;
      blocks_[at + mapped] = rest;
      Insert(at + mapped);
      it->second.bytes = mapped;
    }
    it->second.state = kFree;
    reserved_ += mapped;
    log_.push_back({DriverEvent::kMap, at, mapped});
    return MergeAndInsert(it);
  }

  void ReleaseWhole(uint64_t address) {
    const BlockInfo b = blocks_.at(address);
    Remove(address);
    reserved_ -= b.bytes;
    blocks_.erase(address);
    segments_.erase(address);
    log_.push_back({DriverEvent::kFree, address, b.bytes});
  }
  void ReleasePart(Pool& pool, bool small) {
    std::vector<uint64_t> pages;
    for (const auto& [stream, bytes, address] : std::set<Key>(pool.free[small])) {
      if (Expandable(address)) {
        pages.push_back(address);
      } else if (Whole(address)) {
        ReleaseWhole(address);
      }
    }
    for (uint64_t address : pages) Unmap(address);
  }
  void Unmap(uint64_t address) {
    const BlockInfo b = blocks_.at(address);
    const Range range = segments_.at(b.segment);
    const uint64_t begin = b.segment + Up(address - b.segment, range.page);
    const uint64_t end = b.segment + (address + b.bytes - b.segment) / range.page * range.page;
    if (begin >= end) return;
    Remove(address);
    blocks_.erase(address);
    const auto piece = [&](uint64_t from, uint64_t to) {
      BlockInfo h = b;
      h.bytes = to - from;
      blocks_[from] = h;
      Insert(from);
    };
    if (address < begin) piece(address, begin);
    if (end < address + b.bytes) piece(end, address + b.bytes);
    blocks_[begin] = b;
    blocks_[begin].bytes = end - begin;
    blocks_[begin].state = kUnmapped;
    const uint64_t merged = MergeAndInsert(blocks_.find(begin));
    reserved_ -= end - begin;
    log_.push_back({DriverEvent::kUnmap, begin, end - begin});
    if (!Whole(merged)) return;
    Remove(merged);
    blocks_.erase(merged);
    segments_.erase(merged);
    log_.push_back({DriverEvent::kFree, merged, range.bytes});
  }

  bool ReleaseAvailable(const Request& r) {
    if (conf_.max_split_size == run::AllocConf::kNoMaxSplit) return false;
    auto& set = pools_[r.mempool].free[r.small];
    const uint64_t needed = std::max(r.size, conf_.max_split_size);
    std::vector<Key> ours;  // blocks of the stream, ascending
    for (const Key& key : set) {
      if (std::get<0>(key) == r.stream) ours.push_back(key);
    }
    auto it = std::find_if(ours.begin(), ours.end(),
                           [&](const Key& key) { return std::get<1>(key) >= needed; });
    if (it != ours.end() && !Expandable(std::get<2>(*it))) {
      ReleaseWhole(std::get<2>(*it));
      return true;
    }
    uint64_t released = 0;
    while (it != ours.begin() && released < needed) {
      --it;
      if (std::get<1>(*it) < conf_.max_split_size) break;
      if (Expandable(std::get<2>(*it))) continue;
      released += std::get<1>(*it);
      ReleaseWhole(std::get<2>(*it));
    }
    return released >= needed;
  }

  void CollectGarbage() {
    const auto threshold =
        static_cast<uint64_t>(conf_.garbage_collection_threshold * static_cast<double>(allowed_));
    if (reserved_ <= threshold) return;
    const uint64_t target = reserved_ - threshold;
    Pool& pool = pools_[0];
    const auto age = [&](uint64_t address) {
      return static_cast<double>(pool.searches[false] - blocks_.at(address).since);
    };
    double total = 0;
    int count = 0;
    for (const auto& [stream, bytes, address] : pool.free[false]) {
      if (Whole(address)) total += age(address), ++count;
    }
    uint64_t reclaimed = 0;
    bool freed = true;
    while (reclaimed < target && freed && count > 0) {
      const double average = total / count;
      freed = false;
      for (const auto& [stream, bytes, address] : std::set<Key>(pool.free[false])) {
        if (!Whole(address) || Expandable(address) || age(address) < average) continue;
        freed = true;
        reclaimed += bytes;
        total -= age(address);
        --count;
        ReleaseWhole(address);
      }
    }
  }

  Settings settings_;
  run::AllocConf conf_;
  uint64_t next_, total_ = 0, allowed_ = 0;
  bool has_fraction_ = false, over_limit_ = false;
  uint64_t allocated_ = 0, reserved_ = 0;
  std::map<uint32_t, Pool> pools_;  // keyed by mempool
  std::map<uint64_t, BlockInfo> blocks_;
  std::map<uint64_t, Range> segments_;
  std::vector<uint64_t> pending_;
  std::set<uint64_t> used_elsewhere_;
  std::vector<DriverEvent> log_;
};

}  // namespace vramscope::allocator
