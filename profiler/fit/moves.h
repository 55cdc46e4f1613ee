// What can be changed to make a run fit: techniques as settings, each with what it does in a line.
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

#include "profiler/run/run_config.h"

namespace vramscope::fit {

using Settings = std::vector<std::pair<std::string, std::string>>;  // as --set takes them

struct Move {
  std::string id;     // "checkpoint-layer"
  std::string group;  // one of a group at a time
  std::string title;
  Settings settings;
  std::string why;        // what it does to memory, a sentence
  bool adapters = false;  // trains something else: adapters in place of the weights
  // Costs a lot of time, to run and to plan: looked at where nothing else saves any more.
  bool last_resort = false;
};

// Everything that this version has for the configuration's model and that it does not do already.
std::vector<Move> Moves(const run::RunConfig& config);
// The configuration with the move; an error where it can't be combined with the rest.
absl::StatusOr<run::RunConfig> Applied(const Move& move, const run::RunConfig& config);

}  // namespace vramscope::fit
