#include <fmt/format.h>

#include <algorithm>
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

  // Slices are in order of their begin, so that the last open one of a kind is the innermost.
  const trace::SliceTable& s = trace.slices;
  const auto end = std::upper_bound(s.begin_event.begin(), s.begin_event.end(), event);
  const auto rows = static_cast<uint32_t>(end - s.begin_event.begin());
  for (uint32_t i = 0; i < rows; ++i) {
    if (s.end_event[i] <= event) continue;  // kNoEvent is the greatest
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

absl::StatusOr<GroupBy> ParseGroupBy(std::string_view name) {
  if (name == "category") return GroupBy::kCategory;
  if (name == "module") return GroupBy::kModule;
  if (name == "op") return GroupBy::kOp;
  if (name == "stack") return GroupBy::kStack;
  if (name == "phase") return GroupBy::kPhase;
  return absl::InvalidArgumentError(
      i18n::Format("cannot group by \"{}\"; choose from category, module, op, stack, phase", name));
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

// Operators of live allocations that do not say theirs, as of compiled graphs: the one that was
// open when they were made, the last begun of several. By allocation.
base::HashMap<uint32_t, trace::StringId> OpenOperators(const trace::Trace& trace,
                                                       const LiveSet& live) {
  const trace::AllocationTable& a = trace.allocations;
  const trace::SliceTable& s = trace.slices;
  std::vector<uint32_t> without;
  for (const LiveAllocation& l : live.allocations)
    if (a.op[l.id.value].value == 0) without.push_back(l.id.value);
  std::sort(without.begin(), without.end());  // ids are in order of events
  base::HashMap<uint32_t, trace::StringId> ops;
  std::vector<uint32_t> open;
  uint32_t next = 0;
  for (const uint32_t id : without) {
    const EventIndex made = a.alloc_event[id];
    for (; next < s.size() && s.begin_event[next] < made; ++next)
      if (s.kind[next] == SliceKind::kOp) open.push_back(next);
    while (!open.empty() && s.end_event[open.back()] < made) open.pop_back();
    const auto at = std::find_if(open.rbegin(), open.rend(),
                                 [&](uint32_t row) { return s.end_event[row] > made; });
    if (at != open.rend()) ops[id] = s.name[*at];
  }
  return ops;
}

}  // namespace

std::vector<Group> GroupLive(const trace::Trace& trace, const LiveSet& live, GroupBy by) {
  const trace::AllocationTable& a = trace.allocations;
  const bool stacks = !trace.events.stack.empty();
  const auto open_operators =
      by == GroupBy::kOp ? OpenOperators(trace, live) : base::HashMap<uint32_t, trace::StringId>();
  // Of a recording, what it began with: in no phase of it, and by whom is mostly not recorded.
  constexpr uint64_t kOlder = ~uint64_t{0};
  const auto key_of = [&](const LiveAllocation& l) -> uint64_t {
    const uint32_t id = l.id.value;
    switch (by) {
      case GroupBy::kCategory:
        return static_cast<uint64_t>(l.category);
      case GroupBy::kModule:
        return a.module[id].value;
      case GroupBy::kOp: {
        const auto open = open_operators.find(id);
        return open != open_operators.end() ? open->second.value : a.op[id].value;
      }
      case GroupBy::kStack:
        if (stacks) {
          const uint32_t stack = trace.events.StackOf(a.alloc_event[id]).value;
          return stack == 0 && IsOlder(trace, id) ? kOlder : stack;
        }
        return uint64_t{a.module[id].value} << 32 | a.op[id].value;
      case GroupBy::kPhase:
        return IsOlder(trace, id) ? kOlder : static_cast<uint64_t>(a.phase[id]);
    }
    return 0;
  };
  const auto text = [&trace](uint64_t id, std::string_view none) -> std::string_view {
    const std::string_view s = trace.String({static_cast<uint32_t>(id)});
    return s.empty() ? none : s;
  };
  const auto name_of = [&](uint64_t key) -> std::string {
    if (key == kOlder) return "(before the recording)";
    switch (by) {
      case GroupBy::kCategory:
        return std::string(trace::Name(static_cast<trace::Category>(key)));
      case GroupBy::kModule:
        return std::string(text(key, "(no module)"));
      case GroupBy::kOp:
        return std::string(text(key, "(no op)"));
      case GroupBy::kStack:
        if (stacks) return StackName(trace, {static_cast<uint32_t>(key)});
        return fmt::format("{} > {}", text(key >> 32, "(no module)"),
                           text(key & 0xffffffffu, "(no op)"));
      case GroupBy::kPhase:
        return std::string(trace::Name(static_cast<trace::Phase>(key)));
    }
    return "";
  };
  base::HashMap<uint64_t, size_t> row;
  base::HashMap<std::string, size_t> row_of_name;  // stacks that differ farther out are one
  std::vector<Group> groups;
  for (const LiveAllocation& l : live.allocations) {
    const uint64_t key = key_of(l);
    const auto [it, fresh] = row.try_emplace(key, 0);
    if (fresh) {
      const auto [named, fresh_name] = row_of_name.try_emplace(name_of(key), groups.size());
      if (fresh_name) groups.push_back({.name = named->first});
      it->second = named->second;
    }
    groups[it->second].bytes += a.bytes_rounded[l.id.value];
    ++groups[it->second].count;
  }
  std::sort(groups.begin(), groups.end(), [](const Group& x, const Group& y) {
    return x.bytes != y.bytes ? x.bytes > y.bytes : x.name < y.name;
  });
  return groups;
}

Peak FindPeak(const trace::Trace& trace, const MemoryCurves& curves) {
  Peak peak;
  if (curves.size() == 0) return peak;
  // What a recording began with is restated piece by piece; all of it was there when it began.
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
