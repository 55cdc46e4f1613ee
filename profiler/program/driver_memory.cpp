#include "profiler/program/driver_memory.h"

#include <algorithm>
#include <map>
#include <utility>

namespace vramscope::program {
namespace {

using recording::Action;
using recording::Recording;
using trace::Activity;
using trace::ActivityKind;

constexpr uint64_t kSmallest = 512;               // blocks are rounded up to a multiple of it
constexpr uint64_t kLargest = uint64_t{1} << 46;  // larger allocations are invalid
constexpr uint64_t kSmallPool = uint64_t{1} << 20;

uint64_t Rounded(uint64_t bytes) { return (bytes + kSmallest - 1) / kSmallest * kSmallest; }

void Add(Recording& r, Action action, const Activity& at, int64_t time, uint64_t bytes) {
  recording::EntryTable& e = r.entries;
  e.action.push_back(action);
  e.address.push_back(at.address);
  e.bytes.push_back(bytes);
  e.time_ns.push_back(time);
  e.stack.push_back({});
  e.stream.push_back(0);
  e.device.push_back(at.device);
}

}  // namespace

Recording DriverMemory(const ActivityFile& file, int64_t origin_ns) {
  std::vector<Activity> rows;
  for (const Activity& activity : file.activities())
    if ((activity.kind == ActivityKind::kDriverAlloc ||
         activity.kind == ActivityKind::kDriverFree) &&
        activity.to == trace::MemorySpace::kDevice)
      rows.push_back(activity);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Activity& x, const Activity& y) { return x.begin_ns < y.begin_ns; });

  Recording r;
  r.source = "CUPTI";
  r.start_unix_ns = origin_ns;
  r.has_segments = true;
  std::map<std::pair<uint8_t, uint64_t>, uint64_t> live;
  for (const Activity& row : rows) {
    const std::pair key(row.device, row.address);
    const int64_t time = std::max<int64_t>(row.begin_ns - origin_ns, 0);
    const auto there = live.find(key);
    if (row.kind == ActivityKind::kDriverAlloc) {
      const auto after = live.lower_bound(key);
      const uint64_t bytes = Rounded(row.bytes);
      // Ignores an allocation at addresses in use: the record of a free must have been lost.
      if (row.bytes == 0 || row.bytes > kLargest || row.address > UINT64_MAX - bytes ||
          there != live.end() ||
          (after != live.end() && after->first.first == row.device &&
           after->first.second < row.address + bytes))
        continue;
      if (after != live.begin()) {
        const auto& before = *std::prev(after);
        if (before.first.first == row.device &&
            before.first.second + Rounded(before.second) > row.address)
          continue;
      }
      live[key] = row.bytes;
      Add(r, Action::kSegmentAlloc, row, time, bytes);
      Add(r, Action::kAlloc, row, time, row.bytes);
    } else if (there != live.end()) {
      Add(r, Action::kFreeRequested, row, time, there->second);
      Add(r, Action::kFreeCompleted, row, time, there->second);
      Add(r, Action::kSegmentFree, row, time, Rounded(there->second));
      live.erase(there);
    }
  }
  for (const auto& [key, bytes] : live) {
    recording::SegmentState segment;
    segment.device = key.first;
    segment.address = key.second;
    segment.bytes = Rounded(bytes);
    segment.pool = bytes <= kSmallPool ? trace::Pool::kSmall : trace::Pool::kLarge;
    recording::BlockState block;
    block.address = key.second;
    block.bytes = segment.bytes;
    block.requested = bytes;
    block.use = recording::BlockUse::kAllocated;
    segment.blocks.push_back(block);
    r.segments.push_back(std::move(segment));
  }
  return r;
}

}  // namespace vramscope::program
