// Writes a trace as frames: into a `.trace` file, which appears completely or not at all
// (output_file.h), or into any byte sink (the worker's pipe).
//
//   ASSIGN_OR_RETURN(auto w, TraceWriter::ToFile("run.trace"));
//   w->Begin(info); w->Strings(...); w->Events(...); w->End(true, "");
//   RETURN_IF_ERROR(w->Close());     // an error, e.g. "no space left on ...", keeps the old file
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "profiler/trace/event_sink.h"

namespace vramscope::trace {

class TraceWriter : public EventSink {
 public:
  // Receives encoded bytes in order. If it returns an error, the writing ends, and Close() returns
  // the error.
  using ByteSink = std::function<absl::Status(std::string_view bytes)>;

  // A reader of a part of the file decodes from the last keyframe before the part.
  // `keyframe_events` is the approximate minimum number of events between two keyframes; if there
  // are many live blocks, keyframes are rarer.
  static absl::StatusOr<std::unique_ptr<TraceWriter>> ToFile(
      const std::string& path, uint64_t keyframe_events = kKeyframeEvents);
  static constexpr uint64_t kKeyframeEvents = uint64_t{1} << 20;
  static std::unique_ptr<TraceWriter> ToSink(ByteSink sink);
  // Sends buffered data. (Otherwise, a batch is sent when it is full.)
  virtual void Flush() = 0;
  virtual absl::Status Close() = 0;
};

struct Trace;

struct WriteOptions {
  const std::atomic<bool>* cancel = nullptr;      // set to end with kCancelled; the old file stays
  std::function<void(double fraction)> progress;  // called on the calling thread
};

// Writes a trace in memory to `path`, atomically.
absl::Status WriteTraceFile(const Trace& trace, const std::string& path,
                            const WriteOptions& options = {});

}  // namespace vramscope::trace
