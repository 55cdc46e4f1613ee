// Determines the size of every block, walking forward from the start state that the roll-back
// found.
//
// An allocation uses the beginning of a free block. Free neighbours are always merged, so the free
// block extends to the next live block or to the end of the segment. The allocator's rules show
// whether the rest was split off. Free space between a live block and a new allocation is the live
// block's tail: an allocation in a free block would be at its beginning.
#include <absl/container/btree_map.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "profiler/allocator/rules.h"
#include "profiler/base/i18n.h"
#include "profiler/recording/expandable_ranges.h"
#include "profiler/recording/recording.h"
#include "profiler/recording/rollback.h"
#include "profiler/recording/segment_blocks.h"

namespace vramscope::recording {
namespace {

struct Span {
  uint64_t begin = 0, end = 0;
  trace::Pool pool = trace::Pool::kSmall;
  bool expandable = false;
};

// The segments that exist at the current entry, by address.
class SpanMap {
 public:
  bool Add(const Span& span) {
    const auto next = spans_.lower_bound(span.begin);
    if (next != spans_.end() && next->first < span.end) return false;
    if (next != spans_.begin() && std::prev(next)->second.end > span.begin) return false;
    spans_.emplace_hint(next, span.begin, span);
    near_ = {};
    return true;
  }
  bool Remove(uint64_t begin) {
    near_ = {};
    return spans_.erase(begin) > 0;
  }
  // Returns the segment that contains `address`; an empty segment if there is none.
  const Span& Find(uint64_t address) {
    Span& near = near_[(address >> 21) % near_.size()];
    if (address < near.begin || address >= near.end) {
      const auto next = spans_.upper_bound(address);
      near = next == spans_.begin() ? Span() : std::prev(next)->second;
      if (address >= near.end) near = {};
    }
    return near;
  }

 private:
  absl::btree_map<uint64_t, Span> spans_;
  std::array<Span, 64> near_;  // recently found spans, by address
};

struct Device {
  struct Block {
    uint64_t end = 0;
    uint32_t row = 0;  // row of History::allocations
  };
  using BlockMap = absl::btree_map<uint64_t, Block>;
  BlockMap live;  // keyed by address
  SpanMap segments;
};

class Walk {
 public:
  Walk(const Recording& recording, const run::AllocConf& conf, Start start, Oddities& oddities)
      : recording_(recording),
        entries_(recording.entries),
        conf_(conf),
        start_(std::move(start)),
        odd_(oddities),
        expandable_(ExpandableRanges(recording)) {}

  History Run() {
    FillAllocations();
    history_.left_out = std::move(start_.left_out);
    BeginState();
    size_t skip = 0;
    for (EntryIndex i = 0; i < entries_.size(); ++i) {
      if (skip < history_.left_out.size() && history_.left_out[skip] == i) {
        ++skip;
        continue;
      }
      Step(i);
    }
    FillStartSegments();
    return std::move(history_);
  }

 private:
  History::Allocations& a() { return history_.allocations; }
  Device& On(uint8_t device) {
    if (devices_[device] == nullptr) devices_[device] = std::make_unique<Device>();
    return *devices_[device];
  }

  // Fills everything but sizes and pools.
  void FillAllocations() {
    const size_t n = start_.older.size() + start_.recorded.size();
    history_.older = static_cast<uint32_t>(start_.older.size());
    history_.allocation_of_entry.assign(entries_.size(), kNoRow);
    end_block_.reserve(n);
    const auto reserve = [n](auto&... columns) { (columns.reserve(n), ...); };
    reserve(a().alloc, a().free_requested, a().free_completed, a().address, a().requested,
            a().bytes, a().stream, a().device, a().pool, a().stack, a().bytes_known);
    const bool has_requests = std::find(entries_.action.begin(), entries_.action.end(),
                                        Action::kFreeRequested) != entries_.action.end();
    for (const OlderBlock& b : start_.older) AddOlder(b, has_requests);
    for (const BlockLife& life : start_.recorded) {
      const EntryIndex i = life.alloc;
      Add(life, entries_.address[i], entries_.bytes[i], entries_.stream[i], entries_.DeviceOf(i),
          entries_.StackOf(i));
      if (life.end_block != kNoRow &&
          start_.end_blocks[life.end_block].requested != entries_.bytes[i])
        odd_.Count(Oddity::kRequestedDiffers);
    }
    start_.older = {};
    start_.recorded = {};
  }

