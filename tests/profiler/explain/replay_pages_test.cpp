// The pages that replay: what would give memory back, which setting would have let a request pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/explain/explain.h"
#include "tests/profiler/explain/trace_maker.h"

namespace vramscope::explain {
namespace {

using ::testing::HasSubstr;

// What the allocator does under its default settings, as a trace.
class Recorder : public allocator::SegmentObserver {
 public:
  explicit Recorder(uint64_t device_bytes)
      : allocator_({.device_memory_bytes = device_bytes}, this) {
    maker.info.backend = trace::Backend::kImported;
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

TEST(Reclaim, SaysWhatEachSettingWouldGiveBack) {
  // Ten segments of 12 MiB are freed by the program, and too small for what comes then.
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
  EXPECT_THAT(collect->note, HasSubstr("on a card of")) << "the file does not state it";
  EXPECT_THAT(reclaim->headline, HasSubstr("120.00 MiB"));
  EXPECT_THAT(reclaim->headline, HasSubstr("does not state the card"));
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));

  const auto chosen = ComputeReclaim(*t, {.at = between, .alloc_confs = {"max_split_size_mb:32"}});
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->remedies.size(), 2u);
  EXPECT_FALSE(ComputeReclaim(*t, {.alloc_confs = {"nonsense"}}).ok());
  const std::atomic<bool> cancel = true;
  EXPECT_TRUE(absl::IsCancelled(ComputeReclaim(*t, {.cancel = &cancel}).status()));
}

// Two devices: what the second has unused is replayed from its own requests.
TEST(Reclaim, IsThatOfOneDevice) {
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

  EXPECT_EQ(MostUnused(*t), unused);
  EXPECT_EQ(FragmentationAt(*t, m.last(), 1).reserved, 100 * kMiB);
  EXPECT_EQ(FragmentationAt(*t, m.last(), 0).reserved, 20 * kMiB);
  EXPECT_EQ(FragmentationAt(*t, m.last()).reserved, 120 * kMiB);
  const auto reclaim = ComputeReclaim(*t, {});
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
  EXPECT_THAT(reclaim->headline, HasSubstr("on cuda:1"));
  const auto first = ComputeReclaim(*t, {.at = m.last(), .device = 0});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->reserved, 20 * kMiB);
  EXPECT_EQ(first->as_recorded.segment_allocs, 1u);
}

TEST(OutOfMemory, WaysOutAreFoundByReplay) {
  // Five segments of 20 MiB hold two blocks of 9 MiB each; their last 2 MiB fit nobody, and 5 MiB
  // of the device are left.
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
  EXPECT_EQ(o.ways.front().name, "expandable_segments:True") << "what passes comes first";
}

// Half of every activation, and of the request: 50 MiB in blocks of 5 fit into 60 MiB as segments
// of 20 MiB that four of them fill.
TEST(OutOfMemory, TechniquesAreReplayedWithTheirSizes) {
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
  EXPECT_THAT(half->how, HasSubstr("replayed with these sizes the request passes"));
  EXPECT_EQ(eight_bit, nullptr);
}

}  // namespace
}  // namespace vramscope::explain
