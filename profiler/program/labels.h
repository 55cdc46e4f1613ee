// What the marks say of a recorded history: the phase, step and module that every allocation was
// made in, its category, from the moment from which it is one, and the operator that asked for it.
#pragma once

#include <span>

#include "profiler/program/marks.h"
#include "profiler/recording/recording.h"

namespace vramscope::program {

struct LabelOptions {
  uint64_t blas_workspace_bytes = 0;  // of the card; a block of that size that stays is one
  std::span<const trace::StringId> operators = {};  // of the recording's entries; {}: not known
};

// Entry times become those of the marks' clock where `virtual_clock`: evenly spaced between two
// marks. Warnings go to the recording.
recording::Labels LabelsFromMarks(recording::Recording& recording,
                                  const recording::History& history, const Marks& marks,
                                  bool virtual_clock, const LabelOptions& options);

}  // namespace vramscope::program
