// Reads the Chrome trace of PyTorch's profiler (Kineto's JSON, `export_chrome_trace`) into a
// Recording: `[memory]` and `[OutOfMemory]` become entries, and user annotations become
// annotations. Kernels, memcpys, operators and modules become other events. An entry's stack
// consists of the operators and Python functions running at its time. The file is read as a stream,
// without building a tree.
//
//   ASSIGN_OR_RETURN(auto input, InputStream::Open("trace.json.gz"));
//   ASSIGN_OR_RETURN(recording::Recording r, ReadKineto(*input, {}));
//
// Such a file contains blocks, but no segments and no requested sizes. `Total Reserved` becomes one
// expandable segment per device, at an unused address. The segment grows and shrinks with the
// total. If `Total Allocated` exceeds the recorded blocks, the rest becomes one block in this
// segment. This block is never freed. Memory events of the CPU are used only if no other device has
// memory events.
//
// For a damaged or truncated file the part before the damage is returned, with a warning.
// Thread-safe for different inputs; callbacks come from the calling thread.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>

#include "profiler/recording/recording.h"
#include "profiler/trace/input.h"

namespace vramscope::importers {

struct KinetoOptions {
  // Bytes that the caller has already read from the input, to detect the kind of file.
  std::string_view head = {};
  std::function<void(double fraction)> progress = {};  // 0 .. 1, share of the file's bytes
  const std::atomic<bool>* cancel = nullptr;           // when true: stops with kCancelled
  uint64_t memory_limit =
      0;  // overrides the limit based on the file's size (trace::MemoryBudget); 0: no override
  // Read only memory events in this range, both ends included. Numbers and times count from the
  // first memory event of the file. Blocks that are already live when the range begins are added to
  // the block for the rest (see above).
  uint64_t first_entry = 0, last_entry = std::numeric_limits<uint64_t>::max();
  int64_t from_ns = std::numeric_limits<int64_t>::min();
  int64_t to_ns = std::numeric_limits<int64_t>::max();
};

// Errors: kInvalidArgument (JSON, but not a Chrome trace, or without memory events; the message
// states what to record), kOutOfRange (the requested part has no memory events), kDataLoss (nothing
// could be read; the message names the byte), kResourceExhausted (needs more memory than allowed
// for a file of its size), kCancelled.
absl::StatusOr<recording::Recording> ReadKineto(trace::InputStream& input,
                                                const KinetoOptions& options);

}  // namespace vramscope::importers
