#include "profiler/recording/expandable_ranges.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "profiler/allocator/rules.h"

namespace vramscope::recording {
namespace {

struct Piece {
  ExpandableRange range;
  bool known = false;  // whether pool and memory pool are known
};

void Add(std::vector<Piece>& parts, uint64_t address, uint64_t bytes, Piece part) {
  if (bytes == 0 || bytes > UINT64_MAX - address) return;
  part.range.begin = address;
  part.range.end = address + bytes;
  parts.push_back(part);
}

// Whether two pieces may belong to one segment.
bool Agree(const Piece& a, const Piece& b) {
  if (a.range.device != b.range.device || a.range.stream != b.range.stream) return false;
  return !a.known || !b.known ||
         (a.range.pool == b.range.pool && a.range.mempool == b.range.mempool);
}

void Join(Piece& into, const Piece& part) {
  into.range.end = std::max(into.range.end, part.range.end);
  if (into.known || !part.known) return;
  into.range.pool = part.range.pool;
  into.range.mempool = part.range.mempool;
  into.range.stack = part.range.stack;
  into.known = true;
}

// Infers the pool of each range that is in no segment at the end: from the blocks in the range, or
// from the size of its mapped pieces.
void FindPools(const Recording& recording, std::vector<Piece>& parts) {
  const uint64_t large_page = allocator::PageSize(
      trace::Pool::kLarge, run::ParseAllocConf(recording.alloc_conf).value_or(run::AllocConf()));
  for (Piece& part : parts)
    if (!part.known && (part.range.end - part.range.begin) % large_page == 0)
      part.range.pool = trace::Pool::kLarge;
  const EntryTable& e = recording.entries;
  for (EntryIndex i = 0; i < e.size(); ++i) {
    if (e.action[i] != Action::kAlloc && e.action[i] != Action::kFreeCompleted) continue;
    const auto after =
        std::upper_bound(parts.begin(), parts.end(), std::pair(e.DeviceOf(i), e.address[i]),
                         [](const auto& key, const Piece& p) {
                           return key < std::pair(p.range.device, p.range.begin);
                         });
    if (after == parts.begin()) continue;
    Piece& part = *std::prev(after);
    if (!part.known && part.range.device == e.DeviceOf(i) && e.address[i] < part.range.end)
      part.range.pool = allocator::PoolOf(e.bytes[i]);
  }
}

}  // namespace

std::vector<ExpandableRange> ExpandableRanges(const Recording& recording) {
  std::vector<Piece> parts;
  for (const SegmentState& s : recording.segments) {
    if (!s.expandable) continue;
    Piece part{.range = {.stream = s.stream,
                         .device = s.device,
                         .pool = s.pool,
                         .mempool = s.mempool,
                         .stack = s.stack},
               .known = true};
    Add(parts, s.address, s.bytes, part);
  }
  const EntryTable& e = recording.entries;
  for (EntryIndex i = 0; i < e.size(); ++i) {
    if (e.action[i] != Action::kSegmentMap && e.action[i] != Action::kSegmentUnmap) continue;
    Piece part;
    part.range.stream = e.stream[i];
    part.range.device = e.DeviceOf(i);
    Add(parts, e.address[i], e.bytes[i], part);
  }
  if (parts.empty()) return {};

  std::sort(parts.begin(), parts.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.range.device, a.range.begin, a.range.end) <
           std::tie(b.range.device, b.range.begin, b.range.end);
  });
  // Overlapping pieces always form one range; adjacent pieces do if they agree.
  std::vector<Piece> joined;
  for (const Piece& part : parts) {
    if (!joined.empty() && joined.back().range.device == part.range.device &&
        (part.range.begin < joined.back().range.end ||
         (part.range.begin == joined.back().range.end && Agree(joined.back(), part))))
      Join(joined.back(), part);
    else
      joined.push_back(part);
  }
  bool all_known = true;
  for (const Piece& part : joined) all_known &= part.known;
  if (!all_known) FindPools(recording, joined);
  // Also joins neighbours with a gap between them: the gap was reserved, but never mapped.
  std::vector<ExpandableRange> ranges;
  for (Piece& part : joined) {
    const ExpandableRange& r = part.range;
    ExpandableRange* last = ranges.empty() ? nullptr : &ranges.back();
    if (last != nullptr && last->device == r.device && last->stream == r.stream &&
        last->pool == r.pool && (!part.known || last->mempool == r.mempool))
      last->end = r.end;
    else
      ranges.push_back(r);
  }
  return ranges;
}

}  // namespace vramscope::recording
