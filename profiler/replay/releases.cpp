#include "profiler/replay/releases.h"

#include <absl/container/btree_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/allocator/rules.h"
#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/replay/replay.h"
#include "profiler/run/alloc_conf.h"
#include "profiler/run/units.h"
#include "profiler/trace/allocator_events.h"
#include "profiler/trace/memory_cursor.h"

namespace vramscope::replay {
namespace {

using allocator::CachingAllocator;
using run::FormatBytes;
using trace::EventIndex;
using trace::EventKind;
using Cause = Release::Cause;
using Evidence = Release::Evidence;

// Other processes and libraries use a varying part of the GPU's memory. So a request can fail
// although reserved plus requested bytes are less than the most that was ever reserved. A failure
// is ruled out only if these bytes are at most (1 - 1/kSlack) of that maximum.
constexpr uint64_t kSlack = 32;

bool GivesBack(EventKind kind) {
  return kind == EventKind::kSegmentFree || kind == EventKind::kSegmentUnmap;
}

// Finds stacks with a call of empty_cache(). Each stack is inspected once.
class Stacks {
 public:
  explicit Stacks(const trace::Trace& t) : trace_(t) {}
  bool CallsEmptyCache(trace::StackId stack) {
    if (stack.value == 0) return false;
    const auto [it, fresh] = known_.try_emplace(stack.value, false);
    if (fresh) {
      for (const uint32_t frame : trace_.stacks.Frames(stack)) {
        const std::string_view function = trace_.String(trace_.stacks.function[frame]);
        it->second |= function == "empty_cache" || function.find("emptyCache") != function.npos;
      }
    }
    return it->second;
  }

 private:
  const trace::Trace& trace_;
  base::HashMap<uint32_t, bool> known_;
};

class Finder {
 public:
  Finder(const trace::Trace& t, const run::AllocConf& conf)
      : trace_(t), conf_(conf), stacks_(t), live_in_(t.segments.size(), 0) {
    const auto& expandable = t.segments.expandable;
    has_pages_ = std::find(expandable.begin(), expandable.end(), 1) != expandable.end();
    begin_ = t.recording_begin == trace::kNoEvent ? 0 : t.recording_begin;
  }

  Releases Run() {
    trace::MemoryCursor cursor(trace_);
    for (EventIndex i = 0; i < trace_.events.size(); ++i) {
      const uint64_t before = cursor.sums().reserved;
      // Inspects released memory while the cursor still contains it.
      if (GivesBack(trace_.events.kind[i])) GiveBack(i, before, cursor.mapped());
      cursor.Apply();
      Event(i, cursor.sums().reserved);
      if (i >= begin_) most_ = std::max(most_, cursor.sums().reserved);
    }
    if (open_) Close(0);
    StatedMemory();
    for (const Candidate& c : candidates_) Judge(c);
    InferMemory();
    for (const Candidate& c : candidates_) {
      Release& r = out_.all[c.row];
      r.at_limit = r.cause == Cause::kGpuFull &&
                   (c.ran_out ||
                    (!c.served && !c.served_late && r.reserved + r.asked > out_.capacity.bytes));
    }
    Sum();
    return std::move(out_);
  }

 private:
  // A release that an allocation may have caused, because a request to the driver directly follows
  // the release.
  struct Candidate {
    size_t row = 0;
    bool ran_out = false;
    bool stack_of_request = false;  // releases and allocation have the same stack
    bool served = false;
    bool served_late = false;  // only a block whose free had just completed would serve it
  };

  size_t Activity(EventIndex i) {
    while (trace_.other_events.event[activity_] < i) ++activity_;
    return activity_;
  }

