// Guesses the model and settings of a recorded run. Does not use Qt.
//
//   if (auto guess = RecordedModel(*digest, now)) plan(guess->config);
#pragma once

#include <optional>
#include <string>

#include "profiler/run/run_config.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

struct ModelGuess {
  run::RunConfig config;  // batch and sequence come from `now` or the preset: they are not recorded
  std::string why;        // "The recorded parameters (474.700 MiB) have the size of ..."
};

// Returns the preset whose weights, in fp32 or bf16, are as large as the parameters at the
// recording's peak. nullopt: no preset is within half a percent. Takes other settings from
// `now`.
std::optional<ModelGuess> RecordedModel(const Digest& digest, const run::RunConfig& now);

}  // namespace vramscope::ui
