// One run in vramscope-worker, from the command line: waits for its end, shows progress, lets
// Ctrl-C cancel it. Creates the Qt Core application that the worker client's event loop needs.
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
  std::shared_ptr<const trace::Trace> trace;  // what arrived; may be null
  double seconds = 0;                         // wall time, the worker's start included
  double worker_seconds = 0;                  // of the run alone
};
// `arguments` are the worker's, beside those that it always has.
WorkerRun RunInWorker(const run::RunConfig& config, const std::vector<std::string>& arguments = {});

// Many runs, on workers that stay warm between them: two side by side where there are processors.
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
  // Asks for jobs until there are none and none is under way; `finished` may make new ones.
  // kCancelled after Ctrl-C, kUnavailable without a worker; a run that fails is its job's result.
  absl::Status Drain(const std::function<std::optional<Job>()>& next,
                     const std::function<void(size_t id, const WorkerRun&)>& finished,
                     const std::function<Progress()>& progress);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct WorkerProbe {
  std::string program;  // empty: none found
  bool started = false;
  std::string version;
  std::string error;
};
// Starts the worker and waits for its greeting.
WorkerProbe ProbeWorker();

}  // namespace vramscope::cli
