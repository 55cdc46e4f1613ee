// Which things of a trace a filter matches.
//
//   Matcher matcher(filter, trace, &index);
//   matcher.Matches({ThingKind::kKernel, row});
//
// A text is contained in a block's module, op, category, phase, frames and call site, user metadata
// or compile context; in an activity's or a slice's name. A field that a thing does not have (the
// category of a kernel, the stream of a call) is an empty text; as a number it compares with
// nothing. Asks once for every name and stack. One thread; trace and index outlive it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/query/activity_index.h"
#include "profiler/query/filter.h"
#include "profiler/query/things.h"

namespace vramscope::query {

class Matcher {
 public:
  // `index`: knows the op and module of a kernel; null: the producer's word alone. `at_ns`:
  // what age is counted until, of what is there then; else it is that at the end.
  Matcher(Filter filter, const trace::Trace& trace, const ActivityIndex* index,
          int64_t at_ns = INT64_MAX);
  // Categories of blocks as they were at that time, by allocation, in place of the one that each
  // had longest; outlives this.
  void UseCategories(const std::vector<trace::Category>* of_block) { categories_ = of_block; }
  bool Matches(const Thing& thing);
  // Of every block whether it matches; a million of them take milliseconds.
  std::vector<bool> MatchBlocks();
  // Whether a frame of Python is found by the filter's plain text; false: it is none.
  bool MatchesFrame(uint32_t frame);

 private:
  enum Answer : uint8_t { kNotAsked, kNo, kYes };
  struct Memory {  // of one node
    std::vector<Answer> strings, frames, stacks;
    std::vector<Answer> categories, phases;
  };
  bool Eval(uint32_t node, const Thing& thing);
  bool Text(uint32_t node, const Thing& thing);
  bool Compare(uint32_t node, const Thing& thing);
  bool CompareStack(uint32_t node, const Thing& thing);
  bool Holds(const FilterNode& node, std::string_view text) const;
  bool HoldsString(uint32_t node, trace::StringId id);
  bool HoldsName(uint32_t node, const Thing& thing);
  bool HoldsFrame(uint32_t node, uint32_t frame);
  bool HoldsStack(uint32_t node, trace::StackId stack);
  trace::Phase PhaseOfSlice(uint32_t slice);
  trace::Category CategoryOf(uint32_t block) const {
    return categories_ != nullptr ? (*categories_)[block] : trace_.allocations.main_category[block];
  }

  Filter filter_;
  const trace::Trace& trace_;
  const ActivityIndex* index_;
  int64_t moment_ns_;
  const std::vector<trace::Category>* categories_ = nullptr;
  std::vector<Memory> memory_;
  std::vector<trace::Phase> phase_of_slice_;  // empty: not asked
};

// Whether `text` contains `lower`, whatever the case.
bool ContainsText(std::string_view text, std::string_view lower);

}  // namespace vramscope::query
