// Published experiments as plain values: the runs, the published figures with their unit and
// counter, and the tolerance of each prediction with its reason. The list is in
// resources/experiments.
//
//   ASSIGN_OR_RETURN(const std::vector<Document>* documents, Documents());
//   for (const Experiment& e : documents->front().experiments) ...
//
// Values only; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/estimate/formula.h"
#include "profiler/run/run_config.h"

namespace vramscope::reproduce {

using Settings = std::vector<std::pair<std::string, std::string>>;  // as for --set

// One run of an experiment. Expressions of figures use its quantities (quantities.h) as terms:
// those of the run named "run" by their own names, those of other runs with the run's name as
// prefix ("sgd_step_ms").
struct ExperimentRun {
  std::string name;
  Settings settings;
};

// A figure of an experiment. Its numbers are in bytes if the unit is a unit of memory.
struct Figure {
  std::string name;                          // "peak_allocated"
  std::string predict;                       // an expression of quantities and terms
  std::optional<estimate::Formula> formula;  // replaces the expression; already evaluated
  std::string unit;     // published unit: GiB, GB (10^9), MiB, B, count, ms, x, event
  std::string counter;  // allocated, reserved, device used, a category, ...
  std::optional<double> published;
  // The result of a Python model of the same program, where nothing was published.
  std::optional<double> reference;
  double tolerance = 0;  // absolute, or relative to the number if `relative`
  bool relative = true;
  std::string why;                    // the reason for the tolerance
  std::optional<double> least, most;  // bounds of the prediction, for orders and ratios
  bool informative = false;           // shown, but not judged
  std::string note;

  double scale() const;  // of the unit: 2^30 for GiB
  // The number that the prediction is compared with; nullopt: there are only bounds, or nothing.
  std::optional<double> target() const { return published.has_value() ? published : reference; }
};

struct Experiment {
  std::string id;        // "A1-vanilla"
  std::string document;  // letter of its document
  std::string title;
  std::string kind;  // measured, formula, picture, timing, estimate, control, variant, demo, ...
  std::vector<ExperimentRun> runs;  // empty: only formulas
  std::vector<Figure> figures;      // the first one with a target is the headline
  std::string note;                 // what the publication leaves open or states wrongly
  std::string demonstration;        // replaces the runs: a name from demos.h
  std::string lacks;  // why this version cannot run it; "": it can, unless a setting is unknown
  const Figure* headline() const;
};

// A value that a publication leaves open. It is computed from one of its figures and then kept for
// all others. Settings refer to it by its name in braces: "{L}".
struct Open {
  std::string name;                // "L"
  std::string what;                // "tokens of the longest micro-batch"
  std::string experiment, figure;  // the figure that it is computed from
  std::string run;                 // run of the experiment; "": the first
  int low = 1, high = 1;
};

struct Document {
  std::string letter, title, about;
  std::vector<Open> open;
  std::vector<Experiment> experiments;
};

// The compiled-in list, in order. An error is a bug in resources/experiments.
absl::StatusOr<const std::vector<Document>*> Documents();
// Parses one file of the list. Errors name the experiment and the key.
absl::StatusOr<Document> ParseDocument(std::string_view json);

// The configuration of one run with its open values. kUnimplemented, kInvalidArgument: this version
// lacks the model or a technique; the message names it.
using Values = std::vector<std::pair<std::string, int>>;
absl::StatusOr<run::RunConfig> ConfigOf(const ExperimentRun& run, const Values& open);
// The settings of the configuration: open values are inserted, and for alternatives such as
// "adam-2023|adam" the first one that this version supports is used ("before_backward|": the key is
// left out if this version lacks the value).
absl::StatusOr<Settings> SettingsOf(const ExperimentRun& run, const Values& open);
// The names in braces in the run's settings.
std::vector<std::string> OpenNames(const ExperimentRun& run);

}  // namespace vramscope::reproduce