  void GiveBack(EventIndex i, uint64_t reserved, const trace::RangeSet& mapped) {
    const uint64_t id = trace_.events.id[i];
    const trace::SegmentTable& s = trace_.segments;
    // Memory was requested after the open release, but no allocation followed: this is a new
    // release.
    if (asking_) Close(asked_);
    if (!open_) {
      open_ = true;
      pieces_.clear();
      stack_ = trace_.events.StackOf(i);
      one_stack_ = true;
      out_.all.push_back({.first = i, .reserved = reserved});
    }
    Release& r = out_.all.back();
    r.last = i;
    one_stack_ = one_stack_ && trace_.events.StackOf(i) == stack_;
    calls_empty_cache_ |= stacks_.CallsEmptyCache(trace_.events.StackOf(i));
    if (s.mempool[id] == 0) {
      r.of_default_pool = true;
    } else if (std::find(r.mempools.begin(), r.mempools.end(), s.mempool[id]) == r.mempools.end()) {
      r.mempools.push_back(s.mempool[id]);
    }
    uint64_t bytes = 0;
    std::pair<uint64_t, uint64_t> piece;  // begin and end of the free block
    if (trace_.events.kind[i] == EventKind::kSegmentUnmap) {
      bytes = trace_.events.bytes[i];
      const uint64_t at = trace_.other_events.address[Activity(i)];
      piece = FreeAround(id, at, at + bytes, mapped);
    } else if (s.expandable[id] == 0) {
      bytes = s.bytes[id];
      piece = {s.address[id], s.address[id] + bytes};
    } else {
      return;  // releases only addresses, no memory
    }
    r.bytes += bytes;
    ++r.count;
    // Whether the piece contains a block whose free has just completed. The free may have been
    // pending when the allocation searched for a block.
    const bool late = std::any_of(late_.begin(), late_.end(), [&piece](uint64_t address) {
      return address >= piece.first && address < piece.second;
    });
    pieces_.push_back({piece.second - piece.first, s.stream[id], s.mempool[id], s.pool[id], late});
  }

  // Returns the free block that contains a range of pages.
  std::pair<uint64_t, uint64_t> FreeAround(uint64_t segment, uint64_t begin, uint64_t end,
                                           const trace::RangeSet& mapped) const {
    uint64_t from = trace_.segments.address[segment];
    uint64_t to = from + trace_.segments.bytes[segment];
    const auto range = mapped.FirstEndingAfter(begin);
    if (range != mapped.end() && range->first <= begin) {
      from = std::max(from, range->first);
      to = std::min(to, range->second);
    }
    auto next = live_.lower_bound(begin);
    if (next != live_.end()) to = std::min(to, next->first);
    if (next != live_.begin()) from = std::max(from, std::prev(next)->second);
    if (from > begin || to < end) return {begin, end};
    return {from, to};
  }

  void Event(EventIndex i, uint64_t reserved) {
    if (!trace::IsAllocatorEvent(trace_.events.kind[i])) return;
    const EventKind kind = trace_.events.kind[i];
    const uint64_t id = trace_.events.id[i];
    switch (kind) {
      case EventKind::kAlloc:
        if (open_) {
          if (asking_)
            Request(trace_.allocations.bytes[id], trace_.allocations.stream[id], MemPoolOf(id), i);
          Close(asked_);
        }
        late_.clear();
        requested_ = kNobody;
        Live(id, +1);
        break;
      case EventKind::kFreeRequested:
        if (open_) Close(0);
        requested_ = id;
        break;
      case EventKind::kFreeCompleted:
        if (open_) Close(0);
        // A free that completes directly after its request, or without one, was not
        // pending.
        if (requested_ == id || trace_.allocations.free_requested_event[id] == i) {
          late_.clear();
        } else {
          late_.push_back(trace_.allocations.address[id]);
        }
        requested_ = kNobody;
        Live(id, -1);
        break;
      case EventKind::kSegmentAlloc:
        if (trace_.segments.expandable[id] == 0) {
          Asks(trace_.segments.bytes[id]);
          if (trace_.segments.mempool[id] == 0) cached_ += trace_.segments.bytes[id];
        }
        break;
      case EventKind::kSegmentMap:
        Asks(trace_.events.bytes[i]);
        break;
      case EventKind::kSegmentFree:
        if (trace_.segments.expandable[id] == 0 && trace_.segments.mempool[id] == 0 &&
            live_in_[id] == 0) {
          cached_ -= trace_.segments.bytes[id];
        }
        break;
      case EventKind::kOutOfMemory:
        OutOfMemory(i, reserved);
        break;
      default:
        break;
    }
  }

  uint32_t MemPoolOf(uint64_t allocation) const {
    const trace::SegmentId s = trace_.allocations.segment[allocation];
    return s.valid() ? trace_.segments.mempool[s.value] : 0;
  }

