// The facts that the panel lists about a kernel, memcpy, memset or call, about the idle gap between
// two activities, and about the kernels related to an allocation. A fact may link to another
// activity, an allocation or a slice.
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
  bool sentence = false;  // the value is wrapped if it is too long
};

struct ActivityFacts {
  std::string title, subtitle;
  std::vector<LinkedFact> facts;
};

// At most this many related things are listed one by one; a total covers the others.
inline constexpr size_t kNamed = 5;

ActivityFacts FactsOfActivity(const TimelineData& data, uint32_t activity);
ActivityFacts FactsOfGap(const TimelineData& data, uint32_t gap);
// The kernels related to an allocation: the first and last that use it as an operand (if the trace
// records operands), those of the op that allocated it, and of the last op before it was freed.
std::vector<LinkedFact> KernelsOf(const TimelineData& data, trace::AllocationId id);

// The things that are outlined with the selection, at most 64 in each list. Related: the call of a
// kernel, or the kernels of a call. BlocksWith: a kernel's operands, if the trace records operands,
// otherwise the blocks that the kernel's op allocated. KernelsWith: the kernels that have an
// allocation as an operand, otherwise those of the op that made it.
std::vector<uint32_t> Related(const TimelineData& data, uint32_t activity);
std::vector<trace::AllocationId> BlocksWith(const TimelineData& data, uint32_t activity);
std::vector<uint32_t> KernelsWith(const TimelineData& data, trace::AllocationId id);

}  // namespace vramscope::ui::timeline
