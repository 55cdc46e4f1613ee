// Compares the figures of explain's pages with a simple computation, which shares no code with the
// code under test: it applies each event to maps of blocks and segments.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/explain/explain.h"
#include "tests/profiler/allocator/naive_allocator.h"
#include "tests/profiler/analysis/random_trace.h"
#include "tests/profiler/explain/trace_maker.h"

namespace vramscope::explain {
namespace {

using trace::EventIndex;
using trace::EventKind;

struct MemoryTotals {
  uint64_t allocated = 0, requested = 0, reserved = 0, holes = 0, cached = 0, largest = 0;
  // (free bytes, segment bytes, number of live blocks) for each partly free segment
  std::vector<std::tuple<uint64_t, uint64_t, size_t>> pinned;
};

// Returns the sums after all events up to and including `last`.
MemoryTotals ComputeTotals(const trace::Trace& t, EventIndex last) {
  std::map<uint64_t, uint64_t> segments, blocks;  // address: bytes
  std::map<uint64_t, uint32_t> block_at;
  MemoryTotals m;
  for (EventIndex i = 0; i <= last; ++i) {
    const uint64_t id = t.events.id[i];
    switch (t.events.kind[i]) {
      case EventKind::kSegmentAlloc:
        segments[t.segments.address[id]] = t.segments.bytes[id];
        break;
      case EventKind::kSegmentFree:
        segments.erase(t.segments.address[id]);
        break;
      case EventKind::kAlloc:
        blocks[t.allocations.address[id]] = t.allocations.bytes_rounded[id];
        m.allocated += t.allocations.bytes_rounded[id];
        m.requested += t.allocations.bytes[id];
        break;
      case EventKind::kFreeCompleted:
        blocks.erase(t.allocations.address[id]);
        m.allocated -= t.allocations.bytes_rounded[id];
        m.requested -= t.allocations.bytes[id];
        break;
      default:
        break;
    }
  }
  for (const auto& [address, bytes] : segments) {
    m.reserved += bytes;
    uint64_t at = address, free = 0;
    size_t live_blocks = 0;
    for (auto b = blocks.lower_bound(address); b != blocks.end() && b->first < address + bytes;
         ++b, ++live_blocks) {
      free += b->first - at;
      m.largest = std::max(m.largest, b->first - at);
      at = b->first + b->second;
    }
    free += address + bytes - at;
    m.largest = std::max(m.largest, address + bytes - at);
    (live_blocks == 0 ? m.cached : m.holes) += free;
    if (live_blocks > 0 && free > 0) m.pinned.emplace_back(free, bytes, live_blocks);
  }
  std::sort(m.pinned.begin(), m.pinned.end());
  return m;
}

TEST(ExplainAgainstNaive, FragmentationAndPeakMatchNaiveComputation) {
  for (uint64_t seed = 11; seed <= 13; ++seed) {
    const auto t = analysis::MakeRandomTrace({.seed = seed, .steps = 2, .tear_down = false});
    uint64_t most = 0, now = 0;
    EventIndex peak = 0;
    for (EventIndex i = 0; i < t->events.size(); ++i) {
      const uint64_t id = t->events.id[i];
      if (t->events.kind[i] == EventKind::kAlloc) now += t->allocations.bytes_rounded[id];
      if (t->events.kind[i] == EventKind::kFreeCompleted) now -= t->allocations.bytes_rounded[id];
      if (now > most) {
        most = now;
        peak = i;
      }
    }
    const analysis::Peak found = analysis::FindPeak(*t, analysis::ComputeCurves(*t));
    EXPECT_EQ(found.allocated, most);
    EXPECT_EQ(found.context.event, peak);
    for (const EventIndex event :
         {peak, t->events.size() / 3, t->events.size() / 2, t->events.size() - 1}) {
      const MemoryTotals m = ComputeTotals(*t, event);
      const Fragmentation f = FragmentationAt(*t, event);
      EXPECT_EQ(f.allocated, m.allocated);
      EXPECT_EQ(f.requested, m.requested);
      EXPECT_EQ(f.reserved, m.reserved);
      EXPECT_EQ(f.holes, m.holes);
      EXPECT_EQ(f.cached, m.cached);
      EXPECT_EQ(f.largest_hole, m.largest);
      EXPECT_EQ(f.pinned_count, m.pinned.size());
      if (m.pinned.size() > Fragmentation::kPinned) continue;
      std::vector<std::tuple<uint64_t, uint64_t, size_t>> pinned;
      for (const auto& p : f.pinned) pinned.emplace_back(p.free, p.bytes, p.pin_count);
      std::sort(pinned.begin(), pinned.end());
      EXPECT_EQ(pinned, m.pinned);
    }
  }
}

TEST(ExplainAgainstNaive, CallSiteUseMatchesNaiveComputation) {
  const auto t = analysis::MakeRandomTrace({.seed = 14, .tear_down = false});
  struct Use {
    uint64_t count = 0, bytes = 0, live = 0, most = 0;
    int64_t longest = 0;
  };
  std::map<std::string, Use> reference;
  std::map<uint64_t, int64_t> born;
  const auto name = [&](uint64_t id) {
    return std::string(t->String(t->allocations.module[id])) + " > " +
           std::string(t->String(t->allocations.op[id]));
  };
  const int64_t end = t->events.time_ns.back();
  for (EventIndex i = 0; i < t->events.size(); ++i) {
    const uint64_t id = t->events.id[i];
    const uint64_t bytes = t->allocations.size() > id ? t->allocations.bytes_rounded[id] : 0;
    if (t->events.kind[i] == EventKind::kAlloc) {
      Use& use = reference[name(id)];
      ++use.count;
      use.bytes += bytes;
      use.live += bytes;
      use.most = std::max(use.most, use.live);
      born[id] = t->events.time_ns[i];
    } else if (t->events.kind[i] == EventKind::kFreeCompleted) {
      Use& use = reference[name(id)];
      use.live -= bytes;
      use.longest = std::max(use.longest, t->events.time_ns[i] - born[id]);
      born.erase(id);
    }
  }
  for (const auto& [id, time] : born) {
    Use& use = reference[name(id)];
    use.longest = std::max(use.longest, end - time);
  }
  const CallSites sites = FindCallSites(*t);
  const std::vector<SiteUse> uses = UseOfSites(*t, sites, {});
  EXPECT_EQ(uses.size(), reference.size());
  for (const SiteUse& use : uses) {
    const CallSite& site = sites.sites[use.site];
    const std::string key =
        std::string(t->String(site.module)) + " > " + std::string(t->String(site.op));
    ASSERT_TRUE(reference.contains(key)) << key;
    const Use& expected = reference[key];
    EXPECT_EQ(use.count, expected.count) << key;
    EXPECT_EQ(use.bytes, expected.bytes) << key;
    EXPECT_EQ(use.peak_live_bytes, expected.most) << key;
    EXPECT_EQ(use.alive_bytes, expected.live) << key;
    EXPECT_EQ(use.longest_life_ns, expected.longest) << key;
  }
}

// A random sequence of allocations and frees. Provides its recording with default settings. Also
// runs it on a simple allocator, for comparison.
class Program {
 public:
  explicit Program(uint64_t seed) : random_(seed) {
    allocator::NaiveAllocator allocator({});
    size_t seen = 0;
    std::map<uint64_t, uint64_t> segments;
    std::vector<std::pair<size_t, uint64_t>> live;  // (number of the allocation, address)
    std::vector<uint64_t> ids;
    for (int i = 0; i < 400; ++i) {
      if (live.empty() || Dice(5) > 1) {
        // Large blocks have few different sizes, so that they leave holes. Some blocks are small.
        const uint64_t bytes =
            Dice(4) == 0 ? 1 + Dice(900'000) : (2 + 3 * Dice(40)) * (kMiB / 2) + Dice(3) * 700;
        const auto got = allocator.Malloc(bytes, 0);
        EXPECT_TRUE(got.has_value());
        for (; seen < allocator.log().size(); ++seen) {
          const allocator::DriverEvent& e = allocator.log()[seen];
          EXPECT_EQ(e.kind, allocator::DriverEvent::kAlloc);
          const auto pool = bytes <= kMiB ? trace::Pool::kSmall : trace::Pool::kLarge;
          segments[e.address] = maker.Segment(e.address, e.bytes, pool);
        }
        ids.push_back(maker.Alloc({.address = got->first, .bytes = bytes, .rounded = got->second}));
        steps.push_back({.bytes = bytes, .event = maker.last()});
        live.emplace_back(ids.size() - 1, got->first);
      } else {
        const size_t k = Dice(live.size());
        EXPECT_TRUE(allocator.Free(live[k].second));
        steps.push_back({.freed = live[k].first, .event = maker.Free(ids[live[k].first])});
        live.erase(live.begin() + static_cast<ptrdiff_t>(k));
      }
    }
  }

  struct Step {
    uint64_t bytes = 0;  // size of an allocation, or 0 for a free
    size_t freed = 0;    // number of the freed allocation
    EventIndex event = 0;
  };
  struct Result {
    uint64_t reserved = 0, peak = 0, calls = 0;
  };
  // Notes the reserved bytes after `event` and calls empty_cache() after `release_after`.
  Result Run(const allocator::Settings& settings, EventIndex event,
             EventIndex release_after) const {
    allocator::NaiveAllocator allocator(settings);
    std::vector<uint64_t> address;
    Result out;
    for (const Step& s : steps) {
      if (s.bytes > 0) {
        const auto got = allocator.Malloc(s.bytes, 0);
        EXPECT_TRUE(got.has_value());
        if (!got) return out;
        address.push_back(got->first);
      } else {
        EXPECT_TRUE(allocator.Free(address[s.freed]));
      }
      out.peak = std::max(out.peak, allocator.reserved());
      if (s.event == release_after) allocator.Release();
      if (s.event <= event) out.reserved = allocator.reserved();
    }
    // An expandable segment only reserves addresses. The kMap events add memory to it.
    const auto call = settings.conf.expandable_segments ? allocator::DriverEvent::kMap
                                                        : allocator::DriverEvent::kAlloc;
    for (const allocator::DriverEvent& e : allocator.log()) out.calls += e.kind == call;
    return out;
  }

  TraceMaker maker;
  std::vector<Step> steps;

 private:
  uint64_t Dice(uint64_t sides) {  // xorshift
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_ % sides;
  }
  uint64_t random_;
};

constexpr uint64_t kDevice = uint64_t{16} << 30;  // enough for all allocations

TEST(ExplainAgainstNaive, ReclaimMatchesNaiveAllocator) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Program program(seed * 7919);
    program.maker.info.backend = trace::Backend::kImported;
    program.maker.info.device.memory_bytes = kDevice;
    const auto t = program.maker.Finish();
    const EventIndex event = program.steps[260].event;
    const auto reclaim = ComputeReclaim(
        *t, {.at = event,
             .alloc_confs = {"max_split_size_mb:21", "expandable_segments:True",
                             "roundup_power2_divisions:4",
                             "garbage_collection_threshold:0.05,per_process_memory_fraction:0.9"}});
    ASSERT_TRUE(reclaim.ok()) << reclaim.status();
    const Program::Result base = program.Run({}, event, trace::kNoEvent);
    EXPECT_EQ(reclaim->reserved, base.reserved);
    EXPECT_EQ(reclaim->as_recorded.peak_reserved, base.peak);
    EXPECT_EQ(reclaim->as_recorded.segment_allocs, base.calls);
    ASSERT_EQ(reclaim->remedies.size(), 5u);
    for (const Remedy& r : reclaim->remedies) {
      SCOPED_TRACE(r.name);
      ASSERT_EQ(r.error, "");
      allocator::Settings settings{.device_memory_bytes = kDevice};
      EventIndex release = trace::kNoEvent;
      if (r.name.starts_with("empty_cache")) {
        release = event;
      } else {
        const absl::StatusOr<run::AllocConf> conf = run::ParseAllocConf(r.name);
        ASSERT_TRUE(conf.ok());
        settings.conf = *conf;
      }
      const Program::Result found = program.Run(settings, event, release);
      EXPECT_EQ(r.reserved, found.reserved);
      EXPECT_EQ(r.given_back, static_cast<int64_t>(base.reserved - found.reserved));
      EXPECT_EQ(r.peak_reserved, found.peak);
      EXPECT_EQ(r.peak_given_back, static_cast<int64_t>(base.peak - found.peak));
      EXPECT_EQ(r.segment_allocs, found.calls);
    }
  }
}

}  // namespace
}  // namespace vramscope::explain
