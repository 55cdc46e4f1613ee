// Makes up a training run without LibTorch: the events of a transformer with the shape of
// Qwen2-0.5B. Sizes depend roughly on the configuration (precision, checkpointing, LoRA, ...), so
// that a toggle changes the timeline. They are not the sizes of a real run.
#pragma once

#include <functional>

#include "profiler/run/run_config.h"
#include "profiler/trace/event_sink.h"

namespace vramscope::testing {

struct CannedHooks {
  // Called before each step. If it returns false, the run ends there as cancelled.
  std::function<bool(int step)> before_step;
};

// Sends Begin, strings and events, but not End. Stops early if the hook `before_step` says so.
void EmitCannedRun(const run::RunConfig& config, trace::EventSink& sink, const CannedHooks& hooks);

}  // namespace vramscope::testing
