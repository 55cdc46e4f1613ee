#include "ui/shell/recorded_model.h"

#include <fmt/format.h>

#include <cmath>

#include "profiler/base/i18n.h"
#include "profiler/estimate/weights.h"
#include "ui/panels/techniques.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

// The share by which the bytes of the recorded parameters may differ from the preset's bytes. They
// differ because they are inferred by rules and include buffers and rounding. The bytes of two
// presets differ far more.
constexpr double kNearEnough = 0.005;

}  // namespace

std::optional<ModelGuess> RecordedModel(const Digest& digest, const run::RunConfig& now) {
  if (!digest.recorded()) return std::nullopt;
  uint64_t recorded = 0;
  for (const analysis::LiveAllocation& live : digest.at_peak.allocations)
    if (live.category == trace::Category::kParameter)
      recorded += digest.trace->allocations.bytes[live.id.value];
  if (recorded == 0) return std::nullopt;
  std::optional<ModelGuess> best;
  double nearest = kNearEnough;
  for (const run::ModelPreset& preset : run::ModelPresets()) {
    const absl::StatusOr<estimate::WeightCount> weights =
        estimate::CountWeights(preset.config_json);
    if (!weights.ok()) continue;
    for (const char* precision : {"fp32", "bf16"}) {
      const auto bytes = static_cast<double>(weights->total()) *
                         static_cast<double>(estimate::BytesPerWeight(precision));
      const double off = std::abs(static_cast<double>(recorded) / bytes - 1);
      if (off > nearest) continue;
      absl::StatusOr<PresetChange> change = WithPreset(now, preset.name);
      if (!change.ok()) continue;
      nearest = off;
      change->config.Set("precision", precision);
      best = ModelGuess{
          .config = change->config,
          .why = i18n::Format(
              "The recorded parameters occupy {}, which matches the parameters of {} in {}",
              timeline::FormatBytes(recorded), preset.name, precision)};
    }
  }
  return best;
}

}  // namespace vramscope::ui
