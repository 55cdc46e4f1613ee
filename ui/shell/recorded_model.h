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
  run::RunConfig config;  // batch and sequence are from `now` or the preset: they are not recorded
  std::string why;        // "The size of the recorded parameters (474.700 MiB) ..."
};

// Returns the preset whose weights in fp32 or bf16 are as large as the parameters at the
// recording's peak. Other settings come from `now`. Returns nullopt if no preset matches within
// half a percent.
std::optional<ModelGuess> RecordedModel(const Digest& digest, const run::RunConfig& now);

}  // namespace vramscope::ui
