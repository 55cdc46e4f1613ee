// The protocol session of vramscope-worker: reads requests from one file descriptor and writes runs
// to another. It does not depend on LibTorch: the caller supplies the function that executes a run.
//
//   WorkerOptions options{.input = 0, .output = out, .run = ...};
//   return ServeWorker(options);
//
// The caller's thread reads requests, and a second thread executes runs. This makes it possible to
// cancel or replace a run in progress.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <string>
#include <vector>

#include "profiler/run/run_config.h"
#include "profiler/trace/event_sink.h"
#include "trainer/trainer.h"

namespace vramscope::worker {

struct WorkerOptions {
  int input = -1;   // requests are read from here
  int output = -1;  // frames are written to here
  std::string version;
  std::vector<run::Backend> backends;  // the backends that this process offers
  std::function<absl::Status(const run::RunConfig&, trace::EventSink&, const trainer::RunHooks&)>
      run;
  std::function<void()> warm_up;  // called once, on the run thread, after Hello
  // How long shutdown waits for the run in progress to end. After that, the run is abandoned.
  int shutdown_timeout_ms = 5000;
};

// Runs until a shutdown request, the end of the input, or a closed output. Returns the exit status
// for the process: 0, or 3 if the input is not the worker protocol. The thread of a run that did
// not end in time still runs, so the caller must exit with _exit().
int ServeWorker(const WorkerOptions& options);

}  // namespace vramscope::worker
