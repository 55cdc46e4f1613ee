// Plans what a list of experiments needs: each configuration once, what a publication leaves open
// solved for first. It starts nothing itself: whoever has a worker asks for the next run and brings
// its trace, several at a time if it likes.
//
//   Session session(experiments, {.pictures = true});
//   while (std::optional<Job> job = session.Next()) session.Finished(job->id, status, trace);
//   for (const Result& r : session.Results()) ...
//
// Next() is empty as well while it waits for runs that are under way: ask again after Finished().
// Not thread-safe.
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
  absl::Status status;  // why there is none
};

struct SessionOptions {
  bool pictures = false;  // keep the memory curve of every run as SVG
  // As --device takes it (run::ReadDevice): in place of the publications' GPUs. What they leave
  // open is still solved for on theirs, and no figure is judged: published ones are of theirs.
  std::string device = {};
};

class Session {
 public:
  explicit Session(std::vector<const Experiment*> experiments, SessionOptions options = {});

  std::optional<Job> Next();
  void Finished(size_t id, const absl::Status& status, const trace::Trace* trace);
  bool done() const;
  // Runs that have ended, and those that are known to be needed by now.
  size_t finished() const { return finished_; }
  size_t known() const { return runs_.size(); }

  std::vector<Result> Results() const;
  const std::vector<Solved>& solved() const { return solved_; }
  // As they were set; those of the list where they can't be.
  Settings SettingsOfRun(const ExperimentRun& run) const;
  // Of the experiment's first run that was planned; "" when there is none.
  std::string ChartOf(const Experiment& experiment) const;
  // The configuration of its first run, open values put in; nullopt: this version lacks it.
  std::optional<run::RunConfig> Config(const Experiment& experiment) const;

 private:
  enum class RunState : uint8_t { kWaiting, kRunning, kEnded };
  struct PlannedRun {
    run::RunConfig config;
    std::string what;
    RunState state = RunState::kWaiting;
    absl::Status status;
    Quantities quantities;
    std::string picture;
  };
  struct Search {
    size_t solved = 0;  // row of solved_
    const Experiment* experiment = nullptr;
    const Figure* figure = nullptr;
    int low = 1, high = 1;  // the answer is between them
    std::map<int, double> seen;
    std::optional<size_t> run;  // under way
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
  std::map<std::string, size_t> by_config_;  // run.json -> row of runs_
  size_t finished_ = 0;
};

}  // namespace vramscope::reproduce
