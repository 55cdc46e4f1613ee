// Published experiments as plain values. An experiment has runs and published figures. A figure has
// a unit, a counter, a tolerance for the prediction, and a reason for the tolerance. The list is in
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

// One run of an experiment. Expressions of figures can use its quantities (quantities.h). Unless
// the run is called "run", the quantities' names begin with the run's name ("sgd_step_ms").
struct ExperimentRun {
  std::string name;
  Settings settings;
};

// A figure of an experiment. Its numbers are in bytes if the unit is a unit of memory.
struct Figure {
  std::string name;                          // "peak_allocated"
  std::string predict;                       // an expression of quantities and terms
  std::optional<estimate::Formula> formula;  // an evaluated formula instead of the expression
  std::string unit;     // as published: GiB, GB (10^9), MiB, B, count, ms, x, event
  std::string counter;  // allocated, reserved, device used, a category, ...
  std::optional<double> published;
  // Used if nothing was published: the result of a Python model of the same program.
  std::optional<double> reference;
  double tolerance = 0;  // relative to the target if `relative`, else absolute
  bool relative = true;
  std::string why;                    // the reason for the tolerance
  std::optional<double> least, most;  // bounds of the prediction
  bool informative = false;           // shown, but not judged
  std::string note;

  double scale() const;  // bytes per unit: 2^30 for GiB; 1 for other units
  // Returns the number to compare the prediction with, or nullopt if there is none. There may be
  // bounds instead.
  std::optional<double> target() const { return published.has_value() ? published : reference; }
};

struct Experiment {
  std::string id;        // "A1-vanilla"
  std::string document;  // letter of its document
  std::string title;
  std::string kind;  // measured, formula, picture, timing, estimate, control, variant, demo, ...
  std::vector<ExperimentRun> runs;  // empty: only formulas
  std::vector<Figure> figures;      // headline() prefers a judged figure with a published number
  std::string note;                 // what the publication omits or states wrongly
  std::string demonstration;        // name of a demonstration (demos.h) in place of runs
  std::string lacks;                // why this version cannot run it; "": unknown
  const Figure* headline() const;
};

// A value that a publication omits. vramscope finds the value with which one published figure is
// met, and uses it for all other figures. Settings refer to it by its name in braces: "{L}".
struct Open {
  std::string name;                // "L"
  std::string what;                // "tokens of the longest micro-batch"
  std::string experiment, figure;  // the published figure that determines the value
  std::string run;                 // the run of that experiment; "": the first
  int low = 1, high = 1;
};

struct Document {
  std::string letter, title, about;
  std::vector<Open> open;
  std::vector<Experiment> experiments;
};

// Returns the compiled-in list of documents. An error means a bug in resources/experiments.
absl::StatusOr<const std::vector<Document>*> Documents();
// Parses one file of the list. Errors name the experiment and the key.
absl::StatusOr<Document> ParseDocument(std::string_view json);

// Open values: pairs of name and value.
using Values = std::vector<std::pair<std::string, int>>;
// Returns the configuration of one run with these open values. kUnimplemented, kInvalidArgument:
// this version lacks the model or a technique; the message names it.
absl::StatusOr<run::RunConfig> ConfigOf(const ExperimentRun& run, const Values& open);
// Returns the settings of the configuration, with open values inserted. Of alternatives such as
// "adam-2023|adam", uses the first that this version supports. An alternative can be empty, as
// after the bar in "before_backward|": it leaves the key out.
absl::StatusOr<Settings> SettingsOf(const ExperimentRun& run, const Values& open);
// Returns the names that are in braces in the run's settings.
std::vector<std::string> OpenNames(const ExperimentRun& run);

}  // namespace vramscope::reproduce
