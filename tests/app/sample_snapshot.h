// Makes a CUDA memory snapshot (as JSON) in which every number is known, and runs vramscope on
// it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/process.h"

namespace vramscope::test {

inline constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr uint64_t kBase = 0x7f0000000000;

struct SnapshotOptions {
  int steps = 4;
  bool leak = false;   // every step leaves 3 MiB allocated
  bool hole = false;   // 2 MiB before the leaked blocks are free; no allocator leaves such a hole
  bool oom = false;    // the last allocation does not fit
  bool marks = false;  // every step is a ProfilerStep
  int lines = 0;       // added to the program's line numbers
  uint64_t activation = 2 * kMiB;
};

// Returns a snapshot with a segment of 64 MiB. It contains a parameter of 4 MiB that is older than
// the recording. Every step allocates and frees an activation.
nlohmann::json Snapshot(const SnapshotOptions& options);

class CliRecording : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const SnapshotOptions& options);
  // Returns the program's output, parsed as JSON.
  nlohmann::json Json(const std::vector<std::string>& arguments, int status = 0);

  TemporaryFolder folder_;
};

}  // namespace vramscope::test