  void Live(uint64_t id, int change) {
    const trace::AllocationTable& a = trace_.allocations;
    if (has_pages_) {
      if (change > 0) {
        live_[a.address[id]] = a.address[id] + a.bytes_rounded[id];
      } else {
        live_.erase(a.address[id]);
      }
    }
    const trace::SegmentId s = a.segment[id];
    if (!s.valid()) return;
    uint32_t& n = live_in_[s.value];
    const bool counts =
        trace_.segments.expandable[s.value] == 0 && trace_.segments.mempool[s.value] == 0;
    if (change > 0) {
      if (n++ == 0 && counts) cached_ -= trace_.segments.bytes[s.value];
    } else if (n > 0) {
      if (--n == 0 && counts && trace_.segments.free_event[s.value] > a.free_event[id]) {
        cached_ += trace_.segments.bytes[s.value];
      }
    }
  }

  // Records that memory was requested from the driver.
  void Asks(uint64_t bytes) {
    if (!open_) return;
    if (!asking_) cached_behind_ = cached_;
    asking_ = true;
    asked_ += bytes;
  }

  // Records the allocation for which memory was requested from the driver.
  void Request(uint64_t bytes, uint32_t stream, uint32_t mempool, EventIndex i) {
    Candidate c{.row = out_.all.size() - 1};
    const uint64_t size =
        CachingAllocator::RoundSize(std::min(bytes, CachingAllocator::kMaxRequest), conf_);
    const trace::Pool pool = allocator::PoolOf(size);
    std::vector<uint64_t> same;  // sizes of released blocks in the allocation's pool
    for (const Piece& p : pieces_) {
      if (p.stream != stream || p.mempool != mempool || p.pool != pool) continue;
      same.push_back(p.bytes);
      if (p.bytes < size) continue;
      const bool oversize = size < conf_.max_split_size
                                ? p.bytes >= conf_.max_split_size
                                : p.bytes - size >= conf_.max_non_split_rounding;
      (p.late ? c.served_late : c.served) |= !oversize;
    }
    // An allocation from a private pool counts as served, because it causes no releases.
    c.served |= PartWouldDo(std::move(same), size) || mempool != 0;
    // A release caused by an allocation has the allocation's stack. Several segments released by
    // empty_cache() are unlikely to all have this stack by chance. A single segment may have it, so
    // it is no evidence.
    c.stack_of_request = one_stack_ && stack_.value != 0 && stack_ == trace_.events.StackOf(i) &&
                         out_.all.back().count > 1;
    candidates_.push_back(c);
  }

  // Whether the allocation would have released only a part of these blocks. With max_split_size, an
  // allocation that does not fit releases just enough blocks of at least that size. Only if these
  // are not enough does it release the whole cache.
  bool PartWouldDo(std::vector<uint64_t> pieces, uint64_t size) const {
    if (conf_.max_split_size == run::AllocConf::kNoMaxSplit) return false;
    const uint64_t wanted = std::max(size, conf_.max_split_size);
    std::sort(pieces.rbegin(), pieces.rend());
    uint64_t bytes = 0;
    for (size_t i = 0; i < pieces.size() && pieces[i] >= conf_.max_split_size; ++i) {
      bytes += pieces[i];
      // If one block is large enough, only that block is released.
      const size_t gone = pieces.front() >= wanted ? 1 : i + 1;
      if (bytes >= wanted) return gone < pieces_.size();
    }
    return false;
  }

  // Ends the current release. `asked`: the bytes requested from the driver directly after it.
  void Close(uint64_t asked) {
    Release& r = out_.all.back();
    r.asked = asked;
    r.cause = Cause::kEmptyCache;
    const bool is_candidate = !candidates_.empty() && candidates_.back().row + 1 == out_.all.size();
    r.part = (asking_ ? cached_behind_ : cached_) > 0;
    if (calls_empty_cache_) {
      r.evidence = Evidence::kStack;
      if (is_candidate) candidates_.pop_back();
    } else if (!r.of_default_pool && r.part) {
      r.cause = Cause::kCollection;
      r.evidence = Evidence::kPart;
      if (is_candidate) candidates_.pop_back();
    } else if (is_candidate && r.part && conf_.garbage_collection_threshold > 0) {
      r.cause = Cause::kCollection;
      r.evidence = Evidence::kPart;
      candidates_.pop_back();
    }
    open_ = asking_ = calls_empty_cache_ = false;
    asked_ = 0;
  }

