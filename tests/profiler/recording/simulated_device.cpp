#include "tests/profiler/recording/simulated_device.h"

#include <algorithm>
#include <bit>

namespace vramscope::recording {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kReserved = uint64_t{1} << 36;  // addresses of an expandable segment

uint64_t Up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

SimulatedDevice::SimulatedDevice(uint8_t number, const run::AllocConf& conf, uint32_t seed)
    // All devices use the same addresses, so only the device's number distinguishes blocks.
    : number_(number), conf_(conf), rng_(seed), next_address_(0x7f0000000000) {}

uint64_t SimulatedDevice::Rounded(uint64_t requested) const {
  const uint64_t plain = std::max<uint64_t>(512, Up(requested, 512));
  const int power = std::bit_width(requested) - 1;
  const uint32_t divisions = conf_.roundup_power2_divisions[std::clamp(power - 20, 0, 15)];
  if (divisions <= 1 || requested <= 512ull * divisions) return plain;
  uint64_t next = uint64_t{1} << power;
  while (next < requested) next += (uint64_t{1} << power) / divisions;
  return next;
}

uint64_t SimulatedDevice::Page(trace::Pool pool) const {
  return pool == trace::Pool::kSmall ? 2 * kMiB : 20 * kMiB;
}

void SimulatedDevice::Record(EntryTable& e, Action action, uint64_t address, uint64_t bytes,
                             uint32_t stream) {
  e.action.push_back(action);
  e.address.push_back(address);
  e.bytes.push_back(bytes);
  e.time_ns.push_back((e.time_ns.empty() ? 0 : e.time_ns.back()) + 1000 * (rng_() % 3));
  e.stack.push_back({});
  e.stream.push_back(stream);
  e.device.push_back(number_);
}

void SimulatedDevice::Act(EntryTable& entries) {
  const uint64_t dice = Random(1000);
  if (dice < 4) return EmptyCache(entries);
  std::vector<BlockMap::iterator> live, pending;
  for (auto b = blocks_.begin(); b != blocks_.end(); ++b) {
    if (b->second.live && !b->second.pending) live.push_back(b);
    if (b->second.pending) pending.push_back(b);
  }
  if (!pending.empty() && dice < 300) return Complete(entries, pending[Random(pending.size())]);
  if (!live.empty() && dice < 300 + 6 * std::min<size_t>(live.size(), 80))
    return Free(entries, live[Random(live.size())]);
  static constexpr uint64_t kMost[] = {2000, 400'000, 3 * kMiB, 12 * kMiB, 60 * kMiB};
  Malloc(entries, 1 + Random(kMost[Random(5)]), Random(4) == 0 ? 1 : 0);
}

void SimulatedDevice::Malloc(EntryTable& entries, uint64_t requested, uint32_t stream) {
  const uint64_t rounded = Rounded(requested);
  const trace::Pool pool = rounded <= kMiB ? trace::Pool::kSmall : trace::Pool::kLarge;
  auto best = blocks_.end();
  for (auto b = blocks_.begin(); b != blocks_.end(); ++b) {
    const Segment& s = segments_.at(b->second.segment);
    const uint64_t bytes = b->second.bytes;
    if (b->second.live || s.stream != stream || s.pool != pool || bytes < rounded) continue;
    if (best == blocks_.end() || bytes < best->second.bytes) best = b;
  }
  if (best != blocks_.end()) {
    const uint64_t bytes = best->second.bytes;
    if (rounded < conf_.max_split_size && bytes >= conf_.max_split_size) best = blocks_.end();
    if (rounded >= conf_.max_split_size && bytes >= rounded + conf_.max_non_split_rounding)
      best = blocks_.end();
  }
  if (best == blocks_.end()) {
    best = conf_.expandable_segments ? Map(entries, rounded, stream, pool)
                                     : FromDriver(entries, rounded, stream, pool);
  }
  Block& block = best->second;
  const uint64_t rest = block.bytes - rounded;
  const bool split = pool == trace::Pool::kSmall || conf_.expandable_segments
                         ? rest >= 512
                         : rounded < conf_.max_split_size && rest > kMiB;
  if (split) {
    const uint64_t address = block.address + rounded;
    blocks_[address] = {.address = address, .bytes = rest, .segment = block.segment};
    block.bytes = rounded;
  }
  block.live = true;
  block.requested = requested;
  Record(entries, Action::kAlloc, block.address, requested, stream);
  handed_out_.push_back(block.bytes);
}

SimulatedDevice::BlockMap::iterator SimulatedDevice::FromDriver(EntryTable& entries,
                                                                uint64_t rounded, uint32_t stream,
                                                                trace::Pool pool) {
  const uint64_t bytes = rounded <= kMiB       ? 2 * kMiB
                         : rounded < 10 * kMiB ? 20 * kMiB
                                               : Up(rounded, 2 * kMiB);
  // Places the segment in the lowest hole that is large enough, so that addresses are reused.
  uint64_t address = next_address_;
  for (const auto& [begin, s] : segments_) {
    if (begin - address >= bytes) break;
    address = begin + s.bytes;
  }
  segments_[address] = {bytes, stream, pool};
  Record(entries, Action::kSegmentAlloc, address, bytes, stream);
  return blocks_.emplace(address, Block{.address = address, .bytes = bytes, .segment = address})
      .first;
}

// Maps memory for the block at the first place in the expandable segment of the stream and pool.
// Returns the new block.
SimulatedDevice::BlockMap::iterator SimulatedDevice::Map(EntryTable& entries, uint64_t rounded,
                                                         uint32_t stream, trace::Pool pool) {
  auto segment = std::find_if(segments_.begin(), segments_.end(), [&](const auto& s) {
    return s.second.stream == stream && s.second.pool == pool;
  });
  if (segment == segments_.end()) {
    segment = segments_.emplace(next_address_, Segment{kReserved, stream, pool}).first;
    next_address_ += kReserved;
  }
  const uint64_t first = segment->first, page = Page(pool);
  for (uint64_t at = first;; at += page) {
    // If a free block ends here, the place begins with it.
    uint64_t begin = at;
    auto before = blocks_.lower_bound(at);
    if (before != blocks_.begin()) {
      --before;
      const Block& b = before->second;
      if (b.address >= first && b.address + b.bytes > at) continue;  // mapped
      if (b.address >= first && b.address + b.bytes == at && !b.live) begin = b.address;
    }
    const auto after = blocks_.lower_bound(at);
    const uint64_t limit =
        after != blocks_.end() && after->first < first + kReserved ? after->first : ~0ull;
    const uint64_t end = at + Up(rounded - (at - begin), page);
    if (end > limit) continue;
    Record(entries, Action::kSegmentMap, at, end - at, stream);
    const auto made =
        blocks_.emplace(at, Block{.address = at, .bytes = end - at, .segment = first}).first;
    return Merge(made);
  }
}

SimulatedDevice::BlockMap::iterator SimulatedDevice::Merge(BlockMap::iterator block) {
  const auto next = std::next(block);
  if (next != blocks_.end() && !next->second.live &&
      next->second.segment == block->second.segment &&
      next->first == block->first + block->second.bytes) {
    block->second.bytes += next->second.bytes;
    blocks_.erase(next);
  }
  if (block == blocks_.begin()) return block;
  const auto before = std::prev(block);
  if (before->second.live || before->second.segment != block->second.segment ||
      before->first + before->second.bytes != block->first)
    return block;
  before->second.bytes += block->second.bytes;
  blocks_.erase(block);
  return before;
}

void SimulatedDevice::Free(EntryTable& entries, BlockMap::iterator block) {
  Block& b = block->second;
  Record(entries, Action::kFreeRequested, b.address, b.requested, segments_.at(b.segment).stream);
  b.pending = true;
  if (Random(5) != 0) Complete(entries, block);
}

void SimulatedDevice::Complete(EntryTable& entries, BlockMap::iterator block) {
  Block& b = block->second;
  Record(entries, Action::kFreeCompleted, b.address, b.requested, segments_.at(b.segment).stream);
  b.live = b.pending = false;
  b.requested = 0;
  Merge(block);
}

void SimulatedDevice::EmptyCache(EntryTable& entries) {
  for (auto b = blocks_.begin(); b != blocks_.end();) {
    const Block block = b->second;
    const Segment segment = segments_.at(block.segment);
    const auto here = b++;
    if (block.live) continue;
    if (!conf_.expandable_segments) {
      if (block.bytes != segment.bytes) continue;
      Record(entries, Action::kSegmentFree, block.address, block.bytes, segment.stream);
      segments_.erase(block.segment);
      blocks_.erase(here);
      continue;
    }
    const uint64_t page = Page(segment.pool);
    const uint64_t begin = block.segment + Up(block.address - block.segment, page);
    const uint64_t end =
        block.segment + (block.address + block.bytes - block.segment) / page * page;
    if (begin >= end) continue;
    Record(entries, Action::kSegmentUnmap, begin, end - begin, segment.stream);
    blocks_.erase(here);
    const uint64_t last = block.address + block.bytes;
    if (block.address < begin)
      blocks_[block.address] = {
          .address = block.address, .bytes = begin - block.address, .segment = block.segment};
    if (end < last) blocks_[end] = {.address = end, .bytes = last - end, .segment = block.segment};
  }
}

std::vector<SegmentState> SimulatedDevice::Snapshot() const {
  std::vector<SegmentState> out;
  for (const auto& [address, b] : blocks_) {
    const Segment& s = segments_.at(b.segment);
    // A snapshot lists each contiguous range of an expandable segment as a segment of its own.
    if (out.empty() || out.back().address + out.back().bytes != address ||
        (!conf_.expandable_segments && address == b.segment) ||
        (conf_.expandable_segments && segments_.count(address) > 0))
      out.push_back({.address = address,
                     .stream = s.stream,
                     .device = number_,
                     .pool = s.pool,
                     .expandable = conf_.expandable_segments});
    out.back().bytes += b.bytes;
    out.back().blocks.push_back({.address = address,
                                 .bytes = b.bytes,
                                 .requested = b.requested,
                                 .use = b.pending ? BlockUse::kPendingFree
                                        : b.live  ? BlockUse::kAllocated
                                                  : BlockUse::kInactive});
  }
  return out;
}

Simulated Simulate(const run::AllocConf& conf, uint32_t seed, int devices, uint32_t entries,
                   uint32_t lost) {
  Simulated out;
  std::vector<SimulatedDevice> all;
  for (int d = 0; d < devices; ++d) all.emplace_back(static_cast<uint8_t>(d), conf, seed + 77 * d);
  std::mt19937_64 rng(seed);
  const auto act = [&](EntryTable& table) {
    SimulatedDevice& device = all[rng() % all.size()];
    const size_t before = device.handed_out().size();
    device.Act(table);
    for (size_t i = before; i < device.handed_out().size(); ++i)
      out.handed_out.push_back(device.handed_out()[i]);
  };
  EntryTable before;
  while (before.size() < lost) act(before);
  out.handed_out.clear();
  for (const SimulatedDevice& device : all) {
    const std::vector<SegmentState> now = device.Snapshot();
    out.start.insert(out.start.end(), now.begin(), now.end());
    for (const auto& [address, b] : device.blocks())
      if (b.live) out.older.emplace_back(now.empty() ? 0 : now.front().device, b);
  }
  Recording& r = out.recording;
  r.streams = {0, 1};
  r.has_segments = true;
  r.alloc_conf = run::ToString(conf);
  while (r.entries.size() < entries) act(r.entries);
  for (const SimulatedDevice& device : all) {
    const std::vector<SegmentState> now = device.Snapshot();
    r.segments.insert(r.segments.end(), now.begin(), now.end());
  }
  return out;
}

}  // namespace vramscope::recording
