#include "profiler/trace/shared_snapshots.h"

#include <algorithm>
#include <utility>

#include "profiler/trace/columns.h"
#include "profiler/trace/only_owner.h"

namespace vramscope::trace {
namespace {

constexpr size_t kMost = 2;

// Reserves as much as the builder's column `now` has, so that both are reallocated equally often.
template <class T>
void Grow(const std::vector<T>& now, std::vector<T>& to) {
  if (to.capacity() < now.size()) to.reserve(std::max(now.size(), now.capacity()));
}

// For rows that never change once added.
template <class T>
void Append(const std::vector<T>& now, std::vector<T>& to) {
  Grow(now, to);
  to.insert(to.end(), now.begin() + static_cast<ptrdiff_t>(to.size()), now.end());
}

template <class T>
void Append(const PackedColumn<T>& now, PackedColumn<T>& to) {
  to.GrowTo(now);
}

// For rows that the end of a slice, a free or a change of category may still change.
template <class T>
void Append(const SharedColumn<T>& now, SharedColumn<T>& to) {
  to = now;
}

template <class T>
void Replace(const std::vector<T>& now, std::vector<T>& to) {
  Grow(now, to);
  to = now;
}

template <class Table>
void AppendAll(const Table& now, Table& to) {
  ForEachColumn([](const auto& now, auto& to) { Append(now, to); }, now, to);
}

// Keeps the first `unchanged` rows of `to`. Copies the other rows again, because late activities
// may have moved them.
void AppendFrom(uint32_t unchanged, const ActivityTable& now, ActivityTable& to) {
  ForEachColumn([&](auto& column) { column.resize(std::min<size_t>(column.size(), unchanged)); },
                to);
  AppendAll(now, to);
}

void Update(const Trace& now, uint32_t activities, uint32_t operands, Trace& to) {
  to.info = now.info;
  to.warnings = now.warnings;
  to.recording_begin = now.recording_begin;
  Append(now.strings, to.strings);
  Append(now.package_folders, to.package_folders);
  Append(now.markers, to.markers);
  AppendAll(now.events, to.events);
  AppendAll(now.retags, to.retags);
  AppendAll(now.other_events, to.other_events);
  Append(now.stacks.function, to.stacks.function);
  Append(now.stacks.file, to.stacks.file);
  Append(now.stacks.line, to.stacks.line);
  Replace(now.stacks.first, to.stacks.first);
  Append(now.stacks.frames, to.stacks.frames);
  AppendAll(now.allocations, to.allocations);
  Replace(now.segments.free_event, to.segments.free_event);
  AppendAll(now.segments, to.segments);
  AppendAll(now.slices, to.slices);
  AppendFrom(activities, now.activities, to.activities);
  AppendFrom(operands, now.operands, to.operands);
}

}  // namespace

Trace SharedSnapshots::Take(const Trace& now, Rows unchanged) {
  for (Version& snapshot : snapshots_) {
    Rows& rows = snapshot.unchanged;
    rows = {std::min(rows.activities, unchanged.activities),
            std::min(rows.operands, unchanged.operands)};
  }
  Trace trace;
  Rows rows;
  for (auto at = snapshots_.begin(); at != snapshots_.end(); ++at) {
    if (!OnlyOwner(at->trace)) continue;  // still in use
    trace = std::move(*at->trace);
    rows = at->unchanged;
    snapshots_.erase(at);
    break;
  }
  Update(now, rows.activities, rows.operands, trace);
  return trace;
}

std::shared_ptr<const Trace> SharedSnapshots::HandOut(Trace&& snapshot) {
  if (snapshots_.size() == kMost) snapshots_.erase(snapshots_.begin());  // its users keep it alive
  const Rows rows{snapshot.activities.size(), snapshot.operands.size()};
  snapshots_.push_back({std::make_shared<Trace>(std::move(snapshot)), rows});
  return snapshots_.back().trace;
}

}  // namespace vramscope::trace
