// Collects the facts that the selection panel lists about a kernel, memcpy, memset or call, about
// an idle gap between two activities, or about the kernels of an allocation. A fact may be a link
// to another activity, an allocation or a slice.
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
  bool sentence = false;  // a long value is wrapped, not elided
};

struct ActivityFacts {
  std::string title, subtitle;
  std::vector<LinkedFact> facts;
};

// At most this many related things are listed one by one. Of the others, only the sum is listed.
inline constexpr size_t kNamed = 5;

ActivityFacts FactsOfActivity(const TimelineData& data, uint32_t activity);
ActivityFacts FactsOfGap(const TimelineData& data, uint32_t gap);
// Returns facts about an allocation's kernels: the first and last kernel that has it as an operand
// (if recorded), the kernels of the op that allocated it, and the kernels of the last op before its
// free.
std::vector<LinkedFact> KernelsOf(const TimelineData& data, trace::AllocationId id);

// These functions return at most 64 things to outline together with the selection. Related(): the
// call of a kernel, or the kernels of a call. BlocksWith(): a kernel's operands or, if operands
// were not recorded, the blocks that the kernel's op allocated. KernelsWith(): the kernels that
// have a block as an operand or, if operands were not recorded, the kernels of the op that
// allocated the block.
std::vector<uint32_t> Related(const TimelineData& data, uint32_t activity);
std::vector<trace::AllocationId> BlocksWith(const TimelineData& data, uint32_t activity);
std::vector<uint32_t> KernelsWith(const TimelineData& data, trace::AllocationId id);

}  // namespace vramscope::ui::timeline
