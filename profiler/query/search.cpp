#include "profiler/query/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "profiler/analysis/site_names.h"
#include "profiler/query/kernel_names.h"
#include "profiler/query/kernel_sums.h"
#include "profiler/query/matcher.h"

namespace vramscope::query {
namespace {

constexpr uint32_t kStopEvery = 1u << 14;  // number of things between two checks of the stop flag

// Returns a number for the thing's name. Things with the same number have the same name.
uint64_t NameNumber(const trace::Trace& trace, const Thing& thing) {
  const uint32_t i = thing.row;
  if (thing.block()) {
    const uint64_t module = trace.allocations.module[i].value, op = trace.allocations.op[i].value;
    if (module != 0 || op != 0) return module << 32 | op;
    const uint64_t stack = trace.events.StackOf(trace.allocations.alloc_event[i]).value;
    return uint64_t{1} << 63 | stack << 1 | uint64_t{analysis::IsOlder(trace, i)};
  }
  if (thing.activity()) {
    const trace::ActivityTable& a = trace.activities;
    return uint64_t{a.name[i].value} << 24 | static_cast<uint64_t>(a.kind[i]) << 16 |
           static_cast<uint64_t>(a.from[i]) << 8 | static_cast<uint64_t>(a.to[i]);
  }
  const trace::SliceKind kind = trace.slices.kind[i];
  const bool numbered = kind == trace::SliceKind::kStep || kind == trace::SliceKind::kMicroBatch ||
                        kind == trace::SliceKind::kPhase;
  return numbered ? trace.slices.number[i] : trace.slices.name[i].value;
}

// Collects the results in groups.
class Collector {
 public:
  Collector(const trace::Trace& trace, SearchResult* out) : trace_(trace), out_(out) {}

  void Add(const Thing& thing) {
    auto& of_kind = by_number_[static_cast<size_t>(thing.kind)];
    const auto [at, fresh] = of_kind.try_emplace(NameNumber(trace_, thing), 0);
    if (fresh) at->second = GroupOf(thing);
    FoundGroup& group = out_->groups[at->second];
    ++group.count;
    ++out_->counts[static_cast<size_t>(thing.kind)];
    if (thing.block()) group.bytes += trace_.allocations.bytes_rounded[thing.row];
    if (thing.activity() && thing.kind != ThingKind::kKernel)
      group.bytes += trace_.activities.bytes[thing.row];
    group.takes_ns += EndOf(trace_, thing) - BeginOf(trace_, thing);
    out_->things.push_back(thing);
    out_->group_of.push_back(at->second);
  }

  // Sorts the groups by kind, then by number of things, most first.
  void Finish() {
    std::vector<FoundGroup>& groups = out_->groups;
    std::vector<uint32_t> order(groups.size()), place(groups.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
      const FoundGroup &a = groups[x], &b = groups[y];
      if (a.kind != b.kind) return a.kind < b.kind;
      return a.count != b.count ? a.count > b.count : a.name < b.name;
    });
    std::vector<FoundGroup> sorted;
    sorted.reserve(order.size());
    for (const uint32_t from : order) {
      place[from] = static_cast<uint32_t>(sorted.size());
      sorted.push_back(std::move(groups[from]));
    }
    groups = std::move(sorted);
    for (uint32_t& group : out_->group_of) group = place[group];
  }

 private:
  uint32_t GroupOf(const Thing& thing) {
    const auto [at, fresh] = by_name_.try_emplace(std::pair(thing.kind, GroupName(trace_, thing)),
                                                  static_cast<uint32_t>(out_->groups.size()));
    if (fresh)
      out_->groups.push_back({.kind = thing.kind,
                              .name = at->first.second,
                              .first = static_cast<uint32_t>(out_->things.size())});
    return at->second;
  }

  const trace::Trace& trace_;
  SearchResult* out_;
  std::array<std::unordered_map<uint64_t, uint32_t>, kThingKindCount> by_number_;
  std::map<std::pair<ThingKind, std::string>, uint32_t> by_name_;
};

// Walks allocations, activities and slices together, in order of time.
class Walk {
 public:
  explicit Walk(const trace::Trace& trace) : trace_(trace) {}
  std::optional<Thing> Next() {
    const trace::AllocationTable& blocks = trace_.allocations;
    const trace::ActivityTable& ran = trace_.activities;
    while (activity_ < ran.size() && !ThingKindOf(ran.kind[activity_])) ++activity_;
    const int64_t block = block_ < blocks.size() ? blocks.begin_ns[block_] : INT64_MAX;
    const int64_t activity = activity_ < ran.size() ? ran.begin_ns[activity_] : INT64_MAX;
    const int64_t slice =
        slice_ < trace_.slices.size() ? trace_.slices.begin_ns[slice_] : INT64_MAX;
    if (block_ < blocks.size() && block <= activity && block <= slice)
      return Thing{ThingKind::kBlock, block_++};
    if (activity_ < ran.size() && activity <= slice) {
      const ThingKind kind = *ThingKindOf(ran.kind[activity_]);
      return Thing{kind, activity_++};
    }
    if (slice_ >= trace_.slices.size()) return std::nullopt;
    const ThingKind kind = ThingKindOf(trace_.slices.kind[slice_]);
    return Thing{kind, slice_++};
  }

