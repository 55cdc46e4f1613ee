// Makes up a training run without LibTorch: the events of a transformer with the shape of
// Qwen2-0.5B. Sizes roughly follow the configuration (precision, checkpointing, LoRA, ...), so that
// a toggle changes the timeline. They do not correspond to real memory.
#pragma once

#include <functional>

#include "profiler/run/run_config.h"
#include "profiler/trace/event_sink.h"

namespace vramscope::testing {

struct CannedHooks {
  // Called before each step; returning false ends the run there (cancelled).
  std::function<bool(int step)> before_step;
};

// Sends Begin, strings and events, but not End. The hook `before_step` may stop the run.
void EmitCannedRun(const run::RunConfig& config, trace::EventSink& sink, const CannedHooks& hooks);

}  // namespace vramscope::testing
