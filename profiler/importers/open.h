// Opens whatever people have as a Trace: `.trace`, a CUDA memory snapshot (pickle, JSON, or a page
// of memory_viz that holds one), Kineto's Chrome JSON, a raw memory timeline; each plain, gzip or
// zstd, from a path or "-". By content, not by name.
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
  const std::atomic<bool>* cancel = nullptr;           // set: kCancelled
  // While a large recording loads: what has been read so far, not yet labelled, its start state not
  // yet known. At most a few times a second; for a picture, not for numbers.
  std::function<void(std::shared_ptr<const trace::Trace>)> preview = {};
  // Of recordings: only this device; only entries of this range (numbers count from the first entry
  // of the file, times from its first entry). What comes before shows up as the start state.
  std::optional<uint8_t> device = {};
  uint64_t first_entry = 0, last_entry = std::numeric_limits<uint64_t>::max();
  int64_t from_ns = std::numeric_limits<int64_t>::min();
  int64_t to_ns = std::numeric_limits<int64_t>::max();
  uint64_t memory_limit =
      0;              // in place of the one by the file's size (trace::MemoryBudget); 0: none
  bool infer = true;  // categories, phases and steps of files that carry none
};

// Errors: kNotFound, kPermissionDenied; kInvalidArgument (not a file of any kind that is read: says
// what it looks like); kOutOfRange (nothing lies in the part that was asked for); kDataLoss (what
// is wrong at which byte); kResourceExhausted (would need more memory than a file of its size may,
// or than there is); kCancelled. A file that is cut gives what is whole of it: a trace that is not
// `complete`.
absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenTraceFile(const std::string& path,
                                                                  const OpenOptions& options);

// The same of an input that is open already, of which `head` was taken. `path` names it, and is
// opened again only where it is a regular file.
absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenTraceStream(
    std::unique_ptr<trace::InputStream> input, std::string head, const std::string& path,
    const OpenOptions& options);

// Whether such an error is that the file would have a reader import, call or build something, which
// nothing here ever does: a pickle that is no snapshot, or none to be trusted.
bool IsRefused(const absl::Status& status);

}  // namespace vramscope::importers
