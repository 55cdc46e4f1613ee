// Reads what torch.cuda.memory._snapshot() gives, as a pickle (protocols 2 to 5) or as JSON with
// the same keys, into a Recording. Streams: events become columns as soon as they are complete, so
// that memory follows the Recording, not the file. Nothing in a file is executed or imported.
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
  // What the caller has already taken from the input (to find out what it is).
  std::string_view head = {};
  std::function<void(double fraction)> progress = {};  // 0 .. 1, of the file's bytes
  const std::atomic<bool>* cancel = nullptr;           // set: kCancelled
  // What has been read so far, a few times a second: entries, stacks and strings; no segments and
  // no annotations yet (they are of the end). Not called any more once entries of a second device
  // come. The reference is valid during the call.
  std::function<void(const recording::Recording& so_far)> preview = {};
  uint64_t memory_limit =
      0;  // in place of the one by the file's size (trace::MemoryBudget); 0: none
  std::optional<uint8_t> device = {};  // only this one
  // Only entries of this range: numbers count from the first entry of the file (all devices, in
  // time order), times from its time; both ends are kept. Segments are those at the last entry
  // kept.
  uint64_t first_entry = 0, last_entry = std::numeric_limits<uint64_t>::max();
  int64_t from_ns = std::numeric_limits<int64_t>::min();
  int64_t to_ns = std::numeric_limits<int64_t>::max();
  // The same input from its beginning. Given, entries outside the range are dropped as they come;
  // should that turn out to be too early (several devices, whose order is known at the end only),
  // the file is read a second time.
  std::function<absl::StatusOr<std::unique_ptr<trace::InputStream>>()> again = {};
};

// Errors say the byte (of the decompressed data) and what is wrong there. kInvalidArgument: whole,
// but not a snapshot; kDataLoss: cut, damaged, or it asks for what no snapshot needs (GLOBAL ...);
// kResourceExhausted: it would take more memory than a file of its size may; kCancelled.
absl::StatusOr<recording::Recording> ReadSnapshot(trace::InputStream& input,
                                                  const SnapshotOptions& options);

}  // namespace vramscope::importers
