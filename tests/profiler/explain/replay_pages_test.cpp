// Tests the pages that use replays: what would release memory, and with which settings a failed
// allocation would have succeeded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/explain.h"
#include "profiler/replay/replay.h"
#include "tests/profiler/explain/trace_maker.h"

namespace vramscope::explain {
namespace {

using ::testing::HasSubstr;

// Runs the allocator with default settings and records what it does as a trace.
class Recorder : public allocator::SegmentObserver {
 public:
  // If `plan`, allocations beyond the device's memory succeed, as in a plan.
  explicit Recorder(uint64_t device_bytes, bool plan = false)
      : allocator_({.device_memory_bytes = device_bytes, .grant_over_limit = plan}, this) {
    maker.info.backend = plan ? trace::Backend::kPlan : trace::Backend::kImported;
    if (plan) maker.info.device.memory_bytes = device_bytes;
  }

  uint64_t Alloc(uint64_t bytes, trace::Category category = trace::Category::kUnknown) {
    const absl::StatusOr<allocator::Block> b = allocator_.Malloc(bytes, 0);
    if (!b.ok()) return 0;
    const uint64_t id = maker.Alloc(
        {.address = b->address, .bytes = bytes, .rounded = b->bytes_rounded, .category = category});
    address_.push_back(b->address);
    return id;
  }
  void Free(uint64_t id) {
    EXPECT_TRUE(allocator_.Free(address_[id]).ok());
    maker.Free(id);
  }
  // Memory allocated so far is older than the recording.
  void Begin() {
    maker.Add({.kind = trace::EventKind::kMarker,
               .name = maker.String(std::string(trace::kMarkerRecordingBegin))});
  }
  void EmptyCache() { allocator_.EmptyCache(); }
  void OnSegmentAlloc(const allocator::Segment& s) override {
    segments_[s.address] = maker.Segment(s.address, s.bytes, s.pool);
  }
  void OnSegmentFree(const allocator::Segment& s) override {
    maker.Add({.kind = trace::EventKind::kSegmentFree, .id = segments_.at(s.address)});
  }
  void OnOutOfMemory(uint64_t bytes, uint64_t free) override {
    maker.Add({.kind = trace::EventKind::kOutOfMemory, .bytes = bytes, .bytes_rounded = free});
  }

  TraceMaker maker;

 private:
  allocator::CachingAllocator allocator_;
  std::map<uint64_t, uint64_t> segments_;
  std::vector<uint64_t> address_;
};

const Remedy* Find(const Reclaim& r, const std::string& name) {
  for (const Remedy& remedy : r.remedies) {
    if (remedy.name.find(name) != std::string::npos) return &remedy;
  }
  return nullptr;
}

TEST(Reclaim, ReportsMemoryThatEachSettingReleases) {
  // The program frees ten segments of 12 MiB, too small for the allocations of 24 MiB that follow.
  Recorder r(0);
  std::vector<uint64_t> small;
  for (int i = 0; i < 10; ++i) small.push_back(r.Alloc(12 * kMiB));
  for (const uint64_t id : small) r.Free(id);
  const trace::EventIndex between = r.maker.last();
  for (int i = 0; i < 5; ++i) r.Alloc(24 * kMiB);
  const auto t = r.maker.Finish();

  std::vector<double> progress;
  const auto reclaim = ComputeReclaim(
      *t, {.at = between, .progress = [&](double done) { progress.push_back(done); }});
  ASSERT_TRUE(reclaim.ok()) << reclaim.status();
  EXPECT_EQ(reclaim->reserved, 120 * kMiB);
  EXPECT_EQ(reclaim->cached, 120 * kMiB);
  EXPECT_EQ(reclaim->as_recorded.peak_reserved, 240 * kMiB);
  EXPECT_EQ(reclaim->as_recorded.segment_allocs, 15u);
  const Remedy* empty = Find(*reclaim, "empty_cache");
  ASSERT_NE(empty, nullptr);
  EXPECT_EQ(empty->error, "");
  EXPECT_EQ(empty->given_back, static_cast<int64_t>(120 * kMiB));
  EXPECT_EQ(empty->peak_reserved, 120 * kMiB);
  const Remedy* expandable = Find(*reclaim, "expandable_segments");
  ASSERT_NE(expandable, nullptr);
  EXPECT_EQ(expandable->error, "");
  EXPECT_EQ(expandable->peak_reserved, 120 * kMiB);
  EXPECT_EQ(expandable->peak_given_back, static_cast<int64_t>(120 * kMiB));
  const Remedy* collect = Find(*reclaim, "garbage");
  ASSERT_NE(collect, nullptr);
  EXPECT_EQ(collect->error, "");
  EXPECT_THAT(collect->note, HasSubstr("for a GPU ")) << "the file does not state it";
  EXPECT_THAT(reclaim->headline, HasSubstr("120.00 MiB"));
  EXPECT_THAT(reclaim->headline, HasSubstr("names no GPU"));
  // The name of the setting must be in the language of the sentence.
  EXPECT_THAT(reclaim->headline, HasSubstr("empty_cache() at this time lowers"));
  i18n::SetTranslator([](const std::string& english) -> std::string {
    return english == "empty_cache() at this time" ? "empty_cache() jetzt" : "";
  });
  const auto translated = ComputeReclaim(*t, {.at = between});
  i18n::SetTranslator(nullptr);
  ASSERT_TRUE(translated.ok()) << translated.status();
  EXPECT_THAT(translated->headline, HasSubstr("empty_cache() jetzt lowers"));
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));

