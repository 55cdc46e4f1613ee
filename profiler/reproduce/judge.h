// Compares predicted figures with published figures, after the runs of an experiment were planned.
//
//   std::vector<RunOutcome> runs = {{"run", absl::OkStatus(), QuantitiesOf(trace)}};
//   const Result result = Judge(experiment, runs);
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/status.h>

#include <optional>
#include <string>
#include <vector>

#include "profiler/reproduce/experiment.h"
#include "profiler/reproduce/quantities.h"

namespace vramscope::reproduce {

struct RunOutcome {
  std::string name;
  absl::Status status;  // if not OK: why the run was not planned
  Quantities quantities;
};

struct FigureResult {
  const Figure* figure = nullptr;
  std::optional<double> predicted;  // the prediction; in bytes if the unit is a unit of memory
  std::string missing;              // why there is no prediction
  std::optional<double> error;      // predicted / target - 1, or `predicted` if the target is 0
  std::optional<bool> within;       // within tolerance and bounds; nullopt: not judged
};

enum class State : uint8_t { kDone, kPartly, kNotRun };

struct Result {
  const Experiment* experiment = nullptr;
  State state = State::kNotRun;
  std::string lacks;  // what this version lacks, if the experiment is not done
  std::vector<FigureResult> figures;
  // Whether all judged figures are within their tolerances and bounds. Figures without a prediction
  // count as outside. nullopt if no figure was judged or the experiment was not run.
  std::optional<bool> within;
  bool has_published() const;  // whether a judged figure has a published number
  const FigureResult* headline() const;
};

Result Judge(const Experiment& experiment, const std::vector<RunOutcome>& runs);

// Counts of experiments and figures. `published`: experiments with a judged, published number.
struct Score {
  int experiments = 0, done = 0, not_run = 0;
  int published = 0, published_within = 0;
  int bounds = 0, bounds_hold = 0;  // judged figures with bounds, and how many are within
};
Score ScoreOf(const std::vector<Result>& results);

}  // namespace vramscope::reproduce
