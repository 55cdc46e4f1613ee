#include "profiler/replay/difference.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

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

// The model's block that contains an address.
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
  return fmt::format("{}, {} pool, stream {}{}{}", Bytes(s.bytes),
                     s.pool == trace::Pool::kSmall ? "small" : "large", s.stream,
                     s.mempool != 0
                         ? fmt::format(", private pool {}.{}", s.mempool >> 16, s.mempool & 0xffff)
                         : std::string(),
                     s.expandable ? ", expandable" : "");
}

std::string CauseOf(const CachingAllocator& model, const run::AllocConf& conf, const Choice& c) {
  const uint64_t size = CachingAllocator::RoundSize(c.bytes, conf);
  const std::string need = fmt::format("{} are needed", Bytes(size));
  if (c.recorded_asks_driver) {
    return fmt::format(
        "{}; the model has them cached at {:#x}. The recording asks the device: there the block "
        "was "
        "still in use, is kept for larger requests (max_split_size_mb), or belongs to another pool",
        need, c.model.value_or(0));
  }
  const std::optional<Found> at = Find(model, c.recorded);
  if (!at.has_value()) {
    return fmt::format("{}; the recorded address lies in no segment of the model", need);
  }
  const allocator::Block& b = at->block.block;
  const std::string asks = c.model.has_value()
                               ? fmt::format("the model's best fit is at {:#x}", *c.model)
                               : std::string("the model finds no cached block and asks the device");
  if (at->segment.stream != c.stream || at->segment.mempool != c.mempool) {
    return fmt::format("{}; {}. The recorded one is in a segment of {}", need, asks,
                       Text(at->segment));
  }
  if (at->block.live && !(c.model.has_value() && *c.model == b.address)) {
    return fmt::format(
        "{}; {}. At the recorded address the model has a block in use ({} at {:#x}): its free is "
        "missing or late in the recording, or it ends earlier there",
        need, asks, Bytes(b.bytes_rounded), b.address);
  }
  // The model has already allocated its block.
  if (at->block.live && b.address != c.recorded) {
    return fmt::format(
        "{}; {}. The recorded one begins {} behind it, in what was one free block of the model: "
        "something in front of the recorded one is not in the recording, or has a tail that is not "
        "stated",
        need, asks, Bytes(c.recorded - b.address));
  }
  if (b.address != c.recorded && !at->block.live) {
    return fmt::format(
        "{}; {}. The recorded one begins {} into a free block of the model ({} at {:#x}): "
        "something "
        "in front of it is not in the recording, or has a tail that is not stated",
        need, asks, Bytes(c.recorded - b.address), Bytes(b.bytes_rounded), b.address);
  }
  if (!at->block.live && b.bytes_rounded < size) {
    return fmt::format(
        "{}; {}. Where the recorded one begins the model has only {} free: what lies behind must "
        "have been free too",
        need, asks, Bytes(b.bytes_rounded));
  }
  if (!at->block.live && !at->block.mapped) {
    return fmt::format("{}; {}. The recorded address has no memory in the model", need, asks);
  }
  if (c.model.has_value()) {
    return fmt::format(
        "{}; {}, the recorded one takes {} at {:#x}. The smaller one was not free in the recording "
        "(another stream held it back), or smaller than it seems (a tail that is not stated), or "
        "other settings round the request differently",
        need, asks, Bytes(b.bytes_rounded), b.address);
  }
  return fmt::format(
      "{}; {}, though the recorded one has {} free: settings forbid it to be used "
      "(max_split_size_mb)",
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
    return "nothing is in use there in the model: it was called for under other conditions "
           "(garbage collection, a pool that was given up)";
  }
  return fmt::format("in the model {} are in use there, the first at {:#x}", Bytes(used),
                     first->address);
}

}  // namespace vramscope::replay
