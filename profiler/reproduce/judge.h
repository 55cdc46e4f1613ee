// Compares predicted with published figures, once an experiment's runs are planned.
//
//   std::vector<RunOutcome> runs = {{"run", QuantitiesOf(trace), absl::OkStatus()}};
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
  absl::Status status;  // why it was not planned
  Quantities quantities;
};

struct FigureResult {
  const Figure* figure = nullptr;
  std::optional<double> predicted;  // in bytes if the unit is a unit of memory
  std::string missing;              // why there is no prediction
  std::optional<double> error;  // predicted / target - 1; for a target of 0 the prediction itself
  std::optional<bool> within;   // nullopt: there is nothing to compare with
};

enum class State : uint8_t { kDone, kPartly, kNotRun };

struct Result {
  const Experiment* experiment = nullptr;
  State state = State::kNotRun;
  std::string lacks;  // what is missing, if not done
  std::vector<FigureResult> figures;
  // Whether all judged figures are within tolerance and bounds; nullopt: none was judged, or the
  // experiment was not run. A judged figure without a prediction counts as outside.
  std::optional<bool> within;
  bool has_published() const;  // has a published number that counts
  const FigureResult* headline() const;
};

Result Judge(const Experiment& experiment, const std::vector<RunOutcome>& runs);

// Summary of the experiments with a published number that is judged.
struct Score {
  int experiments = 0, done = 0, not_run = 0;
  int published = 0, published_within = 0;
  int bounds = 0, bounds_hold = 0;  // figures that are orders or ratios
};
Score ScoreOf(const std::vector<Result>& results);

}  // namespace vramscope::reproduce
