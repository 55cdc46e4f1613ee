// A move is a change that can make a run fit. Technique files declare moves for toggles and
// optimizers (run::FitMove, in the catalogue).
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

using Settings = std::vector<std::pair<std::string, std::string>>;  // as for --set

struct Move {
  std::string id;     // "checkpoint-layer"
  std::string title;  // "Checkpoint every layer"
  std::string why;    // its effect, as declared
  run::Changes changes = run::Changes::kNothing;
  bool last_resort = false;
  const run::Toggle* toggle = nullptr;  // the toggle to switch on; null: the move sets `settings`
  Settings settings = {};
};

// Returns the moves for the configuration's model that the configuration does not use yet.
std::vector<Move> Moves(const run::RunConfig& config);
// Returns the configuration with the move applied, or an error if the move excludes another setting
// or changes nothing.
absl::StatusOr<run::RunConfig> Applied(const Move& move, const run::RunConfig& config);
// Returns the configuration with these settings, or an error if they exclude each other.
absl::StatusOr<run::RunConfig> With(const Settings& settings, const run::RunConfig& config);

// Returns all settings of a run. Their keys are names such as "lora.rank".
Settings SettingsOf(const run::RunConfig& config);
// Returns the settings of `after` that differ from those of `before`.
Settings Changed(const run::RunConfig& before, const run::RunConfig& after);

// Returns, for example, "the training stays as it is".
std::string_view TextOf(run::Changes changes);

}  // namespace vramscope::fit