  const auto chosen = ComputeReclaim(*t, {.at = between, .alloc_confs = {"max_split_size_mb:32"}});
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->remedies.size(), 2u);
  EXPECT_FALSE(ComputeReclaim(*t, {.alloc_confs = {"nonsense"}}).ok());
  const std::atomic<bool> cancel = true;
  EXPECT_TRUE(absl::IsCancelled(ComputeReclaim(*t, {.cancel = &cancel}).status()));
}

// The unused memory of the second device is computed from a replay of only its allocations.
TEST(Reclaim, IsComputedForOneDevice) {
  TraceMaker m;
  m.info.backend = trace::Backend::kImported;
  m.Segment(kBase, 20 * kMiB);
  m.Alloc({.address = kBase, .bytes = 19 * kMiB, .rounded = 20 * kMiB});
  const uint64_t other = kBase + 1024 * kMiB;
  m.Segment(other, 40 * kMiB, trace::Pool::kLarge, false, 1);
  const uint64_t freed = m.Alloc({.address = other, .bytes = 40 * kMiB, .device = 1});
  m.Free(freed);
  const trace::EventIndex unused = m.last();
  m.Segment(other + 64 * kMiB, 60 * kMiB, trace::Pool::kLarge, false, 1);
  m.Alloc({.address = other + 64 * kMiB, .bytes = 60 * kMiB, .device = 1});
  const auto t = m.Finish();

  const auto one = trace::OfDevice(t, 0), two = trace::OfDevice(t, 1);
  EXPECT_EQ(two->events.time_ns[MostUnused(*two)], t->events.time_ns[unused]);
  EXPECT_EQ(FragmentationAt(*two, m.last()).reserved, 100 * kMiB);
  EXPECT_EQ(FragmentationAt(*one, m.last()).reserved, 20 * kMiB);
  const auto reclaim = ComputeReclaim(*two, {});
  ASSERT_TRUE(reclaim.ok()) << reclaim.status();
  EXPECT_EQ(reclaim->device, 1);
  EXPECT_EQ(reclaim->allocated, 0u);
  EXPECT_EQ(reclaim->reserved, 40 * kMiB);
  EXPECT_EQ(reclaim->as_recorded.peak_reserved, 100 * kMiB);
  EXPECT_EQ(reclaim->as_recorded.segment_allocs, 2u);
  const Remedy* empty = Find(*reclaim, "empty_cache");
  ASSERT_NE(empty, nullptr);
  EXPECT_EQ(empty->peak_reserved, 60 * kMiB);
  EXPECT_EQ(empty->peak_given_back, static_cast<int64_t>(40 * kMiB));
  const auto first = ComputeReclaim(*one, {.at = one->events.size() - 1});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->reserved, 20 * kMiB);
  EXPECT_EQ(first->as_recorded.segment_allocs, 1u);
}

// A snapshot without a history becomes a sequence of events: first all segments, then all blocks.
// The states before the last event never existed.
TEST(Reclaim, UsesTheEndStateWithoutHistory) {
  for (const bool stated : {true, false}) {
    TraceMaker m;
    m.info.backend = trace::Backend::kImported;
    m.info.content = stated ? trace::Content::kState : trace::Content::kRun;
    for (uint64_t i = 0; i < 10; ++i) m.Segment(kBase + i * 100 * kMiB, 100 * kMiB);
    for (uint64_t i = 0; i < 9; ++i) {
      m.Alloc({.address = kBase + i * 100 * kMiB, .bytes = 99 * kMiB});
    }
    m.Add({.kind = trace::EventKind::kMarker,
           .name = m.String(std::string(trace::kMarkerRecordingBegin))});
    const auto t = m.Finish();
    EXPECT_EQ(MostUnused(*t), m.last());
    const auto reclaim = ComputeReclaim(*t, {});
    ASSERT_TRUE(reclaim.ok()) << reclaim.status();
    EXPECT_TRUE(reclaim->state);
    EXPECT_EQ(reclaim->context.event, m.last());
    EXPECT_EQ(reclaim->reserved - reclaim->allocated, 109 * kMiB);
    EXPECT_THAT(reclaim->headline, HasSubstr("109.00 MiB of the 1000.00 MiB reserved are unused"));
    EXPECT_THAT(reclaim->headline, HasSubstr("only with a history of allocations"));
    ASSERT_GT(reclaim->remedies.size(), 1u);
    EXPECT_EQ(reclaim->remedies[0].given_back, static_cast<int64_t>(100 * kMiB));
    for (size_t i = 1; i < reclaim->remedies.size(); ++i) {
      EXPECT_THAT(reclaim->remedies[i].error, HasSubstr("only with a history of allocations"));
    }
  }
}

