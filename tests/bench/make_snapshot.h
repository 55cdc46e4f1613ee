// Realistic CUDA memory snapshots of any size: training steps of a transformer on the allocator
// model, pickled as Python does (protocol 4): a stack of 15 to 25 frames for every entry, from some
// hundreds of distinct ones, frame dicts shared through the memo, a list of frames of its own for
// each allocation and each free.
//
//   RETURN_IF_ERROR(WriteSnapshot({.events = 1'000'000}, "big.pickle"));
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string>

namespace vramscope::bench {

struct SnapshotSize {
  uint64_t events = 10'000;
  uint64_t seed = 1;
  uint32_t layers = 24;
  uint32_t stacks = 500;
};

absl::Status WriteSnapshot(const SnapshotSize& size, const std::string& path);

}  // namespace vramscope::bench
