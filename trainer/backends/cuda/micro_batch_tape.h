// Repeats a micro-batch on the emulated platform: its requests go to LibTorch's own allocator
// again, its work to the platform's clock; addresses, segments and times are those of an execution.
#pragma once

#include <memory>

#include "trainer/backends/backend.h"
#include "trainer/backends/cuda/recorded_run.h"
#include "trainer/capture/recorder.h"

namespace vramscope::trainer::cuda {

// `run`: the backend's present one, whichever that is when the tape is played.
std::unique_ptr<MicroBatchTape> MakeMicroBatchTape(Recorder& recorder,
                                                   const std::unique_ptr<RecordedRun>& run,
                                                   c10::Device device);

}  // namespace vramscope::trainer::cuda
