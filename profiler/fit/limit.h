// Searches for the largest value of a key that fits. Memory is nearly linear in the value, so each
// guess is extrapolated from the last plans, until the largest value that fits and the smallest
// that does not are close.
//
//   while (!limit.done()) {
//     const int value = limit.Next(budget);
//     limit.Saw(value, fits, needed);  // the result of a plan with it
//   }
//
// Internal to this folder. A value; one thread.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/fit/fit.h"

namespace vramscope::fit {

struct Limit {
  Proposal* proposal;
  int64_t Proposal::*found;  // the field for the result
  std::string key;
  int from, step, most;
  int low = from, high = 0;          // fits; does not fit (0: not known yet)
  uint64_t at_low = 0, at_high = 0;  // bytes that they need (0: not planned)
  int lower = 0;                     // the largest value that fitted before `low` (0: none)
  uint64_t at_lower = 0;
  bool halve = false;  // the last guess was far off

  bool done() const { return high > 0 ? high - low <= close() : low + step > most; }
  int Next(uint64_t budget) const;
  void Saw(int value, bool fits, uint64_t needed);

 private:
  int close() const;
};

}  // namespace vramscope::fit
