#include "profiler/replay/difference.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "profiler/base/i18n.h"

namespace vramscope::replay {
namespace {

using allocator::CachingAllocator;

std::string Grouped(uint64_t value) {
  const std::string digits = fmt::format("{}", value);
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

// A block of the model that contains an address.
struct Found {
  CachingAllocator::SnapshotBlock block;
  allocator::Segment segment;
};
std::optional<Found> Find(const CachingAllocator& model, uint64_t address) {
  for (const CachingAllocator::SnapshotSegment& s : model.Snapshot()) {
    if (address < s.segment.address || address - s.segment.address >= s.segment.bytes) continue;
    for (const CachingAllocator::SnapshotBlock& b : s.blocks) {
      if (address - b.block.address < b.block.bytes_rounded) return Found{b, s.segment};
    }
  }
  return std::nullopt;
}

}  // namespace

std::string Bytes(uint64_t bytes) { return Grouped(bytes) + " B"; }

std::string Text(const allocator::Segment& s) {
  return i18n::Format(
      "{}, {} pool, stream {}{}{}", Bytes(s.bytes),
      s.pool == trace::Pool::kSmall ? i18n::Text("small") : i18n::Text("large"), s.stream,
      s.mempool != 0 ? i18n::Format(", private pool {}.{}", s.mempool >> 16, s.mempool & 0xffff)
                     : std::string(),
      s.expandable ? i18n::Text(", expandable") : std::string());
}

std::string CauseOf(const CachingAllocator& model, const run::AllocConf& conf, const Choice& c) {
  const uint64_t size = CachingAllocator::RoundSize(c.bytes, conf);
  const std::string need = i18n::Format("{} are needed", Bytes(size));
  if (c.recorded_asks_driver) {
    return i18n::Format(
        "{}; the replayed allocator takes a cached block at {:#x}, but the recorded allocator "
        "requested memory from the device. In the recording, this block was still in use, was "
        "reserved for larger requests (max_split_size_mb), or belonged to another pool",
        need, c.model.value_or(0));
  }
  const std::optional<Found> at = Find(model, c.recorded);
  if (!at.has_value()) {
    return i18n::Format("{}; in the replay, the recorded address is in no segment", need);
  }
  const allocator::Block& b = at->block.block;
  const std::string asks =
      c.model.has_value()
          ? i18n::Format("the replayed allocator's best fit is at {:#x}", *c.model)
          : i18n::Text(
                "the replayed allocator finds no cached block and requests memory from the device");
  if (at->segment.stream != c.stream || at->segment.mempool != c.mempool) {
    return i18n::Format(
        "{}; {}. In the replay, the recorded address is in a segment of another stream or pool: {}",
        need, asks, Text(at->segment));
  }
  if (at->block.live && !(c.model.has_value() && *c.model == b.address)) {
    return i18n::Format(
        "{}; {}. In the replay, the recorded address is in a block that is in use ({} at {:#x}). "
        "In the recording, this block may be shorter, or the event that frees it may be missing or "
        "too late",
        need, asks, Bytes(b.bytes_rounded), b.address);
  }
  // A live block here can be the new block itself, because CauseOf() runs after the model's
  // allocation.
  if (at->block.live && b.address != c.recorded) {
    return i18n::Format(
        "{}; {}. The recorded address is in the free block that the replay chose, but {} after the "
        "start of this block. The recording may lack the preceding block, or the preceding block "
        "may be larger than recorded",
        need, asks, Bytes(c.recorded - b.address));
  }
  if (b.address != c.recorded && !at->block.live) {
    return i18n::Format(
        "{}; {}. In the replay, the recorded block begins {} after the start of a free block ({} "
        "at {:#x}). The recording may lack the preceding block, or the preceding block may be "
        "larger than recorded",
        need, asks, Bytes(c.recorded - b.address), Bytes(b.bytes_rounded), b.address);
  }
  if (!at->block.live && b.bytes_rounded < size) {
    return i18n::Format(
        "{}; {}. In the replay, the free block at the recorded address has only {}. In the "
        "recording, the memory after that block must have been free too",
        need, asks, Bytes(b.bytes_rounded));
  }
  if (!at->block.live && !at->block.mapped) {
    return i18n::Format("{}; {}. In the replay, no memory is mapped at the recorded address", need,
                        asks);
  }
  if (c.model.has_value()) {
    return i18n::Format(
        "{}; {}, but the recording uses a block of {} at {:#x}. In the recording, the block "
        "that the replay chose may still have been in use by another stream, or may have been "
        "smaller. Other settings may also have rounded the request differently",
        need, asks, Bytes(b.bytes_rounded), b.address);
  }
  return i18n::Format(
      "{}; {}, although {} are free at the recorded address. A setting (max_split_size_mb) forbids "
      "the use of this memory",
      need, asks, Bytes(b.bytes_rounded));
}

std::string CauseOfRetained(const CachingAllocator& model, uint64_t address, uint64_t bytes) {
  uint64_t used = 0;
  std::optional<allocator::Block> first;
  for (const CachingAllocator::SnapshotSegment& s : model.Snapshot()) {
    if (s.segment.address >= address + bytes || s.segment.address + s.segment.bytes <= address) {
      continue;
    }
    for (const CachingAllocator::SnapshotBlock& b : s.blocks) {
      if (!b.live || b.block.address + b.block.bytes_rounded <= address ||
          b.block.address >= address + bytes) {
        continue;
      }
      used += b.block.bytes_rounded;
      if (!first.has_value()) first = b.block;
    }
  }
  if (!first.has_value()) {
    return i18n::Text(
        "in the replay, none of this memory is in use. The recorded allocator released the memory "
        "for another reason (garbage collection or a released pool)");
  }
  return i18n::Format(
      "in the replay, {} of this memory are still in use; the first block in use is at {:#x}",
      Bytes(used), first->address);
}

}  // namespace vramscope::replay
