#include "trainer/backends/cuda/block_sizes.h"

#include <iterator>

#include "profiler/allocator/rules.h"

namespace vramscope::trainer::cuda {

void BlockSizes::OnSegment(uint64_t address, uint64_t bytes, trace::Pool pool, bool expandable) {
  const auto [piece, fresh] = pieces_.try_emplace(address);
  piece->second = {.bytes = bytes, .pool = pool, .used = false, .begins_segment = true};
  if (expandable && piece != pieces_.begin()) {
    const auto before = std::prev(piece);
    piece->second.begins_segment = before->first + before->second.bytes != address;
  }
  Join(piece);
}

void BlockSizes::OnSegmentGone(uint64_t address, uint64_t bytes) {
  auto piece = pieces_.upper_bound(address);
  if (piece == pieces_.begin()) return;
  --piece;
  if (piece->second.used || piece->first + piece->second.bytes < address + bytes) return;
  const uint64_t rest = piece->first + piece->second.bytes - (address + bytes);
  const trace::Pool pool = piece->second.pool;
  if (piece->first == address) {
    pieces_.erase(piece);
  } else {
    piece->second.bytes = address - piece->first;
  }
  if (rest > 0) pieces_[address + bytes] = {rest, pool, false, true};
}

BlockSizes::Block BlockSizes::OnAlloc(uint64_t address, uint64_t bytes_requested) {
  const uint64_t rounded = allocator::RoundSize(bytes_requested, conf_);
  const auto piece = pieces_.find(address);
  if (piece == pieces_.end() || piece->second.used || piece->second.bytes < rounded) {
    return {rounded, allocator::PoolOf(rounded)};
  }
  Piece& block = piece->second;
  const uint64_t rest = block.bytes - rounded;
  if (allocator::Splits(rounded, rest, block.pool, conf_)) {
    pieces_.emplace_hint(std::next(piece), address + rounded,
                         Piece{rest, block.pool, false, false});
    block.bytes = rounded;
  }
  block.used = true;
  return {block.bytes, block.pool};
}

void BlockSizes::OnFree(uint64_t address) {
  const auto piece = pieces_.find(address);
  if (piece == pieces_.end()) return;
  piece->second.used = false;
  Join(piece);
}

// Merges a free piece with the free pieces directly before and after it.
void BlockSizes::Join(Pieces::iterator piece) {
  const auto join = [&](Pieces::iterator first, Pieces::iterator second) {
    if (first->second.used || second->second.used || second->second.begins_segment ||
        first->first + first->second.bytes != second->first) {
      return false;
    }
    first->second.bytes += second->second.bytes;
    pieces_.erase(second);
    return true;
  };
  if (const auto next = std::next(piece); next != pieces_.end()) join(piece, next);
  if (piece != pieces_.begin()) join(std::prev(piece), piece);
}

}  // namespace vramscope::trainer::cuda
