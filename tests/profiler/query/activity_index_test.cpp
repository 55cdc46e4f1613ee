#include "profiler/query/activity_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/profiler/query/launches.h"

namespace vramscope::query {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using trace::ActivityKind;
using trace::SliceKind;
using Of = ActivityTrack::Of;

bool IsCall(ActivityKind kind) {
  return kind == ActivityKind::kRuntimeCall || kind == ActivityKind::kDriverCall;
}

TEST(ActivityIndex, TracksHoldEveryActivityOnceWithoutOverlap) {
  for (uint64_t seed = 1; seed < 4; ++seed) {
    const auto t = WithLaunches(seed);
    const ActivityIndex index(t);
    const trace::ActivityTable& a = t->activities;
    ASSERT_GT(a.size(), 100u);
    std::map<uint32_t, std::vector<uint32_t>> rows;
    for (uint32_t row = 0; row < a.size(); ++row) rows[index.TrackOf(row)].push_back(row);
    ASSERT_EQ(rows.size(), index.tracks().size());
    std::set<Of> seen;
    for (const auto& [number, of] : rows) {
      const ActivityTrack& track = index.tracks()[number];
      seen.insert(track.of);
      EXPECT_EQ(track.count, of.size());
      uint64_t busy = 0;
      for (size_t i = 0; i < of.size(); ++i) {
        busy += static_cast<uint64_t>(a.end_ns[of[i]] - a.begin_ns[of[i]]);
        if (trace::IsOfDevice(a.kind[of[i]])) {
          EXPECT_EQ(track.stream, a.stream[of[i]]);
        } else {
          EXPECT_EQ(track.thread, a.thread[of[i]]);
        }
        if (i > 0) {
          ASSERT_GE(a.begin_ns[of[i]], a.end_ns[of[i - 1]]) << "they overlap";
        }
      }
      EXPECT_EQ(track.busy_ns, busy);
    }
    EXPECT_THAT(seen, ElementsAre(Of::kStream, Of::kCalls, Of::kSynchronizations));
  }
}

TEST(ActivityIndex, ActivitiesBeyondMaxDepthShareATrack) {
  auto t = std::make_shared<trace::Trace>();
  for (int i = 0; i < 40; ++i) t->activities.Append({.begin_ns = i, .end_ns = 100});
  const ActivityIndex index(t);
  EXPECT_EQ(index.tracks().size(), ActivityIndex::kMostDepth + 1);
  const LaneView v = index.Query(ActivityIndex::kMostDepth, 0, 200, 4);
  EXPECT_EQ(v.rects.size(), 40 - ActivityIndex::kMostDepth);
}

// This test checks that all activities in the window are found. (lane_index_test tests the code
// that draws wide items as rectangles and counts narrow ones.)
TEST(ActivityIndex, QueryReturnsActivitiesInTheWindow) {
  const auto t = WithLaunches(7);
  const ActivityIndex index(t);
  const trace::ActivityTable& a = t->activities;
  std::mt19937_64 random(1);
  const auto span = static_cast<uint64_t>(t->end_ns() - t->begin_ns());
  for (int round = 0; round < 100; ++round) {
    const auto track = static_cast<uint32_t>(random() % index.tracks().size());
    const int64_t begin = t->begin_ns() + static_cast<int64_t>(random() % span);
    const int64_t end = begin + 1 + static_cast<int64_t>(random() % span);
    const LaneView v = index.Query(track, begin, end, 300, 0.0);  // all are wide enough
    std::vector<uint32_t> expected;
    for (uint32_t row = 0; row < a.size(); ++row)
      if (index.TrackOf(row) == track && a.end_ns[row] >= begin && a.begin_ns[row] < end)
        expected.push_back(row);
    std::vector<uint32_t> rows;
    for (const LaneRect& r : v.rects) {
      rows.push_back(r.row);
      ASSERT_EQ(ActivityStyle::FromByte(r.style).kind, a.kind[r.row]);
    }
    ASSERT_EQ(rows, expected);
    const int64_t time = begin + static_cast<int64_t>(random() % 1000);
    std::optional<uint32_t> at;
    for (uint32_t row = 0; row < a.size(); ++row)
      if (index.TrackOf(row) == track && a.begin_ns[row] <= time && time < a.end_ns[row]) at = row;
    ASSERT_EQ(index.At(track, time), at);
  }
}

TEST(ActivityIndex, MovedViewEqualsNewQuery) {
  const auto t = WithLaunches(7);
  const ActivityIndex index(t);
  std::mt19937_64 random(3);
  const auto length = static_cast<double>(t->end_ns() - t->begin_ns());
  for (uint32_t track = 0; track < index.tracks().size(); ++track) {
    TimeGrid grid{
        .origin_ns = t->begin_ns(), .width_ns = length / 900, .first = 300, .columns = 301};
    LaneView moved;
    for (int round = 0; round < 30; ++round) {
      grid.first = std::max<int64_t>(grid.first + static_cast<int64_t>(random() % 201) - 100, 0);
      index.Ask(track, grid, round < 15 ? 2 : 0.5, &moved);
      LaneView fresh;
      index.Ask(track, grid, round < 15 ? 2 : 0.5, &fresh);
      ASSERT_EQ(moved.rects, fresh.rects) << track << ", " << round;
      ASSERT_EQ(moved.columns, fresh.columns) << track << ", " << round;
    }
  }
}

TEST(ActivityIndex, FindsCallOpAndModuleOfAnActivity) {
  for (uint64_t seed = 1; seed < 4; ++seed) {
    const auto t = WithLaunches(seed);
    const ActivityIndex index(t);
    const trace::ActivityTable& a = t->activities;
    const trace::SliceTable& s = t->slices;
    int found = 0;
    for (uint32_t row = 0; row < a.size(); ++row) {
      uint32_t call = kNoRow;
      for (const ActivityKind kind : {ActivityKind::kDriverCall, ActivityKind::kRuntimeCall})
        for (uint32_t other = 0; other < a.size(); ++other)
          if (a.correlation[row] != 0 && a.correlation[other] == a.correlation[row] &&
              a.kind[other] == kind)
            call = other;
      if (IsCall(a.kind[row])) call = row;
      ASSERT_EQ(index.CallOf(row), call) << "activity " << row;
      uint32_t on = call;
      if (call == kNoRow && a.kind[row] == ActivityKind::kSynchronization) on = row;
      for (const SliceKind kind : {SliceKind::kOp, SliceKind::kModule, SliceKind::kStep}) {
        uint32_t slice = kNoRow;
        for (uint32_t r = 0; r < s.size() && on != kNoRow; ++r)
          if (s.kind[r] == kind && (kind == SliceKind::kStep || s.thread[r] == a.thread[on]) &&
              s.begin_ns[r] <= a.begin_ns[on] &&
              (a.begin_ns[on] < s.end_ns[r] || a.begin_ns[on] == s.begin_ns[r]))
            slice = r;
        ASSERT_EQ(index.SliceOf(row, kind), slice) << "activity " << row;
        found += slice != kNoRow && kind == SliceKind::kModule;
      }
    }
    EXPECT_GT(found, 100);
  }
}

TEST(ActivityIndex, FindsAllocationsAndKernelsOfAnOp) {
  const auto t = WithLaunches(5);
  const ActivityIndex index(t);
  const trace::ActivityTable& a = t->activities;
  const trace::SliceTable& s = t->slices;
  int made = 0, launched = 0;
  for (uint32_t slice = 0; slice < s.size(); ++slice) {
    const RowRange rows = index.MadeWithin(slice);
    for (uint32_t r = 0; r < t->allocations.size(); ++r) {
      const trace::EventIndex event = t->allocations.alloc_event[r];
      ASSERT_EQ(r >= rows.first && r<rows.last, event> s.begin_event[slice] &&
                event < s.end_event[slice]);
    }
    made += static_cast<int>(rows.size());
    std::set<uint32_t> expected;
    for (uint32_t row = 0; row < a.size(); ++row) {
      const uint32_t call = index.CallOf(row);
      if (trace::IsOfDevice(a.kind[row]) && call != kNoRow && a.thread[call] == s.thread[slice] &&
          a.begin_ns[call] >= s.begin_ns[slice] && a.begin_ns[call] < s.end_ns[slice])
        expected.insert(row);
    }
    const std::vector<uint32_t> all = index.LaunchedWithin(slice, SIZE_MAX);
    ASSERT_EQ(std::set<uint32_t>(all.begin(), all.end()), expected);
    ASSERT_EQ(all.size(), expected.size());
    ASSERT_EQ(index.LaunchedWithin(slice, 2).size(), std::min<size_t>(2, expected.size()));
    launched += static_cast<int>(all.size());
  }
  EXPECT_GT(made, 100);
  EXPECT_GT(launched, 100);
}

TEST(ActivityIndex, FindsOpThatAllocatedAndLastOpBeforeFree) {
  const auto t = WithLaunches(6);
  const ActivityIndex index(t);
  const trace::SliceTable& s = t->slices;
  const trace::AllocationTable& of = t->allocations;
  int made = 0, freed = 0;
  for (uint32_t row = 0; row < of.size(); ++row) {
    // Finds the innermost open operator. If several threads have one, prefers the operator whose
    // name the allocation states.
    std::map<uint32_t, uint32_t> open;
    uint32_t before_free = kNoRow, at_free = kNoRow, last = kNoRow;
    for (uint32_t r = 0; r < s.size(); ++r) {
      if (s.kind[r] != SliceKind::kOp) continue;
      const auto is_open = [&](trace::EventIndex event) {
        return s.begin_event[r] < event && s.end_event[r] > event;
      };
      if (is_open(of.alloc_event[row])) open[s.thread[r]] = r;
      const trace::EventIndex free = of.free_requested_event[row];
      if (free == trace::kNoEvent) continue;
      if (is_open(free)) at_free = r;
      if (s.begin_event[r] < free) last = r;
    }
    before_free = at_free != kNoRow ? at_free : last;
    uint32_t expected = kNoRow;
    for (const bool named : {false, true})
      for (const auto& [thread, r] : open)
        if (!named || s.name[r] == of.op[row])
          expected = expected == kNoRow || (named && s.name[expected] != of.op[row])
                         ? r
                         : std::max(expected, r);
    ASSERT_EQ(index.OpThatMade({row}), expected) << "allocation " << row;
    ASSERT_EQ(index.LastOpBeforeFree({row}), before_free) << "allocation " << row;
    made += expected != kNoRow;
    freed += before_free != kNoRow;
  }
  EXPECT_GT(made, 100);
  EXPECT_GT(freed, 100);
}

TEST(ActivityIndex, HandlesEmptyTracesAndExtremeRanges) {
  const ActivityIndex none(std::make_shared<trace::Trace>());
  EXPECT_THAT(none.tracks(), IsEmpty());
  EXPECT_TRUE(none.Query(0, 0, 10, 10).columns.empty());
  EXPECT_FALSE(none.At(0, 0).has_value());
  auto t = std::make_shared<trace::Trace>();
  // Adds calls whose kernel is missing, a kernel whose call was dropped, and two calls with the
  // same correlation.
  for (const ActivityKind kind : {ActivityKind::kRuntimeCall, ActivityKind::kKernel,
                                  ActivityKind::kDriverCall, ActivityKind::kKernel})
    t->activities.Append({.kind = kind,
                          .correlation = kind == ActivityKind::kKernel ? 7u : 0u,
                          .begin_ns = INT64_MIN,
                          .end_ns = INT64_MAX});
  const ActivityIndex index(t);
  EXPECT_THAT(index.Correlated(0), IsEmpty());
  EXPECT_THAT(index.Correlated(1), ElementsAre(1, 3));
  EXPECT_EQ(index.CallOf(1), kNoRow);
  EXPECT_EQ(index.CallOf(2), 2u);
  EXPECT_EQ(index.SliceOf(1, SliceKind::kOp), kNoRow);
  EXPECT_EQ(index.SliceOf(2, SliceKind::kOp), kNoRow);
  EXPECT_EQ(index.tracks().size(), 4u);
  EXPECT_EQ(index.Query(0, INT64_MIN, INT64_MAX, 8).rects.size(), 1u);
}

}  // namespace
}  // namespace vramscope::query
