// Reads the Chrome trace of PyTorch's profiler (Kineto's JSON, `export_chrome_trace`) into a
// Recording: `[memory]` and `[OutOfMemory]` become entries, user annotations annotations; kernels,
// copies, operators and modules further events; the operators and Python functions that were
// running the entries' stacks. Streams: no tree is built; strings are kept once.
//
//   ASSIGN_OR_RETURN(auto input, InputStream::Open("trace.json.gz"));
//   ASSIGN_OR_RETURN(recording::Recording r, ReadKineto(*input, {}));
//
// Such a file has no segments and no requested sizes, only blocks. `Total Reserved` becomes one
// expandable segment a device that grows and shrinks with it, at an address where no memory is.
// What `Total Allocated` counts beyond the blocks that are seen is one older block in it, never
// freed. Of the CPU's own memory events only when no other device has any.
//
// A damaged or cut file gives what came before, with a warning. Thread-safe for different inputs;
// callbacks come from the calling thread.
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
  // What the caller has already taken from the input (to find out what it is).
  std::string_view head = {};
  std::function<void(double fraction)> progress = {};  // 0 .. 1, of the file's bytes
  const std::atomic<bool>* cancel = nullptr;           // set: kCancelled
  uint64_t memory_limit =
      0;  // in place of the one by the file's size (trace::MemoryBudget); 0: none
  std::optional<uint8_t> device = {};  // only this one
  // Only memory events of this range: numbers count from the first one of the file, times from its
  // time; both ends are kept. What was made before and lives on joins the older block.
  uint64_t first_entry = 0, last_entry = std::numeric_limits<uint64_t>::max();
  int64_t from_ns = std::numeric_limits<int64_t>::min();
  int64_t to_ns = std::numeric_limits<int64_t>::max();
};

// Errors: kInvalidArgument (JSON, but no Chrome trace; or without memory events: says what to
// record), kOutOfRange (none of them in the part that was asked for), kDataLoss (nothing could be
// read; which byte), kResourceExhausted (more memory than a file of its size may take), kCancelled.
absl::StatusOr<recording::Recording> ReadKineto(trace::InputStream& input,
                                                const KinetoOptions& options);

}  // namespace vramscope::importers
