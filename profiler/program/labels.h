// Labels of a recorded history, derived from the marks: the phase, step and module of every
// allocation, its category and the entry from which on the category applies, and its operator.
#pragma once

#include <span>

#include "profiler/program/marks.h"
#include "profiler/recording/recording.h"

namespace vramscope::program {

struct LabelOptions {
  // The size of cuBLAS's workspace on this GPU. A block of that size that is never freed is a
  // workspace.
  uint64_t blas_workspace_bytes = 0;
  // The operator of each entry of the recording; empty: not known.
  std::span<const trace::StringId> operators = {};
};

// With `virtual_clock`, the times of the entries between two marks are evenly spaced between the
// marks' times. Warnings are added to the recording.
recording::Labels LabelsFromMarks(recording::Recording& recording,
                                  const recording::History& history, const Marks& marks,
                                  bool virtual_clock, const LabelOptions& options);

}  // namespace vramscope::program
