// Repeats a micro-batch on the emulated platform. LibTorch's allocator makes the same allocations
// again, and the same work is scheduled on the platform's clock. Addresses, segments and times are
// what they would be if the micro-batch were executed.
#pragma once

#include <memory>

#include "trainer/backends/backend.h"
#include "trainer/backends/cuda/recorded_run.h"
#include "trainer/capture/recorder.h"

namespace vramscope::trainer::cuda {

// Whenever the tape is played, `run` must point to the backend's current run.
std::unique_ptr<MicroBatchTape> MakeMicroBatchTape(Recorder& recorder,
                                                   const std::unique_ptr<RecordedRun>& run,
                                                   c10::Device device);

}  // namespace vramscope::trainer::cuda
