// Collects the facts that the panel lists about a kernel, memcpy, memset or call, about an idle gap
// between two activities, or about the kernels of an allocation. A fact may be a link to another
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

// At most this many related things are listed one by one. The others are only summed up.
inline constexpr size_t kNamed = 5;

ActivityFacts FactsOfActivity(const TimelineData& data, uint32_t activity);
ActivityFacts FactsOfGap(const TimelineData& data, uint32_t gap);
// Returns facts about an allocation's kernels: the first and last that have it as an operand (if
// recorded), those of the op that allocated it, and those of the last op before its free.
std::vector<LinkedFact> KernelsOf(const TimelineData& data, trace::AllocationId id);

// These return at most 64 things to outline with the selection. Related: the call of a kernel, or
// the kernels of a call. BlocksWith: a kernel's operands. KernelsWith: the kernels that have an
// allocation as an operand. If operands were not recorded, BlocksWith returns the blocks that the
// kernel's op allocated, and KernelsWith the kernels of the op that allocated the block.
std::vector<uint32_t> Related(const TimelineData& data, uint32_t activity);
std::vector<trace::AllocationId> BlocksWith(const TimelineData& data, uint32_t activity);
std::vector<uint32_t> KernelsWith(const TimelineData& data, trace::AllocationId id);

}  // namespace vramscope::ui::timeline
