// Reads the result of torch.cuda.memory._snapshot(), as a pickle (protocols 2 to 5) or as JSON with
// the same keys, into a Recording. The file is read as a stream: entries become columns as soon as
// they are complete, so only the size of the Recording decides how much memory is needed. Nothing
// in a file is executed or imported.
//
//   ASSIGN_OR_RETURN(auto input, InputStream::Open("snapshot.pickle.gz"));
//   ASSIGN_OR_RETURN(recording::Recording r, ReadSnapshot(*input, {}));
//
// Thread-safe for different inputs; callbacks come from the calling thread.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "profiler/recording/recording.h"
#include "profiler/trace/input.h"

namespace vramscope::importers {

struct SnapshotOptions {
  // Bytes that the caller has already read from the input, to detect the kind of file.
  std::string_view head = {};
  std::function<void(double fraction)> progress = {};  // 0 .. 1, share of the file's bytes
  const std::atomic<bool>* cancel = nullptr;           // when true: stops with kCancelled
  // Called a few times a second with the entries, stacks and strings read so far. (Segments and
  // annotations are at the end of the file.) Not called after entries of a second device appear.
  // The reference is valid only during the call.
  std::function<void(const recording::Recording& so_far)> preview = {};
  uint64_t memory_limit =
      0;  // overrides the limit based on the file's size (trace::MemoryBudget); 0: no override
  // Read only entries in this range, both ends included. Numbers and times count from the first
  // entry of the file (all devices, in order of time). The segments are those after the last kept
  // entry.
  uint64_t first_entry = 0, last_entry = std::numeric_limits<uint64_t>::max();
  int64_t from_ns = std::numeric_limits<int64_t>::min();
  int64_t to_ns = std::numeric_limits<int64_t>::max();
  // Opens the same input again. If set, entries outside the range are dropped while the file is
  // read. With several devices, the order of entries is known only at the end of the file. If
  // entries were dropped too early, the file is read again.
  std::function<absl::StatusOr<std::unique_ptr<trace::InputStream>>()> again = {};
};

// Errors name the byte (of the decompressed data) and the problem. kInvalidArgument: intact, but
// not a snapshot; kDataLoss: truncated, damaged, or contains operations that no snapshot needs
// (GLOBAL ...); kResourceExhausted: needs more memory than allowed for a file of its size;
// kCancelled.
absl::StatusOr<recording::Recording> ReadSnapshot(trace::InputStream& input,
                                                  const SnapshotOptions& options);

}  // namespace vramscope::importers
