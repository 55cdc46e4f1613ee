// Figures of a plan that a closed formula can be held against: requested bytes, as formulas know
// nothing of the allocator's blocks; the peak alone is allocated bytes.
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
  kParameters,      // where the last step's first forward pass ends
  kOptimizerState,  // where the last optimizer step ends
  kGradients,       // where it begins
  kLayer,           // what the layer in the middle keeps where the forward pass ends
  kPeak,            // of allocated bytes, over the whole trace
  kKvCache,         // where the last generated token is there
};
inline constexpr int kPlannedCount = 7;

struct PlannedFigures {
  std::array<std::optional<uint64_t>, kPlannedCount> bytes;  // nullopt: the trace does not tell
  std::optional<uint64_t> Of(Planned what) const { return bytes[static_cast<size_t>(what)]; }
};
PlannedFigures FiguresOf(const trace::Trace& trace);

}  // namespace vramscope::estimate
