// Writes realistic CUDA memory snapshots of any size: training steps of a transformer on the
// allocator model, in the format of Python's pickle (protocol 4). Every entry has one of some
// hundred stacks of 15 to 25 frames. The dictionaries of frames are shared through the memo, and
// each allocation and free has a separate list of frames.
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
