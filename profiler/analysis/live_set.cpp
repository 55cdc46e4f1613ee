#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "profiler/analysis/analysis.h"
#include "profiler/analysis/site_names.h"
#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"

namespace vramscope::analysis {

using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;
using trace::SliceKind;

trace::EventIndex EventAtTime(const trace::Trace& trace, int64_t time_ns) {
  const auto& times = trace.events.time_ns;
  const auto it = std::upper_bound(times.begin(), times.end(), time_ns);
  return it == times.begin() ? 0 : static_cast<EventIndex>(it - times.begin() - 1);
}

Context ContextAt(const trace::Trace& trace, EventIndex event) {
  Context c;
  if (trace.events.size() == 0) return c;
  event = std::min(event, trace.events.size() - 1);
  c.event = event;
  c.time_ns = trace.events.time_ns[event];

  // Slices are ordered by begin, so the last open one of a kind is the innermost.
  const trace::SliceTable& s = trace.slices;
  const auto end = std::upper_bound(s.begin_event.begin(), s.begin_event.end(), event);
  const auto rows = static_cast<uint32_t>(end - s.begin_event.begin());
  for (uint32_t i = 0; i < rows; ++i) {
    if (s.end_event[i] <= event) continue;  // kNoEvent is the largest index
    switch (s.kind[i]) {
      case SliceKind::kStep:
        c.step = static_cast<int32_t>(s.number[i]);
        break;
      case SliceKind::kMicroBatch:
        c.micro_batch = static_cast<int32_t>(s.number[i]);
        break;
      case SliceKind::kPhase:
        c.phase = s.phase(i);
        break;
      case SliceKind::kModule:
        c.module = trace.String(s.name[i]);
        break;
      case SliceKind::kOp:
        c.op = trace.String(s.name[i]);
        break;
      case SliceKind::kAnnotation:
        break;
    }
  }
  if (trace.events.kind[event] == EventKind::kAlloc) {
    const trace::AllocationTable& a = trace.allocations;
    const auto id = static_cast<uint32_t>(trace.events.id[event]);
    c.step = a.step[id];
    c.micro_batch = a.micro_batch[id];
    c.phase = a.phase[id];
    c.module = trace.String(a.module[id]);
    c.op = trace.String(a.op[id]);
  }
  return c;
}

LiveSet LiveAt(const trace::Trace& trace, EventIndex event) {
  LiveSet live;
  if (trace.events.size() == 0) return live;
  event = std::min(event, trace.events.size() - 1);
  live.context = ContextAt(trace, event);

  const trace::AllocationTable& a = trace.allocations;
  const trace::MemoryCursor at = trace::MemoryCursor::Behind(trace, event);
  const trace::MemorySums& sums = at.sums();
  live.allocated = sums.allocated;
  live.requested = sums.requested;
  live.reserved = sums.reserved;
  live.by_category = sums.by_category;
  for (const trace::AllocationId id : at.Live())
    live.allocations.push_back({.id = id, .category = at.CategoryOf(id)});
  std::sort(live.allocations.begin(), live.allocations.end(),
            [&a](const LiveAllocation& x, const LiveAllocation& y) {
              const uint64_t bx = a.bytes_rounded[x.id.value], by = a.bytes_rounded[y.id.value];
              return bx != by ? bx > by : x.id < y.id;
            });
  return live;
}

namespace {
constexpr std::pair<std::string_view, GroupBy> kGroupings[] = {
    {"category", GroupBy::kCategory},
    {"module", GroupBy::kModule},
    {"op", GroupBy::kOp},
    {"stack", GroupBy::kStack},
    {"phase", GroupBy::kPhase},
    {"file", GroupBy::kFile},
    {"size", GroupBy::kSize},
    {"age", GroupBy::kAge},
    {"annotation", GroupBy::kAnnotation},
};
}  // namespace

std::vector<std::string> GroupByNames() {
  std::vector<std::string> names;
  for (const auto& [name, by] : kGroupings) names.emplace_back(name);
  return names;
}

absl::StatusOr<GroupBy> ParseGroupBy(std::string_view name) {
  for (const auto& [known, by] : kGroupings)
    if (known == name) return by;
  return absl::InvalidArgumentError(i18n::Format("cannot group by \"{}\"; choose from {}", name,
                                                 fmt::join(GroupByNames(), ", ")));
}

namespace {

// "optimizer.py:80 step"; without Python frames (a thread of autograd) the node, the operator, or
// the innermost frame.
std::string StackName(const trace::Trace& trace, trace::StackId stack) {
  const std::span<const uint32_t> frames = trace.stacks.Frames(stack);
  if (frames.empty()) return "(no stack)";
  const SiteNames names(trace);
  if (std::vector<std::string> callers = names.Callers(stack); !callers.empty())
    return std::move(callers.front());
  if (std::string op = names.Operator(stack); !op.empty()) return op;
  return std::string(FunctionName(trace.String(trace.stacks.function[frames.front()])));
}

// The file of the frame that StackName() uses; "" without Python frames.
std::string_view FileOf(const trace::Trace& trace, trace::StackId stack) {
  const SiteNames names(trace);
  std::string_view library;
  for (const uint32_t frame : trace.stacks.Frames(stack)) {
    const SiteNames::Frame kind = names.KindOf(frame);
    const std::string_view file = trace.String(trace.stacks.file[frame]);
    if (kind == SiteNames::Frame::kProgram) return file;
    if (kind == SiteNames::Frame::kLibrary && library.empty()) library = file;
  }
  return library;
}

// For each live allocation, the innermost slice of a kind that was open when it was allocated (of
// several, the one begun last). Operators are only looked up for allocations without a recorded
// one, such as those of compiled graphs. The result is by allocation.
base::HashMap<uint32_t, trace::StringId> OpenSlices(const trace::Trace& trace, const LiveSet& live,
                                                    SliceKind kind) {
  const trace::AllocationTable& a = trace.allocations;
  const trace::SliceTable& s = trace.slices;
  std::vector<uint32_t> without;
  for (const LiveAllocation& l : live.allocations)
    if (kind != SliceKind::kOp || a.op[l.id.value].value == 0) without.push_back(l.id.value);
  std::sort(without.begin(), without.end());  // ids are in order of events
  base::HashMap<uint32_t, trace::StringId> names;
  std::vector<uint32_t> open;
  uint32_t next = 0;
  for (const uint32_t id : without) {
    const EventIndex made = a.alloc_event[id];
    for (; next < s.size() && s.begin_event[next] < made; ++next)
      if (s.kind[next] == kind) open.push_back(next);
    while (!open.empty() && s.end_event[open.back()] < made) open.pop_back();
    const auto at = std::find_if(open.rbegin(), open.rend(),
                                 [&](uint32_t row) { return s.end_event[row] > made; });
    if (at != open.rend()) names[id] = s.name[*at];
  }
  return names;
}

// Upper limits of the classes. 1 MiB: the largest request that PyTorch serves from 2 MiB segments.
// 10 MiB: requests from this size on get their own segment.
struct SizeClass {
  uint64_t most;
  std::string_view name;
};
constexpr SizeClass kSizes[] = {{512, "<= 512 B"},
                                {uint64_t{64} << 10, "<= 64 KiB"},
                                {uint64_t{1} << 20, "<= 1 MiB"},
                                {uint64_t{10} << 20, "<= 10 MiB"},
                                {uint64_t{100} << 20, "<= 100 MiB"},
                                {uint64_t{1} << 30, "<= 1 GiB"},
                                {UINT64_MAX, "> 1 GiB"}};
struct AgeClass {
  int64_t below;
  std::string_view name;
};
constexpr AgeClass kAges[] = {{1'000'000, "< 1 ms"},      {10'000'000, "< 10 ms"},
                              {100'000'000, "< 100 ms"},  {1'000'000'000, "< 1 s"},
                              {10'000'000'000, "< 10 s"}, {INT64_MAX, ">= 10 s"}};
constexpr AgeClass kAgesInEntries[] = {
    {10, "< 10 entries"},        {100, "< 100 entries"},        {1'000, "< 1000 entries"},
    {10'000, "< 10000 entries"}, {100'000, "< 100000 entries"}, {INT64_MAX, ">= 100000 entries"}};

// Groups one set of live blocks by one criterion.
class Grouping {
 public:
  Grouping(const trace::Trace& trace, const LiveSet& live, GroupBy by)
      : trace_(trace),
        now_ns_(live.context.time_ns),
        by_(by),
        stacks_(!trace.events.stack.empty()),
        ages_(trace.info.has_times ? std::span<const AgeClass>(kAges)
                                   : std::span<const AgeClass>(kAgesInEntries)) {
    if (by == GroupBy::kOp) open_ = OpenSlices(trace, live, SliceKind::kOp);
    if (by == GroupBy::kAnnotation) open_ = OpenSlices(trace, live, SliceKind::kAnnotation);
  }

  // Blocks with the same key are in one group; a group may have several keys.
  uint64_t KeyOf(const LiveAllocation& l) const;
  std::string NameOf(uint64_t key) const;

 private:
  // The key of blocks older than a recording: they are in no phase of it, and their call site is
  // usually not recorded.
  static constexpr uint64_t kOlder = ~uint64_t{0};
  std::string_view Text(uint64_t id, std::string_view none) const {
    const std::string_view s = trace_.String({static_cast<uint32_t>(id)});
    return s.empty() ? none : s;
  }

  const trace::Trace& trace_;
  int64_t now_ns_;
  GroupBy by_;
  bool stacks_;
  std::span<const AgeClass> ages_;
  base::HashMap<uint32_t, trace::StringId> open_;
};

uint64_t Grouping::KeyOf(const LiveAllocation& l) const {
  const trace::AllocationTable& a = trace_.allocations;
  const uint32_t id = l.id.value;
  const bool older = IsOlder(trace_, id);
  switch (by_) {
    case GroupBy::kCategory:
      return static_cast<uint64_t>(l.category);
    case GroupBy::kModule:
      return a.module[id].value;
    case GroupBy::kOp: {
      const auto open = open_.find(id);
      return open != open_.end() ? open->second.value : a.op[id].value;
    }
    case GroupBy::kStack:
    case GroupBy::kFile:
      if (stacks_ || by_ == GroupBy::kFile) {
        const uint32_t stack = trace_.events.StackOf(a.alloc_event[id]).value;
        return stack == 0 && older ? kOlder : stack;
      }
      return uint64_t{a.module[id].value} << 32 | a.op[id].value;
    case GroupBy::kPhase:
      return older ? kOlder : static_cast<uint64_t>(a.phase[id]);
    case GroupBy::kSize:
      return static_cast<uint64_t>(
          std::ranges::find_if(kSizes,
                               [&](const SizeClass& c) { return a.bytes_rounded[id] <= c.most; }) -
          std::begin(kSizes));
    case GroupBy::kAge:
      return older ? kOlder
                   : static_cast<uint64_t>(std::ranges::find_if(ages_.first(ages_.size() - 1),
                                                                [&](const AgeClass& c) {
                                                                  return now_ns_ - a.begin_ns[id] <
                                                                         c.below;
                                                                }) -
                                           ages_.begin());
    case GroupBy::kAnnotation: {
      const auto open = open_.find(id);
      return open != open_.end() ? open->second.value
                                 : trace_.events.UserMetadataOf(a.alloc_event[id]).value;
    }
  }
  return 0;
}

std::string Grouping::NameOf(uint64_t key) const {
  if (key == kOlder) return "(before the recording)";
  switch (by_) {
    case GroupBy::kCategory:
      return std::string(trace::Name(static_cast<trace::Category>(key)));
    case GroupBy::kModule:
      return std::string(Text(key, "(no module)"));
    case GroupBy::kOp:
      return std::string(Text(key, "(no op)"));
    case GroupBy::kStack:
      if (stacks_) return StackName(trace_, {static_cast<uint32_t>(key)});
      return fmt::format("{} > {}", Text(key >> 32, "(no module)"),
                         Text(key & 0xffffffffu, "(no op)"));
    case GroupBy::kPhase:
      return std::string(trace::Name(static_cast<trace::Phase>(key)));
    case GroupBy::kFile: {
      const std::string_view file = FileOf(trace_, {static_cast<uint32_t>(key)});
      return file.empty() ? "(no file)" : std::string(file);
    }
    case GroupBy::kSize:
      return std::string(kSizes[key].name);
    case GroupBy::kAge:
      return std::string(ages_[key].name);
    case GroupBy::kAnnotation:
      return std::string(Text(key, "(no annotation)"));
  }
  return "";
}

}  // namespace

LiveGroups GroupBlocks(const trace::Trace& trace, const LiveSet& live, GroupBy by) {
  const Grouping grouping(trace, live, by);
  base::HashMap<uint64_t, uint32_t> row;
  base::HashMap<std::string, uint32_t> row_of_name;  // stacks with the same name are one group
  std::vector<Group> groups;
  LiveGroups out;
  out.group_of.reserve(live.allocations.size());
  for (const LiveAllocation& l : live.allocations) {
    const uint64_t key = grouping.KeyOf(l);
    const auto [it, fresh] = row.try_emplace(key, 0);
    if (fresh) {
      const auto [named, fresh_name] =
          row_of_name.try_emplace(grouping.NameOf(key), static_cast<uint32_t>(groups.size()));
      if (fresh_name) groups.push_back({.name = named->first});
      it->second = named->second;
    }
    const uint32_t group = it->second;
    groups[group].bytes += trace.allocations.bytes_rounded[l.id.value];
    ++groups[group].count;
    out.group_of.push_back(group);
  }
  std::vector<uint32_t> order(groups.size()), place(groups.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t i, uint32_t j) {
    const Group &x = groups[i], &y = groups[j];
    return x.bytes != y.bytes ? x.bytes > y.bytes : x.name < y.name;
  });
  out.groups.reserve(groups.size());
  for (const uint32_t from : order) {
    place[from] = static_cast<uint32_t>(out.groups.size());
    out.groups.push_back(std::move(groups[from]));
  }
  for (uint32_t& group : out.group_of) group = place[group];
  return out;
}

std::vector<Group> GroupLive(const trace::Trace& trace, const LiveSet& live, GroupBy by) {
  return GroupBlocks(trace, live, by).groups;
}

Peak FindPeak(const trace::Trace& trace, const MemoryCurves& curves) {
  Peak peak;
  if (curves.size() == 0) return peak;
  // The memory at the beginning of a recording is restated event by event, but all of it existed at
  // the beginning.
  const EventIndex begin = trace.recording_begin == kNoEvent ? 0 : trace.recording_begin;
  const auto first = static_cast<ptrdiff_t>(PointAt(curves, begin).value_or(0));
  const auto at = static_cast<size_t>(
      std::max_element(curves.allocated.begin() + first, curves.allocated.end()) -
      curves.allocated.begin());
  peak.allocated = curves.allocated[at];
  peak.reserved = *std::max_element(curves.reserved.begin() + first, curves.reserved.end());
  peak.reserved_then = curves.reserved[at];
  peak.context = ContextAt(trace, std::max(curves.event[at], begin));
  for (int c = 0; c < trace::kCategoryCount; ++c) {
    if (!curves.category[c].empty()) peak.by_category[c] = curves.category[c][at];
  }
  return peak;
}

uint64_t MostByCounter(const trace::Trace& trace) {
  const trace::AllocationTable& a = trace.allocations;
  const EventIndex begin = trace.recording_begin == kNoEvent ? 0 : trace.recording_begin;
  uint64_t now = 0, most = 0;
  for (EventIndex i = 0; i < trace.events.size(); ++i) {
    const trace::EventKind kind = trace.events.kind[i];
    const auto id = static_cast<uint32_t>(trace.events.id[i]);
    if (kind == trace::EventKind::kAlloc)
      now += a.bytes_rounded[id];
    else if ((kind == trace::EventKind::kFreeRequested ||
              kind == trace::EventKind::kFreeCompleted) &&
             a.free_requested_event[id] == i)
      now -= a.bytes_rounded[id];
    if (i >= begin) most = std::max(most, now);
  }
  return most;
}

}  // namespace vramscope::analysis
