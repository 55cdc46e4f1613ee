// Runs one configuration in vramscope-worker from the command line: waits until the run ends, shows
// progress, and cancels the run on Ctrl-C. Creates the Qt Core application that the worker
// client's event loop needs.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/run/run_config.h"
#include "profiler/trace/trace.h"

namespace vramscope::cli {

struct WorkerRun {
  absl::Status status;  // kCancelled after Ctrl-C; kUnavailable when the worker died
  std::shared_ptr<const trace::Trace> trace;  // the part that was received; may be null
  double seconds = 0;                         // wall time, including the start of the worker
  double worker_seconds = 0;                  // wall time of the run only
};
// `arguments` are additional arguments for the worker.
WorkerRun RunInWorker(const run::RunConfig& config, const std::vector<std::string>& arguments = {});

// Plans many runs, two at a time if there are enough processors. The workers are started once and
// keep running between runs.
class Planner {
 public:
  explicit Planner(int workers = 2);
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  struct Job {
    size_t id = 0;
    run::RunConfig config;
  };
  struct Progress {
    double share = 0;
    std::string text;
  };
  // Runs the jobs that `next` returns until there are no more; `finished` may add jobs. Returns
  // kCancelled after Ctrl-C, kUnavailable without a worker, and OK even if runs failed.
  absl::Status Drain(const std::function<std::optional<Job>()>& next,
                     const std::function<void(size_t id, const WorkerRun&)>& finished,
                     const std::function<Progress()>& progress);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct WorkerProbe {
  std::string program;  // empty: not found
  bool started = false;
  std::string version;
  std::string error;
};
// Starts the worker and waits for its first message.
WorkerProbe ProbeWorker();

}  // namespace vramscope::cli
