// What is said of a kernel, a copy, a call; of the time between two of them; and of what an
// allocation has to do with them. Facts may lead on: to another activity, an allocation, a slice.
//
//   for (const LinkedFact& fact : FactsOfActivity(data, row).facts) ...
//
// Pure functions of immutable data; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ui/timeline/model/timeline_data.h"

namespace vramscope::ui::timeline {

struct Link {
  enum class To : uint8_t { kNothing, kActivity, kAllocation, kSlice };
  To to = To::kNothing;
  uint32_t row = 0;
};

struct LinkedFact {
  std::string label, value;
  Link link = {};
  bool sentence = false;  // wraps where it is too long
};

struct ActivityFacts {
  std::string title, subtitle;
  std::vector<LinkedFact> facts;
};

// So many of what belongs to a thing are named; the rest is counted.
inline constexpr size_t kNamed = 5;

ActivityFacts FactsOfActivity(const TimelineData& data, uint32_t activity);
ActivityFacts FactsOfGap(const TimelineData& data, uint32_t gap);
// The kernels that it was given to first and last, where it is known; the kernels of the op that
// made it, and of the last op before it was given back.
std::vector<LinkedFact> KernelsOf(const TimelineData& data, trace::AllocationId id);

// To be outlined with it: the call of a kernel, the kernels of a call; the blocks that a kernel was
// given, where it is known, else those that its op made; of an allocation: the
// kernels that it was given to, else those of the op that made it. At most 64.
std::vector<uint32_t> Related(const TimelineData& data, uint32_t activity);
std::vector<trace::AllocationId> BlocksWith(const TimelineData& data, uint32_t activity);
std::vector<uint32_t> KernelsWith(const TimelineData& data, trace::AllocationId id);

}  // namespace vramscope::ui::timeline
