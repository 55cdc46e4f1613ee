// Repeats a micro-batch on the emulated platform. LibTorch's allocator makes its allocations again,
// and its work is scheduled on the platform's clock. Addresses, segments and times equal those of
// an executed micro-batch.
#pragma once

#include <memory>

#include "trainer/backends/backend.h"
#include "trainer/backends/cuda/recorded_run.h"
#include "trainer/capture/recorder.h"

namespace vramscope::trainer::cuda {

// `run` must point to the backend's current run whenever the tape is played.
std::unique_ptr<MicroBatchTape> MakeMicroBatchTape(Recorder& recorder,
                                                   const std::unique_ptr<RecordedRun>& run,
                                                   c10::Device device);

}  // namespace vramscope::trainer::cuda
