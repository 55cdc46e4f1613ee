// One run in vramscope-worker, from the command line: waits for its end, shows progress, lets
// Ctrl-C cancel it. Creates the Qt Core application that the worker client's event loop needs.
#pragma once

#include <absl/status/status.h>

#include <memory>
#include <string>

#include "profiler/run/run_config.h"
#include "profiler/trace/trace.h"

namespace vramscope::cli {

struct WorkerRun {
  absl::Status status;  // kCancelled after Ctrl-C; kUnavailable when the worker died
  std::shared_ptr<const trace::Trace> trace;  // what arrived; may be null
  double seconds = 0;                         // wall time, the worker's start included
  double worker_seconds = 0;                  // of the run alone
};
WorkerRun RunInWorker(const run::RunConfig& config);

struct WorkerProbe {
  std::string program;  // empty: none found
  bool started = false;
  std::string version;
  std::string error;
};
// Starts the worker and waits for its greeting.
WorkerProbe ProbeWorker();

}  // namespace vramscope::cli