TEST(Reclaim, NeverPicksAnEventBeforeTheRecording) {
  Recorder r(0);
  std::vector<uint64_t> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(r.Alloc(100 * kMiB));
  r.Free(blocks[9]);
  r.Begin();
  const trace::EventIndex begin = r.maker.last();
  const uint64_t small = r.Alloc(50 * kMiB);
  r.Free(small);
  const auto t = r.maker.Finish();
  EXPECT_EQ(MostUnused(*t), begin) << "the state when the recording began";
  const auto reclaim = ComputeReclaim(*t, {});
  ASSERT_TRUE(reclaim.ok()) << reclaim.status();
  EXPECT_FALSE(reclaim->state);
  EXPECT_EQ(reclaim->context.event, begin);
  EXPECT_EQ(reclaim->reserved - reclaim->allocated, 100 * kMiB);
}

// The reclaim page shows recorded figures next to figures of the what-if baseline. Both must start
// from the same state.
TEST(Reclaim, UsesTheBaselineOfWhatIfs) {
  Recorder r(0);
  std::vector<uint64_t> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(r.Alloc(100 * kMiB));
  for (int i = 0; i < 5; ++i) r.Free(blocks[i]);
  r.Begin();
  for (int i = 0; i < 4; ++i) blocks.push_back(r.Alloc(90 * kMiB));
  r.EmptyCache();
  r.Alloc(20 * kMiB);
  const auto t = r.maker.Finish();
  const auto reclaim = ComputeReclaim(*t, {});
  ASSERT_TRUE(reclaim.ok()) << reclaim.status();
  const replay::Baseline base = replay::ReplayBaseline(*t, {}).value();
  EXPECT_EQ(reclaim->as_recorded.peak_reserved, 1000 * kMiB) << "the recorded peak";
  EXPECT_EQ(reclaim->as_recorded.peak_reserved, base.own.peak_reserved);
  EXPECT_EQ(reclaim->as_recorded.segment_allocs, base.own.segment_allocs);
  ASSERT_TRUE(reclaim->anew.has_value());
  ASSERT_TRUE(base.anew.has_value());
  EXPECT_EQ(reclaim->anew->peak_reserved, base.anew->peak_reserved);
  const Remedy* expandable = Find(*reclaim, "expandable_segments");
  ASSERT_NE(expandable, nullptr);
  EXPECT_EQ(expandable->peak_given_back,
            static_cast<int64_t>(reclaim->anew->peak_reserved - expandable->peak_reserved));
  EXPECT_THAT(reclaim->headline, HasSubstr("empty_cache() was called once."));
}

TEST(Reclaim, ReportsFullGpuAndInfersItsMemory) {
  Recorder r(200 * kMiB);
  // Each block is too large for all cached segments, so it needs a new segment.
  for (uint64_t i = 0; i < 20; ++i) r.Free(r.Alloc((60 + 2 * i) * kMiB));
  const auto t = r.maker.Finish();
  const auto reclaim = ComputeReclaim(*t, {});
  ASSERT_TRUE(reclaim.ok()) << reclaim.status();
  EXPECT_GT(reclaim->releases.gpu_full, 2u);
  EXPECT_EQ(reclaim->releases.empty_cache_calls, 0u);
  EXPECT_TRUE(reclaim->releases.capacity.inferred());
  EXPECT_EQ(reclaim->as_recorded.retries, reclaim->releases.gpu_full);
  EXPECT_LE(reclaim->as_recorded.peak_reserved, 200 * kMiB);
  EXPECT_THAT(reclaim->headline, HasSubstr("times because the GPU was full."));
  EXPECT_THAT(reclaim->headline, ::testing::ContainsRegex(
                                     "PyTorch can reserve up to [0-9.]+ [MG]iB \\(inferred from "));
  const Remedy* collect = Find(*reclaim, "garbage");
  ASSERT_NE(collect, nullptr);
  EXPECT_THAT(collect->note, HasSubstr("inferred"));
}

