// Determines which plans a list of experiments needs. Each configuration is planned once, and those
// that solve for open values come first. The session starts no worker: the caller plans the run
// that Next() returns and passes its trace to Finished(). Several runs can be in progress.
//
//   Session session(experiments, {.pictures = true});
//   while (std::optional<Job> job = session.Next()) session.Finished(job->id, status, trace);
//   for (const Result& r : session.Results()) ...
//
// Next() also returns nullopt while the session waits for runs in progress; call it again after
// Finished(). Not thread-safe.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/reproduce/experiment.h"
#include "profiler/reproduce/judge.h"
#include "profiler/trace/trace.h"

namespace vramscope::reproduce {

struct Job {
  size_t id = 0;
  run::RunConfig config;
  std::string what;  // "A1-vanilla", for progress
};

struct Solved {
  const Open* open = nullptr;
  std::optional<int> value;
  absl::Status status;  // why there is no value
};

struct SessionOptions {
  bool pictures = false;  // keep the memory curve of every run as SVG
  // A device, as in --device (run::ReadDevice), to use in place of the publications' GPUs. Open
  // values are still solved on the published GPUs. No figure is judged, because published figures
  // are for other GPUs.
  std::string device = {};
};

class Session {
 public:
  explicit Session(std::vector<const Experiment*> experiments, SessionOptions options = {});

  std::optional<Job> Next();
  void Finished(size_t id, const absl::Status& status, const trace::Trace* trace);
  bool done() const;
  // The number of finished runs, and the number of runs known to be needed so far.
  size_t finished() const { return finished_; }
  size_t known() const { return runs_.size(); }

  std::vector<Result> Results() const;
  const std::vector<Solved>& solved() const { return solved_; }
  // Returns the settings with which the run was planned or, if its configuration is invalid, the
  // run's settings in the list.
  Settings SettingsOfRun(const ExperimentRun& run) const;
  // Returns a chart of the experiment's first planned run, or "" if no run was planned.
  std::string ChartOf(const Experiment& experiment) const;
  // Returns the configuration of the experiment's first run, with open values inserted, or nullopt
  // if this version cannot run it.
  std::optional<run::RunConfig> Config(const Experiment& experiment) const;

 private:
  enum class RunState : uint8_t { kWaiting, kRunning, kEnded };
  struct PlannedRun {
    run::RunConfig config;
    std::string what;
    RunState state = RunState::kWaiting;
    absl::Status status;
    Quantities quantities;
    std::string svg;
  };
  struct Search {
    size_t solved = 0;  // index in solved_
    const Experiment* experiment = nullptr;
    const Figure* figure = nullptr;
    int low = 1, high = 1;  // bounds of the open value
    std::map<int, double> seen;
    std::optional<size_t> run;  // the run in progress
    int trying = 0;
  };

  absl::StatusOr<run::RunConfig> PlannedAs(const ExperimentRun& run, const Values& open) const;
  size_t Need(const run::RunConfig& config, const std::string& what);
  void Require(const Experiment& experiment);
  Values OpenValues() const;
  bool Resolved(const ExperimentRun& run) const;
  void StartSearch(Search& search);
  void Continue(Search& search);
  void Settle(Search& search, std::optional<int> value, const absl::Status& status);
  std::vector<RunOutcome> Outcomes(const Experiment& experiment, const Values& open) const;

  std::vector<const Experiment*> experiments_;
  SessionOptions options_;
  std::vector<Solved> solved_;
  std::vector<Search> searches_;
  std::vector<PlannedRun> runs_;
  std::map<std::string, size_t> by_config_;  // run.json -> index in runs_
  size_t finished_ = 0;
};

}  // namespace vramscope::reproduce
