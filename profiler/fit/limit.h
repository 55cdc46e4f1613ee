// Searches for the largest value of a key that fits. Memory is nearly linear in the value, so each
// guess is extrapolated from the last plans. The search ends when the largest value that fits and
// the smallest that does not fit are close.
//
//   while (!limit.done()) {
//     const int value = limit.Next(budget);
//     limit.Saw(value, fits, needed);  // the result of a plan with the value
//   }
//
// Internal to this folder. Not thread-safe.
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
  int low = from, high = 0;          // largest that fits; smallest that does not (0: unknown)
  uint64_t at_low = 0, at_high = 0;  // bytes that `low` and `high` need (0: unknown)
  int lower = 0;                     // the value of `low` before its last change (0: none)
  uint64_t at_lower = 0;
  bool halve = false;  // the last guess was far off, so the next one halves the interval

  bool done() const { return high > 0 ? high - low <= close() : low + step > most; }
  int Next(uint64_t budget) const;
  void Saw(int value, bool fits, uint64_t needed);

 private:
  int close() const;
};

}  // namespace vramscope::fit
