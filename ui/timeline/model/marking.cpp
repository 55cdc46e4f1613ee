#include "ui/timeline/model/marking.h"

#include <algorithm>

namespace vramscope::ui::timeline {
namespace {

double FromBegin(const trace::Trace& trace, int64_t ns) {
  return static_cast<double>(ns - trace.begin_ns());
}

}  // namespace

Marking MarkThings(const std::shared_ptr<const trace::Trace>& trace,
                   std::span<const query::Thing> things) {
  Marking marking{.trace = trace, .count = static_cast<uint32_t>(things.size())};
  marking.times.reserve(things.size());
  bool blocks = !things.empty();
  for (const query::Thing& thing : things) {
    marking.times.push_back(FromBegin(*trace, query::BeginOf(*trace, thing)));
    blocks = blocks && thing.block();
  }
  if (!std::is_sorted(marking.times.begin(), marking.times.end()))
    std::sort(marking.times.begin(), marking.times.end());
  if (!blocks) return marking;
  marking.blocks.resize(trace->allocations.size());
  for (const query::Thing& thing : things) marking.blocks[thing.row] = true;
  marking.block_count = marking.count;
  return marking;
}

Marking MarkBlocks(const std::shared_ptr<const trace::Trace>& trace,
                   std::span<const trace::AllocationId> blocks) {
  Marking marking{.trace = trace};
  const trace::AllocationTable& a = trace->allocations;
  marking.blocks.resize(a.size());
  for (const trace::AllocationId id : blocks) {
    if (!id.valid() || id.value >= a.size() || marking.blocks[id.value]) continue;
    marking.blocks[id.value] = true;
    ++marking.block_count;
  }
  marking.count = marking.block_count;
  // The times are in ascending order, because ids are in the order of allocation.
  marking.times.reserve(marking.count);
  for (uint32_t i = 0; i < a.size(); ++i)
    if (marking.blocks[i]) marking.times.push_back(FromBegin(*trace, a.begin_ns[i]));
  return marking;
}

}  // namespace vramscope::ui::timeline
