// Finds everything that is drawn and matches a filter. Results are in order of time, counted by
// kind, and grouped by name.
//
//   const SearchResult found = Search({.trace = trace, .index = &index}, filter);
//   found.count(ThingKind::kKernel);                      // 7,034
//   found.groups[0].name;                                 // "vectorized_elementwise_kernel"
//   found.things[found.Next(found.things.size(), 1)];     // the first by time
//
// A search takes time linear in the trace (most of a second for five million events). It therefore
// runs on its own thread and can be stopped. Pure function of immutable data; thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/query/activity_index.h"
#include "profiler/query/filter.h"
#include "profiler/query/things.h"

namespace vramscope::query {

struct SearchIn {
  std::shared_ptr<const trace::Trace> trace;
  const ActivityIndex* index = nullptr;  // index of the trace's activities; null: none
  // Only things that overlap [begin_ns, end_ns) are found. If begin_ns >= end_ns, all are found.
  int64_t begin_ns = 0, end_ns = 0;
  const std::atomic<bool>* stop = nullptr;
};

struct FoundGroup {
  ThingKind kind = ThingKind::kBlock;
  std::string name;
  uint64_t count = 0;
  uint64_t bytes = 0;    // sum of the sizes of blocks, memcpys and memsets
  int64_t takes_ns = 0;  // sum of the lifetimes of blocks or the durations of other things
  uint32_t first = 0;    // index of the group's first thing in `things`
};

// A Python frame that contains the text, and the number of blocks with this frame in their stack.
struct FoundFrame {
  std::string name;
  uint64_t blocks = 0;
};

struct SearchResult {
  std::vector<Thing> things;       // sorted by begin, then by ThingKind
  std::vector<uint32_t> group_of;  // row of `groups` of each of `things`
  std::vector<FoundGroup> groups;  // sorted by kind, most things first
  std::vector<FoundFrame> frames;  // most blocks first; empty for filters other than plain texts
  std::array<uint64_t, kThingKindCount> counts{};
  bool stopped = false;  // the result is incomplete

  uint64_t count(ThingKind kind) const { return counts[static_cast<size_t>(kind)]; }
  // Returns the index of the next (`direction` > 0) or previous thing, wrapping around at the ends.
  // If `at` is invalid, starts at the begin or end. If `group` is given, skips things of other
  // groups. If there is no such thing, returns things.size().
  size_t Next(size_t at, int direction, uint32_t group = UINT32_MAX) const;
};

SearchResult Search(const SearchIn& in, const Filter& filter);

// Returns the name by which a thing is grouped: for a block, its module and op, or its call site;
// for an activity or slice, its own name.
std::string GroupName(const trace::Trace& trace, const Thing& thing);

}  // namespace vramscope::query
