#include "profiler/query/activity_links.h"

#include <algorithm>

#include "profiler/trace/processes.h"

namespace vramscope::query {
namespace {

using trace::ActivityKind;
using trace::EventIndex;
using trace::SliceKind;

int Rank(ActivityKind kind) {
  return kind == ActivityKind::kRuntimeCall ? 0 : kind == ActivityKind::kDriverCall ? 1 : 2;
}

}  // namespace

Correlations::Correlations(const trace::ActivityTable& activities) : activities_(activities) {
  struct Row {
    uint64_t correlation;
    uint32_t rank, row;
    auto operator<=>(const Row&) const = default;
  };
  std::vector<Row> rows;
  for (uint32_t row = 0; row < activities.size(); ++row)
    if (activities.correlation[row] != 0)
      rows.push_back(
          {activities.correlation[row], static_cast<uint32_t>(Rank(activities.kind[row])), row});
  std::sort(rows.begin(), rows.end());
  rows_.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i % kSample == 0) samples_.push_back(rows[i].correlation);
    rows_.push_back(rows[i].row);
  }
}

std::span<const uint32_t> Correlations::Of(uint64_t correlation) const {
  if (correlation == 0) return {};
  const trace::PackedColumn<uint64_t>& of = activities_.correlation;
  // Rows with this correlation are between two samples: the last smaller and the first larger one.
  const auto [first_sample, last_sample] =
      std::equal_range(samples_.begin(), samples_.end(), correlation);
  const auto at = [&](std::ptrdiff_t sample) {
    const auto row = static_cast<size_t>(std::max<std::ptrdiff_t>(sample, 0)) * kSample;
    return rows_.begin() + static_cast<std::ptrdiff_t>(std::min(row, rows_.size()));
  };
  const auto end = at(last_sample - samples_.begin());
  const auto first =
      std::lower_bound(at(first_sample - samples_.begin() - 1), end, correlation,
                       [&](uint32_t row, uint64_t value) { return of[row] < value; });
  const auto last = std::upper_bound(first, end, correlation,
                                     [&](uint64_t value, uint32_t row) { return value < of[row]; });
  return {first, last};
}

SliceNesting::SliceNesting(const trace::Trace& trace)
    : slices_(trace.slices), holder_(trace.slices.size(), kNoRow) {
  std::map<Key, std::vector<uint32_t>> open;
  for (uint32_t row = 0; row < slices_.size(); ++row) {
    const Key key = KeyOf(slices_.kind[row], slices_.thread[row]);
    nests_[key].push_back(row);
    std::vector<uint32_t>& stack = open[key];
    while (!stack.empty() && slices_.end_event[stack.back()] < slices_.begin_event[row])
      stack.pop_back();
    if (!stack.empty()) holder_[row] = stack.back();
    stack.push_back(row);
  }
  const std::vector<trace::Process> processes = trace::ProcessesOf(trace);
  several_processes_ = processes.size() > 1;
  for (const trace::Process& process : processes)
    for (const uint8_t device : process.devices) process_of_device_[device] = process.number;
}

SliceNesting::Key SliceNesting::KeyOf(SliceKind kind, uint32_t thread) {
  const bool of_process =
      kind == SliceKind::kStep || kind == SliceKind::kMicroBatch || kind == SliceKind::kPhase;
  return {kind, of_process ? trace::ProcessOfThread(thread) : thread};
}

uint32_t SliceNesting::At(SliceKind kind, uint32_t thread, int64_t time_ns) const {
  const auto nest = nests_.find(KeyOf(kind, thread));
  if (nest == nests_.end()) return kNoRow;
  const auto after =
      std::upper_bound(nest->second.begin(), nest->second.end(), time_ns,
                       [&](int64_t time, uint32_t row) { return time < slices_.begin_ns[row]; });
  if (after == nest->second.begin()) return kNoRow;
  uint32_t row = *(after - 1);
  while (row != kNoRow && slices_.end_ns[row] <= time_ns && slices_.begin_ns[row] != time_ns)
    row = holder_[row];
  return row;
}

template <class Visit>
void SliceNesting::LastOfThreads(EventIndex event, uint8_t device, Visit visit) const {
  for (auto nest = nests_.lower_bound({SliceKind::kOp, 0});
       nest != nests_.end() && nest->first.first == SliceKind::kOp; ++nest) {
    if (several_processes_ &&
        trace::ProcessOfThread(nest->first.second) != process_of_device_[device])
      continue;
    const auto after = std::lower_bound(
        nest->second.begin(), nest->second.end(), event,
        [&](uint32_t row, EventIndex value) { return slices_.begin_event[row] < value; });
    if (after != nest->second.begin()) visit(*(after - 1));
  }
}

uint32_t SliceNesting::OpAround(EventIndex event, uint8_t device, trace::StringId name) const {
  uint32_t found = kNoRow;
  const auto fits = [&](uint32_t row) { return row != kNoRow && slices_.name[row] == name; };
  LastOfThreads(event, device, [&](uint32_t row) {
    while (row != kNoRow && slices_.end_event[row] <= event) row = holder_[row];
    if (row == kNoRow) return;
    // Prefers an op called `name`. Of two equally good ops, prefers the one that began later.
    if (found == kNoRow || fits(row) > fits(found) || (fits(row) == fits(found) && row > found))
      found = row;
  });
  return found;
}

uint32_t SliceNesting::OpBefore(EventIndex event, uint8_t device) const {
  uint32_t found = kNoRow;
  LastOfThreads(event, device, [&](uint32_t row) {
    if (found == kNoRow || row > found) found = row;
  });
  return found;
}

size_t SliceNesting::MemoryBytes() const {
  size_t bytes = holder_.capacity() * sizeof(uint32_t);
  for (const auto& [key, rows] : nests_) bytes += rows.capacity() * sizeof(uint32_t);
  return bytes;
}

}  // namespace vramscope::query
