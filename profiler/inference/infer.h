// Infers categories, phases and steps for recordings without them, from Python frames, annotations,
// lifetimes and repetition. Every conclusion names its rule (rules.h).
//
//   recording::Labels labels = inference::Infer(recording, history);
//
// Pure; thread-safe.
#pragma once

#include "profiler/recording/recording.h"

namespace vramscope::inference {

recording::Labels Infer(const recording::Recording& recording, const recording::History& history);

}  // namespace vramscope::inference