TEST(OutOfMemory, FindsPassingSettingsByReplay) {
  // Each of five segments of 20 MiB contains two blocks of 9 MiB. The 2 MiB left in each are too
  // small for an allocation, as are the 5 MiB left on the device.
  Recorder r(105 * kMiB);
  for (int i = 0; i < 10; ++i) r.Alloc(9 * kMiB);
  r.Alloc(9 * kMiB + kMiB / 2);
  const auto t = r.maker.Finish();
  const auto page = ExplainOutOfMemory(*t, {});
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_EQ(page->count, 1u);
  const OutOfMemory& o = page->events[0];
  EXPECT_EQ(o.device_free, 5 * kMiB);
  EXPECT_EQ(o.replay_error, "");
  EXPECT_TRUE(o.fragmented);
  const WayOut* expandable = nullptr;
  const WayOut* split = nullptr;
  for (const WayOut& w : o.ways) {
    if (w.name == "expandable_segments:True") expandable = &w;
    if (w.name == "max_split_size_mb:64") split = &w;
  }
  ASSERT_NE(expandable, nullptr);
  EXPECT_TRUE(expandable->computed);
  EXPECT_TRUE(expandable->passes) << expandable->how;
  ASSERT_NE(split, nullptr);
  EXPECT_FALSE(split->passes) << split->how;
  EXPECT_EQ(o.ways.front().name, "expandable_segments:True") << "settings that pass come first";
}

// With half the batch, activations and the failing allocation have 5 MiB each. They fit into 60
// MiB, because a segment of 20 MiB contains four blocks of 5 MiB.
TEST(OutOfMemory, ReplaysTechniquesWithTheirSizes) {
  Recorder r(65 * kMiB);
  r.maker.Add({.kind = trace::EventKind::kPhaseBegin,
               .detail = static_cast<uint8_t>(trace::Phase::kForward)});
  for (int i = 0; i < 6; ++i) r.Alloc(10 * kMiB, trace::Category::kActivation);
  r.Alloc(10 * kMiB);
  const auto t = r.maker.Finish();
  const auto page = ExplainOutOfMemory(*t, {});
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_EQ(page->count, 1u);
  const WayOut* half = nullptr;
  const WayOut* eight_bit = nullptr;
  for (const WayOut& w : page->events[0].ways) {
    if (w.name == "half the batch") half = &w;
    if (w.name == "8-bit optimizer") eight_bit = &w;
  }
  ASSERT_NE(half, nullptr);
  EXPECT_EQ(half->bytes, 35 * kMiB);
  EXPECT_TRUE(half->passes);
  EXPECT_FALSE(half->computed) << "the sizes are an estimate";
  EXPECT_FALSE(half->run_passes.has_value()) << "the recording ends soon after the failure";
  EXPECT_THAT(half->how,
              HasSubstr("in a replay with these sizes, the request passes; later requests "
                        "were not checked"));
  EXPECT_EQ(eight_bit, nullptr);
}

// A plan continues after a failure. With half the batch, the failing allocation succeeds, but if
// `more_later`, a later allocation fails.
TEST(OutOfMemory, ReportsWhetherAWholePlanPasses) {
  for (const bool more_later : {false, true}) {
    SCOPED_TRACE(more_later);
    Recorder r(65 * kMiB, /*plan=*/true);
    r.maker.Add({.kind = trace::EventKind::kPhaseBegin,
                 .detail = static_cast<uint8_t>(trace::Phase::kForward)});
    for (int i = 0; i < (more_later ? 27 : 7); ++i) {
      r.Alloc(10 * kMiB, trace::Category::kActivation);
    }
    const auto t = r.maker.Finish();
    const auto page = ExplainOutOfMemory(*t, {});
    ASSERT_TRUE(page.ok()) << page.status();
    ASSERT_GE(page->count, 1u);
    const WayOut* half = nullptr;
    for (const WayOut& w : page->events[0].ways) {
      if (w.name == "half the batch") half = &w;
    }
    ASSERT_NE(half, nullptr);
    EXPECT_TRUE(half->request_passes) << half->how;
    ASSERT_TRUE(half->run_passes.has_value());
    EXPECT_EQ(*half->run_passes, !more_later) << half->how;
    EXPECT_EQ(half->passes, !more_later);
    if (more_later) {
      EXPECT_EQ(half->over, 75 * kMiB) << "27 blocks of 5 MiB, four in each segment of 20 MiB";
      EXPECT_THAT(half->how,
                  HasSubstr("the request passes, but the run exceeds the limit by 75.00 MiB"));
    } else {
      EXPECT_THAT(half->how, HasSubstr("the whole run passes"));
    }
    for (const WayOut& w : page->events[0].ways) {
      if (w.computed) {
        EXPECT_TRUE(w.run_passes.has_value() || !w.passes) << w.name;
      }
    }
  }
}

}  // namespace
}  // namespace vramscope::explain
