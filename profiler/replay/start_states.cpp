#include "profiler/replay/start_states.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "profiler/base/hash_map.h"

namespace vramscope::replay {
namespace {

using allocator::Block;
using allocator::CachingAllocator;

void Multiply(StartStates::Count& count, uint64_t by) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  count.log10 += std::log10(static_cast<double>(by));
  if (!count.states.has_value()) return;
  if (*count.states != 0 && by > kMost / *count.states) {
    count.states.reset();
  } else {
    *count.states *= by;
  }
}

}  // namespace

StartStates::StartStates(const trace::Trace& t, trace::EventIndex begin, const RecordedState& state,
                         const run::AllocConf& conf)
    : conf_(conf) {
  base::HashSet<uint64_t> freed;  // addresses of older blocks that are freed in the recording
  const trace::AllocationTable& a = t.allocations;
  for (uint32_t row = 0; row < a.size() && a.alloc_event[row] < begin; ++row) {
    if (a.free_event[row] != trace::kNoEvent && a.free_event[row] >= begin) {
      freed.insert(a.address[row]);
    }
  }
  for (const CachingAllocator::SnapshotSegment& s : state.segments) {
    if (s.segment.expandable || s.segment.pool != trace::Pool::kLarge) continue;
    for (size_t i = 0; i + 1 < s.blocks.size(); ++i) {
      const Block& b = s.blocks[i].block;
      const uint64_t behind = s.blocks[i + 1].block.bytes_rounded;
      // Considers only blocks before a free block. If free space is at most kMostTail, it is a tail
      // instead, because the large pool splits off only larger blocks.
      if (!s.blocks[i].live || s.blocks[i + 1].live || behind <= kMostTail ||
          !freed.contains(b.address)) {
        continue;
      }
      const uint64_t rounded = CachingAllocator::RoundSize(b.bytes_requested, conf);
      if (b.bytes_rounded != rounded || rounded >= conf.max_split_size) continue;
      Tail tail{.address = b.address,
                .rounded = rounded,
                .stream = s.segment.stream,
                .mempool = s.segment.mempool,
                .allowed = {}};
      const uint64_t most = std::min(kMostTail, behind - kMostTail - kStep);
      for (uint64_t bytes = 0; bytes <= most; bytes += kStep) tail.allowed.set(bytes / kStep);
      Multiply(tried_, tail.allowed.count());
      open_.push_back(static_cast<uint32_t>(tails_.size()));
      tails_.push_back(tail);
    }
  }
}

bool StartStates::SetTail(CachingAllocator& model, Tail& tail, uint64_t bytes) {
  if (!model.Resize(tail.address, tail.rounded + bytes).ok()) return false;
  tail.bytes = bytes;
  return true;
}

// Changes one tail to make the model choose another block. Returns false if no tail allows this.
bool StartStates::ExplainBy(CachingAllocator& model, const std::optional<Block>& choice,
                            std::optional<uint64_t> recorded, uint64_t size, uint32_t stream,
                            uint32_t mempool) {
  for (const uint32_t row : open_) {
    Tail& tail = tails_[row];
    if (tail.stream != stream || tail.mempool != mempool) continue;
    // Case 1: the recorded block begins where this tail ends.
    if (recorded.has_value() && *recorded >= tail.end() && *recorded - tail.end() <= kMostTail &&
        (*recorded - tail.end()) % kStep == 0) {
      const uint64_t bytes = *recorded - tail.end();
      if (bytes != tail.bytes && tail.allowed.test(bytes / kStep)) {
        return SetTail(model, tail, bytes);
      }
    }
    // Case 2: a larger tail makes the chosen free block after it smaller than the request.
    if (choice.has_value() && choice->address == tail.end() + tail.bytes) {
      const uint64_t room = choice->bytes_rounded + tail.bytes;
      for (uint64_t bytes = (room - size) / kStep * kStep + kStep; bytes <= kMostTail;
           bytes += kStep) {
        if (tail.allowed.test(bytes / kStep)) return SetTail(model, tail, bytes);
      }
    }
  }
  return false;
}

void StartStates::Weigh(CachingAllocator& model, uint64_t bytes, uint32_t stream, uint32_t mempool,
                        std::optional<uint64_t> recorded) {
  const uint64_t size = CachingAllocator::RoundSize(bytes, conf_);
  if (size <= kMostTail) return;  // served by the small pool
  std::optional<Block> choice = model.BestFit(bytes, stream, mempool);
  const auto agrees = [&] {
    return choice.has_value() ? recorded.has_value() && choice->address == *recorded
                              : !recorded.has_value();
  };
  for (int i = 0; !agrees() && i < 1000; ++i) {
    if (!ExplainBy(model, choice, recorded, size, stream, mempool)) return;
    choice = model.BestFit(bytes, stream, mempool);
  }
  if (!agrees()) return;
  for (size_t i = 0; i < open_.size();) {
    Tail& tail = tails_[open_[i]];
    if (tail.stream != stream || tail.mempool != mempool) {
      ++i;
      continue;
    }
    const std::optional<Block> behind = model.FreeBehind(tail.address);
    if (!behind.has_value()) {
      ++i;
      continue;
    }
    if (recorded.has_value() && behind->address == *recorded) {
      tail.allowed.reset();
      tail.allowed.set(tail.bytes / kStep);
      open_.erase(open_.begin() + static_cast<ptrdiff_t>(i));
      continue;
    }
    // Excludes each tail with which the free block would be large enough, and would be preferred to
    // the chosen block.
    const uint64_t room = behind->bytes_rounded + tail.bytes;
    if (room >= size) {
      const uint64_t most = std::min(kMostTail, room - size);
      for (uint64_t b = 0; b <= most; b += kStep) {
        const uint64_t left = room - b;
        const bool first = !choice.has_value() || left < choice->bytes_rounded ||
                           (left == choice->bytes_rounded && tail.end() + b < choice->address);
        const bool oversize = left >= conf_.max_split_size && size < conf_.max_split_size;
        if (first && !oversize) tail.allowed.reset(b / kStep);
      }
    }
    ++i;
  }
}

void StartStates::Forget(uint64_t address) {
  for (size_t i = 0; i < open_.size(); ++i) {
    if (tails_[open_[i]].address != address) continue;
    open_.erase(open_.begin() + static_cast<ptrdiff_t>(i));
    return;
  }
}

uint64_t StartStates::inferred() const {
  uint64_t n = 0;
  for (const Tail& tail : tails_) n += tail.allowed.any() && !tail.allowed.test(0);
  return n;
}

StartStates::Count StartStates::consistent() const {
  for (const Tail& tail : tails_) {
    if (tail.allowed.none()) return {.states = 0};
  }
  Count count{.states = 1};
  for (const Tail& tail : tails_) Multiply(count, tail.allowed.count());
  return count;
}

}  // namespace vramscope::replay
