// Reads `.trace` files and streams of frames into a Trace.
//
//   ASSIGN_OR_RETURN(auto trace, ReadTraceFile("run.trace", {}));
//   if (!trace->complete) warn(trace->warnings);   // cut file: everything before the cut is there
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
  std::function<void(double fraction)> progress = {};  // from the calling thread; 0 .. 1
  const std::atomic<bool>* cancel = nullptr;           // set: kCancelled
  uint64_t memory_limit = 0;  // in place of the one by the file's size (MemoryBudget); 0: none
  // Only a part, in time since the first event: what is in memory when it begins comes first, in
  // front of kMarkerRecordingBegin, and what is open then begins with it.
  int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;
  int threads = 0;  // that decode, the calling one included; 0: as the computer has, at most 4
};

// Errors: kNotFound, kPermissionDenied, kInvalidArgument (not a .trace: says what it looks like),
// kCancelled, kOutOfRange (nothing lies in the part), kUnimplemented (newer format version),
// kResourceExhausted (it unpacks to more memory than a file of its size may take, or than there
// is). A cut or damaged file is not an error as long as its header is whole: complete is false and
// warnings say what was lost, where. `path` may be "-" (standard input) and the content gzip or
// zstd.
absl::StatusOr<std::shared_ptr<const Trace>> ReadTraceFile(const std::string& path,
                                                           const ReadOptions& options);
// The same from an input of which `head` has been taken already (to find out what it is).
absl::StatusOr<std::shared_ptr<const Trace>> ReadTrace(InputStream& input, std::string_view head,
                                                       const std::string& path,
                                                       const ReadOptions& options);

// Feeds trace frames (kTraceHeader .. kEnd) into a builder; the worker client uses it too. An error
// (kDataLoss; kUnimplemented for a newer version) leaves what was there before the frame's refused
// part; a batch counts event by event.
class TraceAssembler {
 public:
  TraceAssembler();
  ~TraceAssembler();
  absl::Status Add(const Frame& frame);
  bool ended() const;  // a footer has arrived
  uint64_t events() const;
  std::shared_ptr<const Trace> Snapshot() const;
  // Without a footer: complete = false with `reason`.
  std::shared_ptr<const Trace> Finish(std::string reason_if_incomplete);

  struct Impl;  // assembler.h: shared with ReadTraceFile

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::trace
