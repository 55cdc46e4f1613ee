// Which run a recording may have been, as far as it tells. Without Qt.
//
//   if (auto guess = RecordedModel(*digest, now)) plan(guess->config);
#pragma once

#include <optional>
#include <string>

#include "profiler/run/run_config.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

struct ModelGuess {
  run::RunConfig config;  // batch and sequence are not told: what the preset starts with
  std::string why;        // "Its 474.700 MiB of parameters are as large as gpt2 in fp32"
};

// The preset whose weights are as large as the parameters at the recording's peak, in fp32 or in
// 16 bits; nothing when none is within half a percent. `now`: for what the recording does not tell.
std::optional<ModelGuess> RecordedModel(const Digest& digest, const run::RunConfig& now);

}  // namespace vramscope::ui
