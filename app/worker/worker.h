// vramscope-worker's conversation: requests in, runs out, over two file descriptors. Knows nothing
// of LibTorch: what a run is, the caller passes in.
//
//   WorkerOptions options{.input = 0, .output = out, .run = ...};
//   return ServeWorker(options);
//
// Two threads: the caller's reads requests, another one runs; so a cancel or a newer run is heard
// in the middle of a run.
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
  int input = -1;   // requests are read here
  int output = -1;  // frames are written here
  std::string version;
  std::vector<run::Backend> backends;  // what this process offers
  std::function<absl::Status(const run::RunConfig&, trace::EventSink&, const trainer::RunHooks&)>
      run;
  std::function<void()> warm_up;  // called once, on the run thread, after Hello
  // How long a run may take to notice that everything ends, before it is left behind.
  int shutdown_timeout_ms = 5000;
};

// Until shutdown, end of input or a closed output. Returns the process's exit status: 0, or 3 when
// the input is not the worker protocol. When a run did not end in time the second thread is still
// alive: leave with _exit().
int ServeWorker(const WorkerOptions& options);

}  // namespace vramscope::worker
