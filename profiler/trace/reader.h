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

#include "profiler/trace/frame.h"
#include "profiler/trace/trace.h"

namespace vramscope::trace {

struct ReadOptions {
  std::function<void(double fraction)> progress;      // from the reading thread
  const std::atomic<bool>* cancel = nullptr;          // set: kCancelled
};

// Errors: kNotFound, kPermissionDenied, kInvalidArgument (not a .trace: says what it looks like),
// kCancelled, kUnimplemented (newer format version). A cut or damaged file is not an error as long
// as its header is whole: complete is false and warnings say what was lost, where.
absl::StatusOr<std::shared_ptr<const Trace>> ReadTraceFile(const std::string& path,
                                                           const ReadOptions& options);

// Feeds trace frames (kTraceHeader .. kFooter) into a builder; the worker client uses it too.
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

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::trace