  void OutOfMemory(EventIndex i, uint64_t reserved) {
    const uint64_t bytes = std::min(trace_.events.bytes[i], CachingAllocator::kMaxRequest);
    const uint64_t size = CachingAllocator::RoundSize(bytes, conf_);
    const uint64_t asked =
        conf_.expandable_segments ? size : CachingAllocator::SegmentSize(size, conf_);
    if (open_) {
      candidates_.push_back({.row = out_.all.size() - 1, .ran_out = true});
      asking_ = true;
      cached_behind_ = cached_;
      Close(asked_ + asked);
    }
    if (i < begin_) return;
    const uint64_t device_free = trace_.events.bytes_rounded[i];
    ++failed_;
    if (device_free < asked) {
      had_ = std::max(had_, reserved + device_free);
    } else {
      less_than_ = std::min(less_than_, reserved + asked);
    }
  }

  void StatedMemory() {
    const run::DeviceProfile& d = trace_.info.device;
    if (d.memory_bytes <= d.context_bytes) return;
    out_.capacity.source = Capacity::Source::kStated;
    out_.capacity.bytes = out_.capacity.at_least = d.memory_bytes - d.context_bytes;
    out_.capacity.less_than = out_.capacity.bytes + 1;
  }

  void Judge(const Candidate& c) {
    Release& r = out_.all[c.row];
    const uint64_t wanted = r.reserved + r.asked;
    const auto is = [&r](Cause cause, Evidence evidence) {
      r.cause = cause;
      r.evidence = evidence;
    };
    if (c.ran_out) return is(Cause::kGpuFull, Evidence::kRanOut);
    if (out_.capacity.source == Capacity::Source::kStated) {
      return is(wanted > out_.capacity.bytes ? Cause::kGpuFull : Cause::kEmptyCache,
                Evidence::kLimit);
    }
    if (c.stack_of_request) return is(Cause::kGpuFull, Evidence::kStack);
    // With max_split_size, a full device makes the allocator release just enough blocks.
    if (r.part && conf_.max_split_size != run::AllocConf::kNoMaxSplit) {
      return is(Cause::kGpuFull, Evidence::kPart);
    }
    if (c.served) return is(Cause::kEmptyCache, Evidence::kCacheWouldServe);
    if (wanted <= most_ - most_ / kSlack) return is(Cause::kEmptyCache, Evidence::kRoom);
    is(Cause::kGpuFull, Evidence::kNoRoom);
  }

  void InferMemory() {
    Capacity& capacity = out_.capacity;
    if (capacity.source == Capacity::Source::kStated) return;
    capacity.at_least = most_;
    uint64_t releases = 0;
    for (const Release& r : out_.all) {
      if (r.cause != Cause::kGpuFull || r.reserved + r.asked <= most_) continue;
      less_than_ = std::min(less_than_, r.reserved + r.asked);
      ++releases;
    }
    if (less_than_ <= most_) less_than_ = kNothing;
    if (had_ > 0) {
      capacity.source = Capacity::Source::kOutOfMemory;
      capacity.bytes = std::max(had_, most_);
      capacity.seen = failed_;
    } else if (less_than_ != kNothing) {
      capacity.source = releases > 0 ? Capacity::Source::kReleases : Capacity::Source::kOutOfMemory;
      capacity.seen = releases > 0 ? releases : failed_;
      capacity.bytes =
          std::max(most_, less_than_ - std::min(less_than_, allocator::kSegmentAlignment));
    }
    if (less_than_ != kNothing) capacity.less_than = std::max(less_than_, capacity.bytes + 1);
    if (capacity.source == Capacity::Source::kOutOfMemory && had_ > 0) {
      capacity.evidence =
          i18n::Format("inferred: reserved and free memory added up to {} when memory ran out",
                       FormatBytes(had_));
    } else if (capacity.source != Capacity::Source::kUnknown) {
      const std::string seen =
          releases == 0        ? capacity.seen == 1 ? i18n::Text("1 failed request")
                                                    : i18n::Format("{} failed requests", capacity.seen)
                 : capacity.seen == 1 ? i18n::Text("1 flush of the cache")
                               : i18n::Format("{} flushes of the cache", capacity.seen);
      capacity.evidence =
          i18n::Format("inferred from {2}: at most {0} were reserved, and {1} did not fit",
                       FormatBytes(most_), FormatBytes(less_than_), seen);
    }
  }