  void AddOlder(const OlderBlock& b, bool has_requests) {
    const OlderAlloc* made = FindOlder(b);
    const auto stack = [&](uint64_t requested) {
      return made != nullptr && made->requested == requested ? made->stack : trace::StackId();
    };
    bool pending = made != nullptr ? made->pending : has_requests;
    if (b.life.end_block != kNoRow) {
      const EndBlock& end = start_.end_blocks[b.life.end_block];
      pending = end.pending;
      Add(b.life, b.address, end.requested, end.stream, b.device,
          end.stack.value != 0 ? end.stack : stack(end.requested));
    } else if (const EntryIndex i = LastSeen(b, made); i != kNoEntry) {
      Add(b.life, b.address, entries_.bytes[i], entries_.stream[i], b.device,
          stack(entries_.bytes[i]));
    } else {
      Add(b.life, b.address, made->requested, made->stream, b.device, made->stack);
    }
    history_.older_pending.push_back(b.life.requested == kNoEntry && pending);
    told_.push_back(!end_block_.back() && made != nullptr && made->bytes > 0 &&
                    made->requested == a().requested.back());
    if (!told_.back()) return;
    a().bytes.back() = made->bytes;
    a().bytes_known.back() = made->bytes_known;
  }

  // Returns the entry from which an older block's size is known: the completion of its free. If
  // that is missing and no OlderAlloc has the size, returns the entry that requested the free.
  static EntryIndex LastSeen(const OlderBlock& b, const OlderAlloc* made) {
    if (b.life.completed != kNoEntry || made != nullptr) return b.life.completed;
    return b.life.requested;
  }

  // Both lists are sorted by (device, address), so each search begins where the last one ended.
  const OlderAlloc* FindOlder(const OlderBlock& b) {
    const std::vector<OlderAlloc>& all = recording_.older;
    const std::pair key(b.device, b.address);
    while (older_ < all.size() && std::pair(all[older_].device, all[older_].address) < key)
      ++older_;
    if (older_ == all.size() || std::pair(all[older_].device, all[older_].address) != key)
      return nullptr;
    return &all[older_];
  }

  uint64_t Rounded(uint64_t requested) const {
    return recording_.bytes_are_blocks ? requested : allocator::RoundSize(requested, conf_);
  }

  void Add(const BlockLife& life, uint64_t address, uint64_t requested, uint32_t stream,
           uint8_t device, trace::StackId stack) {
    const uint32_t row = a().size();
    a().alloc.push_back(life.alloc);
    a().free_requested.push_back(life.requested);
    a().free_completed.push_back(life.completed);
    a().address.push_back(address);
    a().requested.push_back(requested);
    const bool stated = life.end_block != kNoRow && start_.end_blocks[life.end_block].bytes_known;
    a().bytes.push_back(stated ? start_.end_blocks[life.end_block].bytes : Rounded(requested));
    a().stream.push_back(stream);
    a().device.push_back(device);
    a().pool.push_back(allocator::PoolOf(a().bytes.back()));
    a().stack.push_back(stack);
    a().bytes_known.push_back(true);
    end_block_.push_back(stated);
    for (const EntryIndex entry : {life.alloc, life.requested, life.completed})
      if (entry != kNoEntry) history_.allocation_of_entry[entry] = row;
  }

  void BeginState() {
    for (const ExpandableRange& r : expandable_)
      On(r.device).segments.Add({r.begin, r.end, r.pool, true});
    for (const SegmentLife& life : start_.segments) {
      if (life.alloc != kNoEntry) break;
      AddSegment(life.segment);
    }
    for (uint32_t row = 0; row < history_.older; ++row) {
      Device& d = On(a().device[row]);
      // The end of the block, 0 here, is set below.
      d.live.emplace_hint(d.live.end(), a().address[row], Device::Block{0, row});
    }
    for (uint32_t row = 0; row < history_.older; ++row) {
      const uint64_t begin = a().address[row], end = begin + a().bytes[row];
      const Span& s = On(a().device[row]).segments.Find(begin);
      if (s.end == 0) {
        if (recording_.has_segments) odd_.Count(Oddity::kOutsideSegments);
        continue;
      }
      a().pool[row] = s.pool;
      if (end_block_[row] || told_[row] || s.expandable || s.pool == trace::Pool::kSmall) continue;
      uint64_t next = s.end;
      if (row + 1 < history_.older && a().device[row + 1] == a().device[row])
        next = std::min(next, a().address[row + 1]);
      // The gap is too small for a block of the large pool, so it is not a free block, but the
      // tail.
      if (next > end && next - end <= allocator::kSmallSize) a().bytes[row] = next - begin;
      a().bytes_known[row] = next <= begin + a().bytes[row];
    }
  }

