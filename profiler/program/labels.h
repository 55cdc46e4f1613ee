// Derives the labels of a recorded history from the marks. Every allocation gets its step, phase,
// module, operator and category. A category applies from a certain entry on.
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

// With `virtual_clock`, entries between two marks get times at equal intervals between the times of
// the marks. Adds warnings to the recording.
recording::Labels LabelsFromMarks(recording::Recording& recording,
                                  const recording::History& history, const Marks& marks,
                                  bool virtual_clock, const LabelOptions& options);

}  // namespace vramscope::program