  static std::string Times(uint64_t n) {
    return n == 1 ? i18n::Text("once") : n == 2 ? i18n::Text("twice") : i18n::Format("{} times", n);
  }
  void Sum() {
    for (const Release& r : out_.all) {
      if (r.last < begin_) continue;
      out_.empty_cache_calls += r.cause == Cause::kEmptyCache;
      out_.gpu_full += r.cause == Cause::kGpuFull;
      out_.collections += r.cause == Cause::kCollection;
    }
    std::string& text = out_.headline;
    const auto add = [&text](std::string_view sentence) {
      if (!text.empty()) text += ' ';
      text += sentence;
    };
    if (out_.gpu_full > 0) {
      add(i18n::Format("The allocator flushed its cache {} because the GPU was full.",
                       Times(out_.gpu_full)));
    }
    if (out_.empty_cache_calls > 0) {
      add(i18n::Format("empty_cache() was called {}.", Times(out_.empty_cache_calls)));
    }
    if (out_.collections > 0) {
      add(
          i18n::Format("A part of the cache was released {} (garbage collection, or a private pool "
                       "that was no longer used).",
                       Times(out_.collections)));
    }
  }

  static constexpr uint64_t kNothing = std::numeric_limits<uint64_t>::max();

  const trace::Trace& trace_;
  const run::AllocConf conf_;
  Stacks stacks_;
  EventIndex begin_ = 0;
  bool has_pages_ = false;
  size_t activity_ = 0;
  // The whole free block that contained a range released by the current release.
  struct Piece {
    uint64_t bytes = 0;
    uint32_t stream = 0, mempool = 0;
    trace::Pool pool = trace::Pool::kSmall;
    bool late = false;
  };
  bool open_ = false, asking_ = false, one_stack_ = false, calls_empty_cache_ = false;
  trace::StackId stack_;
  std::vector<Piece> pieces_;
  uint64_t asked_ = 0;
  static constexpr uint64_t kNobody = std::numeric_limits<uint64_t>::max();
  uint64_t requested_ = kNobody;  // the allocation, if the last allocator event requested its free;
                                  // else kNobody
  std::vector<uint64_t> late_;    // addresses of pending frees that have just completed
  // The ends of live blocks, keyed by begin. Used only for traces with pages.
  absl::btree_map<uint64_t, uint64_t> live_;
  std::vector<uint32_t> live_in_;            // blocks in use, by segment
  uint64_t cached_ = 0, cached_behind_ = 0;  // bytes in free segments: now, and directly after the
                                             // release
  std::vector<Candidate> candidates_;
  uint64_t most_ = 0;  // highest reserved bytes
  uint64_t had_ = 0;   // reserved plus free bytes when an allocation failed
  uint64_t failed_ = 0;
  uint64_t less_than_ = kNothing;
  Releases out_;
};

}  // namespace

std::string_view Name(Cause cause) {
  switch (cause) {
    case Cause::kEmptyCache:
      return "empty_cache";
    case Cause::kGpuFull:
      return "card_full";
    case Cause::kCollection:
      return "collection";
  }
  return "";
}

std::string_view Name(Evidence evidence) {
  switch (evidence) {
    case Evidence::kStack:
      return "call stack";
    case Evidence::kNothingAsked:
      return "no memory was requested from the device right after the release";
    case Evidence::kCacheWouldServe:
      return "the cache would have served the next request";
    case Evidence::kRoom:
      return "there was room";
    case Evidence::kNoRoom:
      return "the request needed more memory than was ever reserved";
    case Evidence::kRanOut:
      return "the request ran out of memory";
    case Evidence::kPart:
      return "some free segments were kept";
    case Evidence::kLimit:
      return "the limit of the planned run";
  }
  return "";
}

std::string_view Name(Capacity::Source source) {
  switch (source) {
    case Capacity::Source::kUnknown:
      return "unknown";
    case Capacity::Source::kStated:
      return "stated";
    case Capacity::Source::kOutOfMemory:
      return "out_of_memory";
    case Capacity::Source::kReleases:
      return "releases";
  }
  return "";
}

Releases FindReleases(const trace::Trace& trace, const std::optional<run::AllocConf>& conf) {
  if (conf.has_value()) return Finder(trace, *conf).Run();
  return Finder(trace, run::ParseAllocConf(RecordedConf(trace)).value_or(run::AllocConf{})).Run();
}

bool HasHistory(const trace::Trace& trace) {
  if (trace.info.content == trace::Content::kState) return false;
  if (trace.recording_begin == trace::kNoEvent) return true;
  const auto& kinds = trace.events.kind;
  return std::any_of(kinds.begin() + trace.recording_begin + 1, kinds.end(),
                     trace::IsAllocatorEvent);
}

}  // namespace vramscope::replay