  bool AddSegment(const SegmentState& s) {
    return On(s.device).segments.Add({s.address, s.address + s.bytes, s.pool, false});
  }

  void Step(EntryIndex i) {
    switch (entries_.action[i]) {
      case Action::kAlloc:
        Alloc(i);
        break;
      case Action::kFreeCompleted:
      case Action::kFreeRequested: {
        const uint32_t row = history_.allocation_of_entry[i];
        if (a().free_completed[row] == i) Erase(row);
        break;
      }
      case Action::kSegmentAlloc:
        NewSegment(i);
        break;
      case Action::kSegmentFree:
        On(entries_.DeviceOf(i)).segments.Remove(entries_.address[i]);
        break;
      default:
        break;
    }
  }

  void Erase(uint32_t row) {
    Device& d = On(a().device[row]);
    const auto at = d.live.find(a().address[row]);
    if (at != d.live.end() && at->second.row == row) d.live.erase(at);
  }

  void NewSegment(EntryIndex i) {
    // The list has the start's segments first, then those that entries allocate, in order of these
    // entries.
    while (next_segment_ < start_.segments.size() &&
           start_.segments[next_segment_].alloc == kNoEntry)
      ++next_segment_;
    if (!sorted_) {
      std::sort(start_.segments.begin() + static_cast<ptrdiff_t>(next_segment_),
                start_.segments.end(),
                [](const SegmentLife& x, const SegmentLife& y) { return x.alloc < y.alloc; });
      sorted_ = true;
    }
    const SegmentLife& life = start_.segments[next_segment_++];
    AddSegment(life.segment);
    history_.new_segments.push_back({i, life.segment.pool, life.segment.mempool});
  }

  void Alloc(EntryIndex i) {
    const uint32_t row = history_.allocation_of_entry[i];
    Device& d = On(a().device[row]);
    const uint64_t address = a().address[row];
    const Span segment = d.segments.Find(address);
    const uint64_t rounded = Rounded(a().requested[row]);
    if (segment.end != 0)
      a().pool[row] = segment.pool;
    else if (recording_.has_segments)
      odd_.Count(Oddity::kOutsideSegments);

    auto next = d.live.lower_bound(address);
    if (next != d.live.begin()) {
      const auto before = std::prev(next);
      if (before->second.end != address) next = Before(before, address, segment, i, d);
    }
    uint64_t end = segment.end;
    while (next != d.live.end() && next->first - address < rounded) {
      if (!Displace(next->second.row, i)) {
        odd_.Count(Oddity::kOverlap);
        break;  // a damaged file may have any number of overlapping blocks
      }
      next = d.live.erase(next);
    }
    if (next != d.live.end()) end = std::min(end, next->first);
    if (!end_block_[row] && !segment.expandable && end > address && end - address > rounded) {
      const uint64_t whole = end - address;
      if (!allocator::Splits(rounded, whole - rounded, segment.pool, conf_)) a().bytes[row] = whole;
    }
    d.live.insert_or_assign(next, address, Device::Block{address + a().bytes[row], row});
  }

  // Handles the live block before an allocation at `address`. Returns the next live block.
  Device::BlockMap::iterator Before(Device::BlockMap::iterator at, uint64_t address,
                                    const Span& segment, EntryIndex i, Device& d) {
    const uint32_t row = at->second.row;
    const uint64_t between = address - at->first;
    if (between == a().bytes[row] || segment.end == 0 || at->first < segment.begin) return ++at;
    const uint64_t rounded = Rounded(a().requested[row]);
    if (between < rounded || (between < a().bytes[row] && end_block_[row])) {
      if (Displace(row, i)) return d.live.erase(at);
      odd_.Count(Oddity::kOverlap);
      return ++at;
    }
    if (end_block_[row] || segment.expandable) return ++at;
    // The space up to the allocation is the block's tail.
    const uint64_t tail = between - rounded;
    if (tail > std::max(rounded, allocator::MostTail(rounded, conf_))) return ++at;
    if (a().bytes_known[row] || tail > allocator::MostTail(rounded, conf_))
      odd_.Count(Oddity::kLargerThanRule);
    a().bytes[row] = between;
    a().bytes_known[row] = true;
    at->second.end = address;
    return ++at;
  }

