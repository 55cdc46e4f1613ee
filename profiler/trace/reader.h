// Reads `.trace` files and streams of frames into a Trace.
//
//   ASSIGN_OR_RETURN(auto trace, ReadTraceFile("run.trace", {}));
//   if (!trace->complete) warn(trace->warnings);   // only the data before a cut was read
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "profiler/trace/frame.h"
#include "profiler/trace/input.h"
#include "profiler/trace/trace.h"

namespace vramscope::trace {

struct ReadOptions {
  std::function<void(double fraction)> progress = {};  // 0 .. 1; called on the calling thread
  const std::atomic<bool>* cancel = nullptr;           // set it to end with kCancelled
  // If not 0: used instead of the limit that MemoryBudget derives from the file's size.
  uint64_t memory_limit = 0;
  // Restricts reading to a time range, relative to the first event. The trace then starts with the
  // memory in use at the beginning of the range, followed by kMarkerRecordingBegin and the begin
  // events of the slices that are open at this time.
  int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;
  // The number of decoding threads, including the calling one; 0 means one per CPU, at most 4.
  int threads = 0;
};

// Errors: kNotFound, kPermissionDenied, kInvalidArgument (not a .trace; names the format that it
// seems to have), kCancelled, kOutOfRange (the range contains nothing), kUnimplemented (newer
// format version), kResourceExhausted (needs more memory than is allowed for a file of its size, or
// than is available). A cut or damaged file is not an error if its header is whole: the trace's
// `complete` is then false, and its warnings say what was lost and where. `path` may be "-"
// (standard input). The content may be compressed with gzip or zstd.
absl::StatusOr<std::shared_ptr<const Trace>> ReadTraceFile(const std::string& path,
                                                           const ReadOptions& options);
// As above, for an input whose first bytes (`head`) were already read to find its format.
absl::StatusOr<std::shared_ptr<const Trace>> ReadTrace(InputStream& input, std::string_view head,
                                                       const std::string& path,
                                                       const ReadOptions& options);

// Builds a trace from its frames (kTraceHeader .. kEnd). The worker client uses this class, too.
// After an error (kDataLoss; kUnimplemented for a newer version), the trace has everything before
// the refused part of the frame: if an event is refused, the earlier events of its batch are kept.
class TraceAssembler {
 public:
  TraceAssembler();
  ~TraceAssembler();
  absl::Status Add(const Frame& frame);
  bool ended() const;  // whether a footer has arrived
  uint64_t events() const;
  std::shared_ptr<const Trace> Snapshot() const;
  // If no footer has arrived, marks the trace as incomplete, with the reason as its end message.
  std::shared_ptr<const Trace> Finish(std::string reason_if_incomplete);

  struct Impl;  // assembler.h: shared with ReadTraceFile

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::trace
