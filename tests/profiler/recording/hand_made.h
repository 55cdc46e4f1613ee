// Functions for small handwritten recordings.
#pragma once

#include <cstdint>
#include <utility>

#include "profiler/recording/recording.h"

namespace vramscope::recording {

inline constexpr uint64_t kMiB = uint64_t{1} << 20;

inline void Add(Recording& r, Action action, uint64_t address, uint64_t bytes, int64_t time_ns,
                uint32_t stack = 0) {
  r.entries.action.push_back(action);
  r.entries.address.push_back(address);
  r.entries.bytes.push_back(bytes);
  r.entries.time_ns.push_back(time_ns);
  r.entries.stack.push_back({stack});
  r.entries.stream.push_back(0);
}

inline BlockState Live(uint64_t address, uint64_t bytes, uint64_t requested) {
  return {.address = address, .bytes = bytes, .requested = requested, .use = BlockUse::kAllocated};
}

inline SegmentState LargeSegment(uint64_t address, uint64_t bytes, std::vector<BlockState> blocks) {
  return {
      .address = address, .bytes = bytes, .pool = trace::Pool::kLarge, .blocks = std::move(blocks)};
}

inline Labels NoLabels(const History& h) {
  Labels labels;
  const size_t n = h.allocations.size();
  labels.category.resize(n);
  labels.rule.resize(n);
  labels.op.resize(n);
  labels.module.resize(n);
  return labels;
}

}  // namespace vramscope::recording
