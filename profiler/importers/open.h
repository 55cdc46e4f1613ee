// Opens files as a Trace: a `.trace`, a CUDA memory snapshot (as pickle, as JSON, or in a page of
// memory_viz), Kineto's Chrome JSON, or a raw memory timeline. Each can be plain, gzip or zstd,
// from a path or "-". The kind is detected by content, not by name.
//
//   ASSIGN_OR_RETURN(auto trace, OpenTraceFile("snapshot.pickle.gz", {}));
//
// Thread-safe; callbacks come from the calling thread.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "profiler/trace/input.h"
#include "profiler/trace/trace.h"

namespace vramscope::importers {

struct OpenOptions {
  std::function<void(double fraction)> progress = {};  // 0 .. 1
  const std::atomic<bool>* cancel = nullptr;           // when true: stops with kCancelled
  // Called with the part read so far, at most a few times a second, while a large recording loads.
  // This part has no labels, and the memory at its start is unknown: draw it, but show no figures.
  std::function<void(std::shared_ptr<const trace::Trace>)> preview = {};
  // Restricts a recording to one device, and to the entries in a range. Steps and phases still come
  // from all devices. Numbers and times count from the first entry of the file (of all devices).
  // Entries before the range determine the start state.
  std::optional<uint8_t> device = {};
  uint64_t first_entry = 0, last_entry = std::numeric_limits<uint64_t>::max();
  int64_t from_ns = std::numeric_limits<int64_t>::min();
  int64_t to_ns = std::numeric_limits<int64_t>::max();
  uint64_t memory_limit =
      0;  // overrides the limit based on the file's size (trace::MemoryBudget); 0: no override
  bool infer = true;  // infer categories, phases and steps if the file has none
};

// Errors: kNotFound, kPermissionDenied; kInvalidArgument (unknown kind of file; the message names
// the format that it seems to have); kOutOfRange (the requested part is empty); kDataLoss (the
// message describes the damage and its byte); kResourceExhausted (needs more memory than allowed
// for a file of its size, or than available); kCancelled. A truncated file is read up to the cut;
// the trace's `complete` is then false.
absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenTraceFile(const std::string& path,
                                                                  const OpenOptions& options);

// Opens an input whose first bytes, `head`, were already read. `path` is used in messages, and to
// open the file again if it is a regular file.
absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenTraceStream(
    std::unique_ptr<trace::InputStream> input, std::string head, const std::string& path,
    const OpenOptions& options);

// Returns whether the file was refused because its pickle imports, calls or builds
// objects, which vramscope never does. Such a pickle is not a snapshot, or is not to be
// trusted.
bool IsRefused(const absl::Status& status);

}  // namespace vramscope::importers
