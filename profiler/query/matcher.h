// Tests whether things of a trace match a filter.
//
//   Matcher matcher(filter, trace, &index);
//   matcher.Matches({ThingKind::kKernel, row});
//
// A plain text is searched for in the name of an activity or slice. For a block, it is searched for
// in module, op, category, phase, frames, call site, user metadata and compile context. A text
// field that a thing lacks counts as empty: a kernel, for example, has no category. If a thing
// lacks a number, as a call lacks a stream, no comparison matches. Each distinct name or stack is
// tested once. Not thread-safe; trace and index must outlive the matcher.
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
  // `index` provides the op and module of a kernel. If it is null, only recorded ops and modules
  // are used. The age of a block is its age at `at_ns` if it is live then, otherwise its age at the
  // end of the trace.
  Matcher(Filter filter, const trace::Trace& trace, const ActivityIndex* index,
          int64_t at_ns = INT64_MAX);
  // Sets the category of each block, indexed by allocation. Without this call, a block has the
  // category that it had for most of its life. `of_block` must outlive the matcher.
  void UseCategories(const std::vector<trace::Category>* of_block) { categories_ = of_block; }
  bool Matches(const Thing& thing);
  // Returns for each block whether it matches. A million blocks take milliseconds.
  std::vector<bool> MatchBlocks();
  // Whether a Python frame contains the filter's plain text; false if the filter is not a plain
  // text.
  bool MatchesFrame(uint32_t frame);

 private:
  enum Answer : uint8_t { kNotAsked, kNo, kYes };
  struct Memory {  // cached results of one node
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
  std::vector<trace::Phase> phase_of_slice_;  // empty: not yet computed
};

// Whether `text` contains `lower`, ignoring case.
bool ContainsText(std::string_view text, std::string_view lower);

}  // namespace vramscope::query
