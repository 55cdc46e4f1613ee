#include "profiler/fit/limit.h"

#include <algorithm>
#include <cmath>

namespace vramscope::fit {

int Limit::close() const { return std::max(step, low / 64); }

int Limit::Next(uint64_t budget) const {
  double each = 0;  // bytes per unit of the value
  if (high > 0 && at_high > at_low) each = static_cast<double>(at_high - at_low) / (high - low);
  if (high == 0 && lower > 0 && at_low > at_lower)
    each = static_cast<double>(at_low - at_lower) / (low - lower);
  double more = high > 0 ? (high - low) / 2.0 : low;
  if (each > 0 && !halve) more = static_cast<double>(budget - at_low) / each;
  // Moves the guess just far enough from `low` and `high` that its plan can end the search.
  const int furthest = high > 0 ? (high - low - close() + step - 1) / step : (most - low) / step;
  const int nearest = std::min(close() / step, furthest);
  const double steps = std::clamp<double>(std::floor(more / step), nearest, furthest);
  return low + static_cast<int>(steps) * step;
}

void Limit::Saw(int value, bool fits, uint64_t needed) {
  const int width = high - low;
  if (fits) {
    lower = low;
    at_lower = at_low;
    low = value;
    at_low = needed;
  } else {
    high = value;
    at_high = needed;
  }
  halve = width > 0 && !halve && high - low > width / 2;
}

}  // namespace vramscope::fit
