// Realistic CUDA memory snapshots of any size: training steps of a transformer on the allocator
// model, pickled as Python does (protocol 4): every entry has one of some hundreds of stacks of 15
// to 25 frames, frame dicts are shared through the memo, and each allocation and free has a
// separate list of frames.
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
