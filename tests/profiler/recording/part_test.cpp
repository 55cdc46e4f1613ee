// Tests that a part of a recording has the same memory as the whole recording at every time.
#include <gtest/gtest.h>

#include "profiler/recording/recording.h"
#include "profiler/trace/builder_sink.h"
#include "profiler/trace/memory_cursor.h"
#include "tests/profiler/recording/hand_made.h"
#include "tests/profiler/recording/simulated_device.h"

namespace vramscope::recording {
namespace {

constexpr uint64_t kBase = 0x7f0000000000;

std::shared_ptr<const trace::Trace> TraceOf(const Recording& r) {
  const absl::StatusOr<History> h = Reconstruct(r);
  EXPECT_TRUE(h.ok()) << h.status();
  if (!h.ok()) return nullptr;
  trace::BuilderSink sink;
  Emit(r, *h, NoLabels(*h), sink);
  EXPECT_TRUE(sink.status().ok()) << sink.status();
  return sink.Trace();
}

Recording CutOut(const Recording& whole, EntryIndex begin, EntryIndex end) {
  const absl::StatusOr<History> h = Reconstruct(whole);
  EXPECT_TRUE(h.ok()) << h.status();
  Part part = PartOf(whole, *h, begin, end, [&](EntryIndex i) { return whole.entries.StackOf(i); });
  Recording r = whole;
  r.older = std::move(part.older);
  r.segments = std::move(part.segments);
  const auto cut = [&](auto& column) {
    if (column.empty()) return;
    column.erase(column.begin() + end, column.end());
    column.erase(column.begin(), column.begin() + begin);
  };
  EntryTable& e = r.entries;
  cut(e.action), cut(e.address), cut(e.bytes), cut(e.time_ns), cut(e.stack), cut(e.stream);
  cut(e.device), cut(e.recorded_category);
  return r;
}

// Compares the allocated, requested and reserved bytes after each entry of the part.
void ExpectEqualMemory(const Recording& whole, EntryIndex begin, EntryIndex end) {
  SCOPED_TRACE(testing::Message() << begin << " to " << end);
  const auto all = TraceOf(whole), part = TraceOf(CutOut(whole, begin, end));
  ASSERT_TRUE(all != nullptr && part != nullptr);
  ASSERT_EQ(all->events.size() - all->recording_begin - 1, whole.entries.size());
  ASSERT_EQ(part->events.size() - part->recording_begin - 1, end - begin);
  for (const uint8_t device : {0, 1}) {
    trace::MemoryCursor a(*all), b(*part);
    a.AdvanceTo(all->recording_begin + 1 + begin);
    b.AdvanceTo(part->recording_begin + 1);
    for (EntryIndex i = begin;; ++i) {
      const trace::MemorySums &x = a.memory(device).sums(), &y = b.memory(device).sums();
      ASSERT_EQ(x.allocated, y.allocated) << "before entry " << i;
      ASSERT_EQ(x.requested, y.requested) << "before entry " << i;
      ASSERT_EQ(x.reserved, y.reserved) << "before entry " << i;
      if (i == end) break;
      a.Apply();
      b.Apply();
    }
  }
}

TEST(Part, MemoryEqualsWholeRecordingAtEveryEntry) {
  for (const char* conf : {"", "max_split_size_mb:32", "expandable_segments:True"})
    for (uint32_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(testing::Message() << conf << " " << seed);
      const Simulated s = Simulate(*run::ParseAllocConf(conf), seed, seed % 2 == 0 ? 2 : 1, 600,
                                   seed > 2 ? 500 : 0);
      const EntryIndex n = s.recording.entries.size();
      for (const auto& [begin, end] : {std::pair(0u, n / 3), std::pair(n / 3, n / 2),
                                       std::pair(n / 2, n), std::pair(n - 1, n)})
        ExpectEqualMemory(s.recording, begin, end);
    }
}

// Regression test (expandable_plan in ../shared/repro): all addresses of the segment were counted
// as mapped.
TEST(Part, CountsOnlyMappedBytesOfExpandableSegments) {
  Recording r;
  r.has_segments = true;
  Add(r, Action::kSegmentMap, kBase, 20 * kMiB, 1);
  Add(r, Action::kAlloc, kBase, 20 * kMiB, 2);
  Add(r, Action::kSegmentMap, kBase + 40 * kMiB, 20 * kMiB, 3);
  Add(r, Action::kAlloc, kBase + 40 * kMiB, 20 * kMiB, 4);
  r.segments = {
      LargeSegment(kBase, 20 * kMiB, {Live(kBase, 20 * kMiB, 20 * kMiB)}),
      LargeSegment(kBase + 40 * kMiB, 20 * kMiB, {Live(kBase + 40 * kMiB, 20 * kMiB, 20 * kMiB)})};
  for (SegmentState& s : r.segments) s.expandable = true;
  for (EntryIndex end = 1; end <= 4; ++end) ExpectEqualMemory(r, 0, end);
  const auto part = TraceOf(CutOut(r, 0, 2));
  trace::MemoryCursor at(*part);
  at.AdvanceTo(part->events.size());
  EXPECT_EQ(at.sums().reserved, 20 * kMiB);
}

// Blocks are freed after the recording was stopped, as in missing_frees_nuggets_mini of
// ../shared/repro.
TEST(Part, BlocksFreedAfterTheLastEntryStayLive) {
  Recording r;
  r.has_segments = true;
  Add(r, Action::kSegmentAlloc, kBase, 40 * kMiB, 1);
  Add(r, Action::kAlloc, kBase, 20 * kMiB, 2);
  Add(r, Action::kAlloc, kBase + 20 * kMiB, 10 * kMiB, 3);
  Add(r, Action::kFreeCompleted, kBase + 20 * kMiB, 10 * kMiB, 4);
  Add(r, Action::kSnapshot, 0, 0, 5);
  r.segments = {LargeSegment(kBase, 40 * kMiB, {{.address = kBase, .bytes = 40 * kMiB}})};
  const absl::StatusOr<History> h = Reconstruct(r);
  ASSERT_TRUE(h.ok());
  ASSERT_EQ(h->warnings.size(), 1u);
  EXPECT_NE(h->warnings[0].find("freed after the last entry"), std::string::npos);
  for (const auto& [begin, end] : {std::pair(0u, 3u), std::pair(2u, 4u), std::pair(4u, 5u)})
    ExpectEqualMemory(r, begin, end);
  const auto part = TraceOf(CutOut(r, 4, 5));
  trace::MemoryCursor at(*part);
  at.AdvanceTo(part->events.size());
  EXPECT_EQ(at.sums().allocated, 20 * kMiB);
}

// The block's allocation shows how large its tail is. A part that begins after the allocation must
// keep this size.
TEST(Part, KeepsBlockTailsKnownFromTheWhole) {
  Recording r;
  r.has_segments = true;
  Add(r, Action::kSegmentAlloc, kBase, 20 * kMiB, 1);
  Add(r, Action::kAlloc, kBase, 20 * kMiB - 512 * 1024, 2);
  Add(r, Action::kSnapshot, 0, 0, 3);
  Add(r, Action::kFreeCompleted, kBase, 20 * kMiB - 512 * 1024, 4);
  r.segments = {LargeSegment(kBase, 20 * kMiB, {{.address = kBase, .bytes = 20 * kMiB}})};
  ExpectEqualMemory(r, 2, 3);
  const auto part = TraceOf(CutOut(r, 2, 4));
  ASSERT_EQ(part->allocations.size(), 1u);
  EXPECT_EQ(part->allocations.bytes_rounded[0], 20 * kMiB);
}

// The recording has lost its last entries. Its segments are those after the lost entries.
TEST(LostTail, EndStateIsThatOfTheLastEntry) {
  for (const char* conf : {"", "expandable_segments:True"})
    for (uint32_t seed = 1; seed <= 6; ++seed)
      for (const uint32_t before : {0u, 400u}) {
        SCOPED_TRACE(testing::Message() << conf << " " << seed << " " << before);
        const Simulated s = Simulate(*run::ParseAllocConf(conf), seed, 1, 600, before);
        const EntryIndex n = s.recording.entries.size(), end = n * 2 / 3;
        // CutOut() computes the state at the end of `kept`, to which the state of `cut` is
        // compared.
        const Recording kept = CutOut(s.recording, 0, end);
        Recording cut = kept;
        cut.older.clear();
        cut.segments = s.recording.segments;
        ASSERT_TRUE(EndAtLastEntry(cut).ok());
        const auto true_trace = TraceOf(kept), salvaged = TraceOf(cut);
        trace::MemoryCursor a(*true_trace), b(*salvaged);
        a.AdvanceTo(true_trace->events.size());
        b.AdvanceTo(salvaged->events.size());
        const absl::StatusOr<History> h = Reconstruct(cut);
        ASSERT_TRUE(h.ok());
        EXPECT_TRUE(h->left_out.empty());
        if (before == 0) {  // the recording begins with the first allocation
          EXPECT_EQ(a.sums().allocated, b.sums().allocated);
          EXPECT_EQ(a.sums().reserved, b.sums().reserved);
        } else {  // the recording says nothing about older blocks that were freed in the lost part
          EXPECT_LE(b.sums().requested,
                    a.sums().requested + s.recording.segments.size() * kMiB * 64);
          EXPECT_GT(b.sums().allocated, 0u);
        }
      }
}

}  // namespace
}  // namespace vramscope::recording
