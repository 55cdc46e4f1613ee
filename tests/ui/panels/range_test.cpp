// Compares the figures of a range with sums over the tables. Also tests texts about the range, and
// pages that use it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "profiler/analysis/site_names.h"
#include "tests/profiler/analysis/random_trace.h"
#include "tests/ui/panels/altered_trace.h"
#include "ui/explain/explain_page.h"
#include "ui/panels/range_rows.h"

namespace vramscope::ui {
namespace {

using vramscope::testing::MakeRecordedTrace;

std::string ValueOf(const std::vector<Fact>& facts, const std::string& label) {
  for (const Fact& fact : facts)
    if (fact.label == label) return fact.value;
  return "(no such fact)";
}

// Compares the figures of a range with a slow computation, which goes through all events.
void ExpectAsCounted(const Digest& digest, int64_t begin, int64_t end) {
  const trace::Trace& t = *digest.trace;
  const RangeFigures r = FiguresOfRange(digest, begin, end);
  uint64_t live = 0, at_begin = 0, peak = 0, allocated = 0, allocated_count = 0, freed = 0,
           freed_count = 0;
  analysis::CategoryBytes freed_of{};
  uint64_t reserved = 0, reserved_at_begin = 0;
  bool before = true;
  for (trace::EventIndex e = 0; e < t.events.size(); ++e) {
    if (t.events.time_ns[e] > end) break;
    const bool inside = t.events.time_ns[e] >= begin;
    if (inside && before) {
      before = false;
      at_begin = peak = live;
      reserved_at_begin = reserved;
    }
    const auto id = static_cast<uint32_t>(t.events.id[e]);
    if (t.events.kind[e] == trace::EventKind::kAlloc) {
      live += t.allocations.bytes_rounded[id];
      if (inside && !analysis::IsOlder(t, id)) {
        allocated += t.allocations.bytes_rounded[id];
        ++allocated_count;
      }
    } else if (t.events.kind[e] == trace::EventKind::kFreeCompleted) {
      live -= t.allocations.bytes_rounded[id];
      if (inside) {
        freed += t.allocations.bytes_rounded[id];
        ++freed_count;
        freed_of[static_cast<size_t>(t.allocations.main_category[id])] +=
            t.allocations.bytes_rounded[id];
      }
    }
    if (inside) peak = std::max(peak, live);
    if (const auto point = analysis::PointAt(*digest.curves, e))
      reserved = digest.curves->reserved[*point];
  }
  EXPECT_EQ(r.at_begin, at_begin);
  EXPECT_EQ(r.at_end, live);
  EXPECT_EQ(r.peak, peak);
  EXPECT_EQ(r.at_peak.allocated, peak) << "the list has the blocks that were live at the peak";
  EXPECT_EQ(r.allocated_bytes, allocated);
  EXPECT_EQ(r.allocated_count, allocated_count);
  EXPECT_EQ(r.freed_bytes, freed);
  EXPECT_EQ(r.freed_count, freed_count);
  EXPECT_EQ(r.freed_by_category, freed_of);
  EXPECT_EQ(r.reserved_at_begin, reserved_at_begin);
  EXPECT_EQ(r.reserved_at_end, reserved);
  uint64_t by_category = 0, sites = 0;
  for (const uint64_t bytes : r.allocated_by_category) by_category += bytes;
  EXPECT_EQ(by_category, allocated);
  for (const analysis::Group& site : r.sites) sites += site.bytes;
  EXPECT_LE(sites, allocated);
  for (const trace::AllocationId id : r.largest) {
    EXPECT_GE(t.allocations.alloc_event[id.value], r.span.first);
    EXPECT_LE(t.allocations.alloc_event[id.value], r.span.last);
  }
  EXPECT_TRUE(std::is_sorted(r.largest.begin(), r.largest.end(), [&](auto x, auto y) {
    return t.allocations.bytes_rounded[x.value] > t.allocations.bytes_rounded[y.value];
  }));
}

TEST(RangeTest, FiguresMatchASumOverItsEvents) {
  const auto digest = MakeDigest(analysis::MakeRandomTrace({.seed = 11, .steps = 3, .layers = 4}));
  const int64_t begin = digest->trace->begin_ns(), end = digest->trace->end_ns();
  for (int i = 0; i < 20; ++i) {
    const int64_t from = begin + (end - begin) * i / 25,
                  to = from + (end - begin) * (i % 5 + 1) / 9;
    SCOPED_TRACE(i);
    ExpectAsCounted(*digest, from, std::min(to, end));
  }
  ExpectAsCounted(*digest, begin, end);
}

TEST(RangeTest, ExcludesBlocksOlderThanTheRecording) {
  const auto digest = MakeDigest(MakeRecordedTrace(), "recorded.trace");
  const trace::Trace& t = *digest->trace;
  const RangeFigures r = FiguresOfRange(*digest, t.begin_ns(), t.end_ns());
  EXPECT_EQ(r.allocated_count, t.allocations.size() - 1);
  EXPECT_EQ(r.unfreed_count, r.staying_count);
  EXPECT_THAT(r.sites.front().name, ::testing::StartsWith("model.py:42 forward"));
}

TEST(RangeTest, FactsListStepsPhasesAndLiveBlocks) {
  const auto digest = MakeDigest(MakeRecordedTrace({.steps = 4}), "recorded.trace");
  const trace::Trace& t = *digest->trace;
  uint32_t first = 0, second = 0;
  for (uint32_t i = 0; i < t.slices.size(); ++i)
    if (t.slices.kind[i] == trace::SliceKind::kStep)
      (t.slices.number[i] == 1   ? first
       : t.slices.number[i] == 2 ? second
                                 : first) =
          t.slices.number[i] == 1 || t.slices.number[i] == 2 ? i : first;
  const RangeFigures r = FiguresOfRange(*digest, t.slices.begin_ns[first], t.slices.end_ns[second]);
  const std::vector<Fact> facts = RangeFacts(t, r);
  EXPECT_EQ(ValueOf(facts, "steps"), "1 to 2 (2)");
  EXPECT_EQ(ValueOf(facts, "phases"), "forward, backward, optimizer");
  // Each step leaves a block of 1 MiB behind, so there are two after two steps.
  EXPECT_EQ(ValueOf(facts, "live after the range"), "2.000 MiB in 2 blocks");
  EXPECT_EQ(ValueOf(facts, "difference"), "+2.000 MiB");
}

TEST(RangeTest, FiltersStepTableAndSetsTimeOfThePages) {
  const auto digest = MakeDigest(MakeRecordedTrace({.steps = 4}), "recorded.trace");
  const trace::Trace& t = *digest->trace;
  int64_t begin = 0, end = 0;
  for (uint32_t i = 0; i < t.slices.size(); ++i)
    if (t.slices.kind[i] == trace::SliceKind::kStep && t.slices.number[i] == 2)
      begin = t.slices.begin_ns[i], end = t.slices.end_ns[i];
  EXPECT_EQ(PhaseTable(*digest).rows.size(), 4u);
  EXPECT_EQ(PhaseTable(*digest, begin, end).rows.size(), 1u);
  ExplainContext context;
  context.digest = digest;
  EXPECT_EQ(context.shownEvent(), digest->summary.peak.context.event);
  context.range = {begin, end};
  EXPECT_EQ(context.time_source(), ExplainContext::TimeSource::kRange);
  EXPECT_GE(t.events.time_ns[context.shownEvent()], begin);
  EXPECT_LE(t.events.time_ns[context.shownEvent()], end);
  context.cursor_ns = t.begin_ns();  // not in the range
  EXPECT_EQ(context.time_source(), ExplainContext::TimeSource::kRange);
  context.cursor_ns = begin + 1;
  EXPECT_EQ(context.time_source(), ExplainContext::TimeSource::kCursor);
}

}  // namespace
}  // namespace vramscope::ui
