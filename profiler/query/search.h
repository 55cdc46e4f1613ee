// Everything that is drawn and matches a filter: in order of time, counted by kind, and in groups
// of the same name.
//
//   const SearchResult found = Search({.trace = trace, .index = index}, filter);
//   found.count(ThingKind::kKernel);                      // 7,034
//   found.groups[0].name;                                 // "vectorized_elementwise_kernel"
//   found.things[found.Next(found.things.size(), 1)];     // the first by time
//
// Linear in the trace: five million events take a good part of a second, so it is run beside the
// thread that draws, and can be stopped. Pure function of immutable data; thread-safe.
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
  const ActivityIndex* index = nullptr;  // of the trace; null: it has no activities
  // What reaches into [begin_ns, end_ns); begin_ns >= end_ns: all.
  int64_t begin_ns = 0, end_ns = 0;
  const std::atomic<bool>* stop = nullptr;
};

struct FoundGroup {
  ThingKind kind = ThingKind::kBlock;
  std::string name;
  uint64_t count = 0;
  uint64_t bytes = 0;    // of blocks, copies, fills
  int64_t takes_ns = 0;  // summed: lives of blocks, lengths of the rest
  uint32_t first = 0;    // number of the first of `things`
};

// A frame of Python that contains the text, with how many of the blocks were asked for from it.
struct FoundFrame {
  std::string name;
  uint64_t blocks = 0;
};

struct SearchResult {
  std::vector<Thing> things;       // by begin; of several at once in the order of ThingKind
  std::vector<uint32_t> group_of;  // row = number of a thing; row of `groups`
  std::vector<FoundGroup> groups;  // by kind, most things first
  std::vector<FoundFrame> frames;  // of a plain text, most blocks first
  std::array<uint64_t, kThingKindCount> counts{};
  bool stopped = false;  // it is not all

  uint64_t count(ThingKind kind) const { return counts[static_cast<size_t>(kind)]; }
  // The thing before or after number `at` (any that is none: from the begin or the end), round at
  // the ends; of one group, where `group` is one. things.size(): there is none.
  size_t Next(size_t at, int direction, uint32_t group = UINT32_MAX) const;
};

SearchResult Search(const SearchIn& in, const Filter& filter);

// What a thing is called among others of its kind: a block by its module and op or its call site,
// an activity and a slice by its name.
std::string GroupName(const trace::Trace& trace, const Thing& thing);

}  // namespace vramscope::query
