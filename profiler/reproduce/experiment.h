// Published experiments as plain values: what was run, what was published of it, in which unit and
// under which counter, how near a prediction must come and why. The list is resources/experiments.
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

using Settings = std::vector<std::pair<std::string, std::string>>;  // as --set takes them

// One run of an experiment. Its quantities (quantities.h) are terms of the figures' expressions:
// those of the run named "run" by their own names, of another one behind its name ("sgd_step_ms").
struct ExperimentRun {
  std::string name;
  Settings settings;
};

// A number of an experiment. Numbers are in bytes where the unit is one of memory.
struct Figure {
  std::string name;                          // "peak_allocated"
  std::string predict;                       // an expression over quantities and terms
  std::optional<estimate::Formula> formula;  // in place of the expression: evaluated already
  std::string unit;     // as published: GiB, GB (10^9), MiB, B, count, ms, x, event
  std::string counter;  // allocated, reserved, device used, a category, ...
  std::optional<double> published;
  // What a model of the same program in Python gave, where nothing was published.
  std::optional<double> reference;
  double tolerance = 0;  // absolute, or a share of the number where `relative`
  bool relative = true;
  std::string why;                    // where the tolerance is from
  std::optional<double> least, most;  // of the prediction: orders and ratios that must hold
  bool informative = false;           // shown, not judged
  std::string note;

  double scale() const;  // of the unit: 2^30 for GiB
  // What the prediction is held against; nullopt: only bounds, or nothing.
  std::optional<double> target() const { return published.has_value() ? published : reference; }
};

struct Experiment {
  std::string id;        // "A1-vanilla"
  std::string document;  // its letter
  std::string title;
  std::string kind;  // measured, formula, picture, timing, estimate, control, variant, demo, ...
  std::vector<ExperimentRun> runs;  // empty: formulas alone
  std::vector<Figure> figures;      // the first that has a target is the headline
  std::string note;                 // what the publication leaves open or has wrong
  std::string demonstration;        // in place of runs: a name of demos.h
  std::string lacks;  // why this version cannot run it; "": it can, as far as its settings can
  const Figure* headline() const;
};

// What a publication leaves open: solved for from one of its figures, held fixed for all others. A
// setting names it in braces: "{L}".
struct Open {
  std::string name;                // "L"
  std::string what;                // "tokens of the longest micro-batch"
  std::string experiment, figure;  // it is solved for from these
  std::string run;                 // of the experiment's, "": its first one
  int low = 1, high = 1;
};

struct Document {
  std::string letter, title, about;
  std::vector<Open> open;
  std::vector<Experiment> experiments;
};

// The compiled-in list, in its order. An error is a mistake in resources/experiments.
absl::StatusOr<const std::vector<Document>*> Documents();
// One file of it. Errors name the experiment and the key.
absl::StatusOr<Document> ParseDocument(std::string_view json);

// The configuration of one run, with the open values put in. kUnimplemented, kInvalidArgument: this
// version lacks the model or a technique; the message says which.
using Values = std::vector<std::pair<std::string, int>>;
absl::StatusOr<run::RunConfig> ConfigOf(const ExperimentRun& run, const Values& open);
// The settings that it is made from: open values put in, and of "adam-2023|adam" the first
// value that this version has ("before_backward|": none of them, the key is left out).
absl::StatusOr<Settings> SettingsOf(const ExperimentRun& run, const Values& open);
// The names in braces that the run's settings use.
std::vector<std::string> OpenNames(const ExperimentRun& run);

}  // namespace vramscope::reproduce