  // Returns whether the free of `row` is missing, but entry `i` shows that it has happened.
  bool Displace(uint32_t row, EntryIndex i) {
    if (a().free_completed[row] != kNoEntry || end_block_[row]) return false;
    // In a truncated file, the time of the free is unknown, but it is not before its request.
    if (const EntryIndex asked = a().free_requested[row]; asked != kNoEntry && asked > i)
      return false;
    odd_.Count(Oddity::kFreeMissing);
    a().free_completed[row] = i;
    history_.displaced.push_back(row);
    return true;
  }

  void FillStartSegments() {
    std::vector<SegmentState>& out = history_.start_segments;
    for (const SegmentLife& life : start_.segments) {
      if (life.alloc != kNoEntry) break;
      out.push_back(life.segment);
    }
    for (const ExpandableRange& r : expandable_)
      out.push_back({.address = r.begin,
                     .bytes = r.end - r.begin,
                     .stream = r.stream,
                     .device = r.device,
                     .pool = r.pool,
                     .expandable = true,
                     .mempool = r.mempool,
                     .stack = r.stack,
                     .blocks = {}});
    std::sort(out.begin(), out.end(), [](const SegmentState& x, const SegmentState& y) {
      return std::pair(x.device, x.address) < std::pair(y.device, y.address);
    });
    std::vector<PlacedBlock> older;
    older.reserve(history_.older);
    for (uint32_t row = 0; row < history_.older; ++row)
      older.push_back(
          {a().device[row],
           {.address = a().address[row],
            .bytes = a().bytes[row],
            .requested = a().requested[row],
            .use = history_.older_pending[row] ? BlockUse::kPendingFree : BlockUse::kAllocated,
            .stack = a().stack[row],
            .bytes_known = end_block_[row] || told_[row]}});
    LayOut(out, older, start_.mapped);
  }

  const Recording& recording_;
  const EntryTable& entries_;
  const run::AllocConf& conf_;
  Start start_;
  Oddities& odd_;
  const std::vector<ExpandableRange> expandable_;
  History history_;
  std::vector<bool> end_block_;  // rows of blocks in use at the end, whose size is in the file
  std::vector<bool> told_;       // older rows whose size is in Recording::older
  std::array<std::unique_ptr<Device>, 256> devices_;
  size_t next_segment_ = 0, older_ = 0;
  bool sorted_ = false;
};

}  // namespace

absl::StatusOr<History> Reconstruct(const Recording& recording) {
  const EntryTable& e = recording.entries;
  const size_t n = e.action.size();
  const bool bare = e.time_ns.empty() && e.stack.empty();
  if (n >= kNoEntry || e.address.size() != n || e.bytes.size() != n || e.stream.size() != n ||
      (!bare && (e.time_ns.size() != n || e.stack.size() != n)) ||
      (!e.device.empty() && e.device.size() != n) ||
      (!e.recorded_category.empty() && e.recorded_category.size() != n))
    return absl::InvalidArgumentError(
        i18n::Format("the recording's columns have different lengths ({} entries)", n));
  const auto place = [](const OlderAlloc& o) { return std::pair(o.device, o.address); };
  if (!std::ranges::is_sorted(recording.older, {}, place))
    return absl::InvalidArgumentError(i18n::Text(
        "the allocations from before the recording are not sorted by device and address"));
  std::vector<std::string> warnings;
  absl::StatusOr<run::AllocConf> conf = run::ParseAllocConf(recording.alloc_conf);
  if (!conf.ok()) {
    warnings.push_back(i18n::English("the allocator's default settings are assumed: {}",
                                     std::string(conf.status().message())));
    conf = run::AllocConf();
  }
  Oddities oddities;
  Start start = RollBack(recording, oddities);
  History history = Walk(recording, *conf, std::move(start), oddities).Run();
  history.warnings = std::move(warnings);
  for (std::string& text : oddities.Texts()) history.warnings.push_back(std::move(text));
  return history;
}

}  // namespace vramscope::recording
