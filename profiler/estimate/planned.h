// Figures of a plan, to compare with closed-form formulas. The peak counts allocated bytes. Other
// figures count requested bytes, because formulas do not model the allocator's blocks.
//
//   const PlannedFigures planned = FiguresOf(trace);
//   if (line.planned != Planned::kNothing) planned.Of(line.planned);
//
// Pure functions; thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "profiler/trace/trace.h"

namespace vramscope::estimate {

enum class Planned : uint8_t {
  kNothing,
  kParameters,      // at the end of the last step's first forward pass
  kOptimizerState,  // at the end of the last optimizer step
  kGradients,       // at the beginning of the last optimizer step
  kLayer,           // activations of the middle layer when the forward pass ends
  kPeak,            // highest allocated bytes of the whole trace
  kKvCache,         // after the last generated token
};
inline constexpr int kPlannedCount = 7;

struct PlannedFigures {
  std::array<std::optional<uint64_t>, kPlannedCount> bytes;  // nullopt: not recorded in the trace
  std::optional<uint64_t> Of(Planned what) const { return bytes[static_cast<size_t>(what)]; }
};
PlannedFigures FiguresOf(const trace::Trace& trace);

}  // namespace vramscope::estimate
