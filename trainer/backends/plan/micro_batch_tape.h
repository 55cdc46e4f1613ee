// The plan backend's MicroBatchTape: requests from a Tape, gradients as the first execution left
// them.
#pragma once

#include <memory>

#include "trainer/backends/backend.h"

namespace vramscope::trainer::plan {

std::unique_ptr<MicroBatchTape> MakeMicroBatchTape(Recorder& recorder);

}  // namespace vramscope::trainer::plan