 private:
  const trace::Trace& trace_;
  uint32_t block_ = 0, activity_ = 0, slice_ = 0;
};

std::vector<FoundFrame> FindFrames(const trace::Trace& trace, Matcher& matcher) {
  std::vector<uint64_t> of_stack(trace.stacks.size());
  for (uint32_t i = 0; i < trace.allocations.size(); ++i) {
    const trace::StackId stack = trace.events.StackOf(trace.allocations.alloc_event[i]);
    if (stack.value < of_stack.size()) ++of_stack[stack.value];
  }
  std::map<std::string, uint64_t> blocks;
  const analysis::SiteNames names(trace);
  std::vector<std::string> in_stack;
  for (uint32_t stack = 1; stack < trace.stacks.size(); ++stack) {
    if (of_stack[stack] == 0) continue;
    in_stack.clear();
    for (const uint32_t frame : trace.stacks.Frames({stack}))
      if (matcher.MatchesFrame(frame)) in_stack.push_back(names.FrameName(frame));
    // If recursion repeats a frame in a stack, the frame counts once.
    std::sort(in_stack.begin(), in_stack.end());
    in_stack.erase(std::unique(in_stack.begin(), in_stack.end()), in_stack.end());
    for (const std::string& name : in_stack) blocks[name] += of_stack[stack];
  }
  std::vector<FoundFrame> frames;
  for (const auto& [name, count] : blocks) frames.push_back({name, count});
  std::stable_sort(frames.begin(), frames.end(),
                   [](const FoundFrame& a, const FoundFrame& b) { return a.blocks > b.blocks; });
  return frames;
}

}  // namespace

std::string GroupName(const trace::Trace& trace, const Thing& thing) {
  const uint32_t i = thing.row;
  if (thing.block()) {
    const trace::AllocationTable& a = trace.allocations;
    if (a.module[i].value == 0 && a.op[i].value == 0) {
      const trace::StackId stack = trace.events.StackOf(a.alloc_event[i]);
      if (std::string site = analysis::SiteNames(trace).Name(stack); !site.empty()) return site;
    }
    return analysis::ModuleOpName(trace, a.module[i], a.op[i], analysis::IsOlder(trace, i));
  }
  if (thing.activity()) return ReadableKernel(ActivityName(trace, i));
  switch (trace.slices.kind[i]) {
    case trace::SliceKind::kStep:
      return fmt::format("step {}", trace.slices.number[i]);
    case trace::SliceKind::kMicroBatch:
      return fmt::format("micro-batch {}", trace.slices.number[i]);
    case trace::SliceKind::kPhase:
      return std::string(trace::Name(trace.slices.phase(i)));
    case trace::SliceKind::kModule:
    case trace::SliceKind::kOp:
    case trace::SliceKind::kAnnotation:
      break;
  }
  return std::string(trace.String(trace.slices.name[i]));
}

SearchResult Search(const SearchIn& in, const Filter& filter) {
  SearchResult out;
  const trace::Trace& trace = *in.trace;
  Matcher matcher(filter, trace, in.index);
  Collector collector(trace, &out);
  Walk walk(trace);
  uint32_t seen = 0;
  while (const std::optional<Thing> thing = walk.Next()) {
    if (in.stop != nullptr && ++seen % kStopEvery == 0 &&
        in.stop->load(std::memory_order_relaxed)) {
      out.stopped = true;
      break;
    }
    if (in.begin_ns < in.end_ns &&
        (BeginOf(trace, *thing) >= in.end_ns || EndOf(trace, *thing) < in.begin_ns))
      continue;
    if (matcher.Matches(*thing)) collector.Add(*thing);
  }
  collector.Finish();
  if (!out.stopped && !filter.plain_text().empty()) out.frames = FindFrames(trace, matcher);
  return out;
}

size_t SearchResult::Next(size_t at, int direction, uint32_t group) const {
  const size_t n = things.size();
  if (n == 0) return n;
  size_t next = at < n ? at : direction > 0 ? n - 1 : 0;
  for (size_t tried = 0; tried < n; ++tried) {
    next = direction > 0 ? (next + 1) % n : (next + n - 1) % n;
    if (group == UINT32_MAX || group_of[next] == group) return next;
  }
  return n;
}

}  // namespace vramscope::query
