// The largest value of a key that fits. What a run needs is nearly linear in it: of two plans comes
// a guess, of that another, until what fits and what does not are close to each other.
//
//   while (!limit.done()) {
//     const int value = limit.Next(budget);
//     limit.Saw(value, fits, needed);  // what a plan with it says
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
  int64_t Proposal::*found;  // where it goes
  std::string key;
  int from, step, most;
  int low = from, high = 0;          // fits; does not (0: not known yet)
  uint64_t at_low = 0, at_high = 0;  // what they need, in bytes (0: there is no plan)
  int lower = 0;                     // fitted before `low` did (0: nothing)
  uint64_t at_lower = 0;
  bool halve = false;  // the last guess was far off

  bool done() const { return high > 0 ? high - low <= close() : low + step > most; }
  int Next(uint64_t budget) const;
  void Saw(int value, bool fits, uint64_t needed);

 private:
  int close() const;
};

}  // namespace vramscope::fit
