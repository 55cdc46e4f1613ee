// The facts that the panel lists about a kernel, memcpy, memset or call, about the idle gap between
// two of them, and about the kernels related to an allocation. A fact may link to another activity,
// an allocation or a slice.
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
  bool sentence = false;  // wrapped where it is too long
};

struct ActivityFacts {
  std::string title, subtitle;
  std::vector<LinkedFact> facts;
};

// At most this many related things are listed; the rest is only counted.
inline constexpr size_t kNamed = 5;

ActivityFacts FactsOfActivity(const TimelineData& data, uint32_t activity);
ActivityFacts FactsOfGap(const TimelineData& data, uint32_t gap);
// For an allocation: the first and last kernels that were given it, where the trace records this;
// the kernels of the op that made it, and of the last op before its free.
std::vector<LinkedFact> KernelsOf(const TimelineData& data, trace::AllocationId id);

// What is outlined with the selection, at most 64 each. Related: the call of a kernel, or the
// kernels of a call. BlocksWith: the blocks that a kernel was given, if the trace records operands,
// else those that its op made. KernelsWith: the kernels that were given an allocation, else those
// of the op that made it.
std::vector<uint32_t> Related(const TimelineData& data, uint32_t activity);
std::vector<trace::AllocationId> BlocksWith(const TimelineData& data, uint32_t activity);
std::vector<uint32_t> KernelsWith(const TimelineData& data, trace::AllocationId id);

}  // namespace vramscope::ui::timeline
