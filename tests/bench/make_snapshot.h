// Writes realistic CUDA memory snapshots of any size: training steps of a transformer on the
// allocator model, in the format of Python's pickle (protocol 4). Each entry has one of several
// hundred stacks of 15 to 25 frames. Each allocation and free has its own list of frames. The
// dictionaries in these lists are shared through the memo of the pickle.
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
