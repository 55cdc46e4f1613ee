// What can be changed to make a run fit: the rows and optimizers that technique files allow it
// (run::FitMove, in the catalogue). There is no table here.
//
//   for (const Move& move : Moves(config))
//     if (absl::StatusOr<run::RunConfig> with = Applied(move, config); with.ok()) ...
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <utility>
#include <vector>

#include "profiler/run/declarations.h"
#include "profiler/run/fit_moves.h"
#include "profiler/run/run_config.h"

namespace vramscope::fit {

using Settings = std::vector<std::pair<std::string, std::string>>;  // as --set takes them

struct Move {
  std::string id;     // "checkpoint-layer"
  std::string title;  // "Checkpoint every layer"
  std::string why;    // what it does, in the declaration's words
  run::Changes changes = run::Changes::kNothing;
  bool last_resort = false;
  const run::Toggle* toggle = nullptr;  // the row that is switched on; null: `settings` are set
  Settings settings = {};
};

// Everything that this version has for the configuration's model and that it does not do already.
std::vector<Move> Moves(const run::RunConfig& config);
// The configuration with the move; an error where it can't be combined with the rest, or changes
// nothing.
absl::StatusOr<run::RunConfig> Applied(const Move& move, const run::RunConfig& config);
// With these settings; an error where they don't go together.
absl::StatusOr<run::RunConfig> With(const Settings& settings, const run::RunConfig& config);

// All settings of a run, flat.
Settings SettingsOf(const run::RunConfig& config);
// Those that `after` has otherwise than `before`.
Settings Changed(const run::RunConfig& before, const run::RunConfig& after);

// "the training stays as it is"
std::string_view TextOf(run::Changes changes);

}  // namespace vramscope::fit
