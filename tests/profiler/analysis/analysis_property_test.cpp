// Compares all results with direct computations from the events, for random traces.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <span>

#include "profiler/analysis/analysis.h"
#include "profiler/analysis/grouping.h"
#include "profiler/trace/event_source.h"
#include "tests/profiler/analysis/random_trace.h"

namespace vramscope::analysis {
namespace {

using trace::EventKind;

// Sums up the live blocks after each event. Uses maps instead of the trace's tables.
struct Reference {
  struct Live {
    uint64_t requested, rounded;
    int category;
  };
  std::map<uint64_t, Live> live;
  std::map<uint64_t, uint64_t> segments;
  uint64_t mapped = 0;
  std::map<uint64_t, uint64_t> rounded_of, requested_of;

  void Apply(const trace::EventTable& e, uint32_t i) {
    switch (e.kind[i]) {
      case EventKind::kAlloc:
        live[e.id[i]] = {e.bytes[i], e.bytes_rounded[i], static_cast<int>(e.category[i])};
        break;
      case EventKind::kFreeCompleted:
        live.erase(e.id[i]);
        break;
      case EventKind::kRetag:
        live.at(e.id[i]).category = static_cast<int>(e.category[i]);
        break;
      case EventKind::kSegmentAlloc:
        segments[e.id[i]] = e.detail[i] != 0 ? 0 : e.bytes[i];  // expandable segments start empty
        break;
      case EventKind::kSegmentMap:
        mapped += e.bytes[i];
        break;
      case EventKind::kSegmentUnmap:
        mapped -= e.bytes[i];
        break;
      case EventKind::kSegmentFree:
        segments.erase(e.id[i]);
        break;
      default:
        break;
    }
  }
  uint64_t Reserved() const {
    uint64_t sum = mapped;
    for (const auto& [id, bytes] : segments) sum += bytes;
    return sum;
  }
};

class AnalysisProperty : public ::testing::TestWithParam<uint64_t> {
 protected:
  std::shared_ptr<const trace::Trace> trace_ = MakeRandomTrace(
      {.seed = GetParam(), .expandable = GetParam() % 3 == 0, .tear_down = GetParam() % 2 == 0});
  MemoryCurves curves_ = ComputeCurves(*trace_);
};

TEST_P(AnalysisProperty, CurvesMatchEventsAndCategoriesAddUp) {
  Reference reference;
  size_t point = 0;
  for (uint32_t i = 0; i < trace_->events.size(); ++i) {
    reference.Apply(trace_->events, i);
    const EventKind kind = trace_->events.kind[i];
    if (kind != EventKind::kAlloc && kind != EventKind::kFreeCompleted &&
        kind != EventKind::kRetag && kind != EventKind::kSegmentAlloc &&
        kind != EventKind::kSegmentFree && kind != EventKind::kSegmentMap &&
        kind != EventKind::kSegmentUnmap) {
      ASSERT_EQ(PointAt(curves_, i), point == 0 ? std::nullopt : std::optional(point - 1));
      continue;
    }
    ASSERT_LT(point, curves_.size());
    ASSERT_EQ(curves_.event[point], i);
    ASSERT_EQ(curves_.time_ns[point], trace_->events.time_ns[i]);
    ASSERT_EQ(PointAt(curves_, i), point);
    uint64_t sum = 0;
    for (const auto& column : curves_.category) sum += column.empty() ? 0 : column[point];
    ASSERT_EQ(sum, curves_.allocated[point]);
    ASSERT_GE(curves_.reserved[point], curves_.allocated[point]);
    ASSERT_GE(curves_.allocated[point], curves_.requested[point]);
    if (i % 17 == 0) {
      uint64_t allocated = 0, requested = 0;
      CategoryBytes by{};
      for (const auto& [id, l] : reference.live) {
        allocated += l.rounded;
        requested += l.requested;
        by[l.category] += l.rounded;
      }
      ASSERT_EQ(curves_.allocated[point], allocated);
      ASSERT_EQ(curves_.requested[point], requested);
      ASSERT_EQ(curves_.reserved[point], reference.Reserved());
      for (int c = 0; c < trace::kCategoryCount; ++c) {
        ASSERT_EQ(curves_.category[c].empty() ? 0 : curves_.category[c][point], by[c]);
      }
    }
    ++point;
  }
  EXPECT_EQ(point, curves_.size());
  if (GetParam() % 2 == 0) {
    EXPECT_EQ(curves_.allocated.back(), 0u);
    EXPECT_EQ(curves_.reserved.back(), 0u);
  }
}

TEST_P(AnalysisProperty, LiveSetsAndGroupsMatchCurves) {
  std::mt19937_64 random(GetParam());
  for (int i = 0; i < 200; ++i) {
    const auto event = static_cast<trace::EventIndex>(random() % trace_->events.size());
    const LiveSet live = LiveAt(*trace_, event);
    const std::optional<size_t> point = PointAt(curves_, event);
    ASSERT_EQ(live.allocated, point ? curves_.allocated[*point] : 0);
    ASSERT_EQ(live.requested, point ? curves_.requested[*point] : 0);
    ASSERT_EQ(live.reserved, point ? curves_.reserved[*point] : 0);
    for (int c = 0; c < trace::kCategoryCount; ++c) {
      const auto& column = curves_.category[c];
      ASSERT_EQ(live.by_category[c], point && !column.empty() ? column[*point] : 0);
    }
    uint64_t sum = 0, last = UINT64_MAX;
    for (const LiveAllocation& a : live.allocations) {
      const uint64_t bytes = trace_->allocations.bytes_rounded[a.id.value];
      ASSERT_LE(bytes, last) << "largest first";
      last = bytes;
      sum += bytes;
    }
    ASSERT_EQ(sum, live.allocated);
    for (const GroupBy by :
         {GroupBy::kCategory, GroupBy::kModule, GroupBy::kOp, GroupBy::kStack, GroupBy::kPhase,
          GroupBy::kFile, GroupBy::kSize, GroupBy::kAge, GroupBy::kAnnotation}) {
      const LiveGroups grouped = GroupBlocks(*trace_, live, by);
      uint64_t bytes = 0, count = 0;
      for (const Group& g : grouped.groups) {
        bytes += g.bytes;
        count += g.count;
      }
      ASSERT_EQ(grouped.group_of.size(), live.allocations.size());
      std::vector<uint64_t> of_group(grouped.groups.size());
      for (size_t i = 0; i < grouped.group_of.size(); ++i)
        of_group.at(grouped.group_of[i]) +=
            trace_->allocations.bytes_rounded[live.allocations[i].id.value];
      for (size_t i = 0; i < of_group.size(); ++i)
        ASSERT_EQ(of_group[i], grouped.groups[i].bytes) << grouped.groups[i].name;
      ASSERT_EQ(bytes, live.allocated);
      ASSERT_EQ(count, live.allocations.size());
    }
  }
}

TEST_P(AnalysisProperty, PeakIsTheFirstHighestPoint) {
  const Peak peak = FindPeak(*trace_, curves_);
  uint64_t highest = 0, reserved = 0;
  trace::EventIndex event = 0;
  for (size_t i = 0; i < curves_.size(); ++i) {
    if (curves_.allocated[i] > highest) {
      highest = curves_.allocated[i];
      event = curves_.event[i];
    }
    reserved = std::max(reserved, curves_.reserved[i]);
  }
  EXPECT_EQ(peak.allocated, highest);
  EXPECT_EQ(peak.reserved, reserved);
  EXPECT_EQ(peak.context.event, event);
  EXPECT_EQ(peak.by_category, LiveAt(*trace_, event).by_category);
}

// Finds the step and phase of an event by going through all events before it.
Context WalkTo(const trace::Trace& t, trace::EventIndex event) {
  Context c;
  std::vector<int32_t> micro;
  std::vector<trace::Phase> phases;
  const trace::EventTable& e = t.events;
  for (uint32_t i = 0; i <= event; ++i) {
    if (e.kind[i] == EventKind::kStepBegin) c.step = static_cast<int32_t>(e.id[i]);
    if (e.kind[i] == EventKind::kStepEnd) c.step = -1;
    if (e.kind[i] == EventKind::kMicroBatchBegin) c.micro_batch = static_cast<int32_t>(e.id[i]);
    if (e.kind[i] == EventKind::kMicroBatchEnd) c.micro_batch = -1;
    if (e.kind[i] == EventKind::kPhaseBegin)
      phases.push_back(static_cast<trace::Phase>(e.detail[i]));
    if (e.kind[i] == EventKind::kPhaseEnd) phases.pop_back();
  }
  if (!phases.empty()) c.phase = phases.back();
  return c;
}

TEST_P(AnalysisProperty, ContextMatchesOpenStepAndPhase) {
  std::mt19937_64 random(GetParam());
  for (int i = 0; i < 100; ++i) {
    const auto event = static_cast<trace::EventIndex>(random() % trace_->events.size());
    const Context got = ContextAt(*trace_, event), expected = WalkTo(*trace_, event);
    ASSERT_EQ(got.step, expected.step) << event;
    ASSERT_EQ(got.micro_batch, expected.micro_batch) << event;
    ASSERT_EQ(got.phase, expected.phase) << event;
    if (trace_->events.kind[event] == EventKind::kAlloc) {
      const auto id = trace_->events.id[event];
      ASSERT_EQ(got.op, trace_->String(trace_->allocations.op[id]));
      ASSERT_EQ(got.module, trace_->String(trace_->allocations.module[id]));
    }
  }
}

TEST_P(AnalysisProperty, PhaseTotalsAndStepPeaksMatchEvents) {
  // The memory after an event counts for the step and phase that are open after the event.
  std::map<std::tuple<int32_t, trace::Phase, int>, uint64_t> totals;
  std::map<int32_t, uint64_t> step_peaks;
  Reference reference;
  Context at;
  std::vector<trace::Phase> phases;
  CategoryBytes by{};
  const trace::EventTable& e = trace_->events;
  for (uint32_t i = 0; i < e.size(); ++i) {
    reference.Apply(e, i);
    if (e.kind[i] == EventKind::kStepBegin) at.step = static_cast<int32_t>(e.id[i]);
    if (e.kind[i] == EventKind::kStepEnd) at.step = -1;
    if (e.kind[i] == EventKind::kPhaseBegin)
      phases.push_back(static_cast<trace::Phase>(e.detail[i]));
    if (e.kind[i] == EventKind::kPhaseEnd) phases.pop_back();
    const trace::Phase phase = phases.empty() ? trace::Phase::kNone : phases.back();
    by = {};
    uint64_t allocated = 0;
    for (const auto& [id, l] : reference.live) by[l.category] += l.rounded, allocated += l.rounded;
    for (int c = 0; c < trace::kCategoryCount; ++c) {
      if (by[c] == 0) continue;
      uint64_t& total = totals[{at.step, phase, c}];
      total = std::max(total, by[c]);
    }
    if (at.step >= 0) step_peaks[at.step] = std::max(step_peaks[at.step], allocated);
  }
  const std::vector<PhaseTotal> rows = PhaseTotals(*trace_, curves_);
  ASSERT_EQ(rows.size(), totals.size());
  auto expected = totals.begin();
  for (const PhaseTotal& r : rows) {
    EXPECT_EQ(std::tuple(r.step, r.phase, static_cast<int>(r.category)), expected->first);
    EXPECT_EQ(r.bytes, expected->second);
    ++expected;
  }
  const std::vector<StepRow> steps = StepTable(*trace_, curves_);
  ASSERT_EQ(steps.size(), step_peaks.size());
  for (const StepRow& s : steps) EXPECT_EQ(s.peak_allocated, step_peaks[s.index]);
}

void ExpectSame(const MemoryCurves& a, const MemoryCurves& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_TRUE(a.event == b.event);
  EXPECT_TRUE(a.time_ns == b.time_ns);
  EXPECT_TRUE(a.allocated == b.allocated);
  EXPECT_TRUE(a.requested == b.requested);
  EXPECT_TRUE(a.reserved == b.reserved);
  for (int c = 0; c < trace::kCategoryCount; ++c) EXPECT_TRUE(a.category[c] == b.category[c]) << c;
}

// ContinueCurves adds new events to earlier curves, as for a run in progress.
TEST_P(AnalysisProperty, ContinuedCurvesEqualRecomputedCurves) {
  std::vector<trace::Event> events;
  trace::EventSource source(*trace_);
  for (trace::EventIndex i = 0; i < trace_->events.size(); ++i) events.push_back(source.At(i));
  trace::TraceBuilder builder;
  ASSERT_TRUE(builder.AddStrings(0, trace_->strings).ok());
  std::shared_ptr<const trace::Trace> before = builder.Snapshot();
  MemoryCurves curves;
  std::mt19937_64 random(GetParam());
  int continued = 0;
  for (size_t at = 0; at < events.size();) {
    const size_t n = std::min<size_t>(random() % 2500, events.size() - at);
    ASSERT_TRUE(builder.AddEvents(std::span(events).subspan(at, n)).ok());
    at += n;
    const auto now = builder.Snapshot();
    continued += now->events.GoOnFrom(before->events);
    curves = ContinueCurves(*now, *before, curves);
    ExpectSame(curves, ComputeCurves(*now));
    before = now;
  }
  EXPECT_GT(continued, 0);
  ExpectSame(curves, curves_);
  // These are two separate traces with equal events, so ContinueCurves starts from scratch.
  EXPECT_FALSE(trace_->events.GoOnFrom(before->events));
  ExpectSame(ContinueCurves(*trace_, *before, MemoryCurves(curves)), curves_);
}

TEST_P(AnalysisProperty, DiffOfATraceWithItselfHasEqualSides) {
  const std::vector<DiffRow> rows = Diff(*trace_, *trace_);
  EXPECT_EQ(rows.size(), PhaseTotals(*trace_, curves_).size());
  for (const DiffRow& r : rows) EXPECT_EQ(r.a, r.b);
}

INSTANTIATE_TEST_SUITE_P(Random, AnalysisProperty, ::testing::Range<uint64_t>(1, 7));

TEST(Devices, OneDeviceTracesAddUpToTheWholeTrace) {
  const auto all = MakeRandomTrace({.seed = 21, .steps = 2, .tear_down = false});
  // Moves every other allocation and segment to a second device. The sum over both devices must
  // stay the same.
  const auto whole = std::make_shared<trace::Trace>(*all);
  trace::Trace& t = *whole;
  for (uint32_t id = 0; id < t.allocations.size(); ++id) t.allocations.device.Set(id, id % 2);
  for (uint32_t id = 0; id < t.segments.size(); ++id) t.segments.device[id] = id % 2;
  EXPECT_EQ(DevicesOf(t), (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(DeviceToShow(all), std::nullopt);
  const std::vector<DevicePeak> peaks = PeakOfEachDevice(whole);
  ASSERT_EQ(peaks.size(), 2u);
  for (const DevicePeak& of : peaks)
    EXPECT_EQ(of.peak.allocated,
              std::ranges::max(ComputeCurves(*trace::OfDevice(whole, of.device)).allocated));
  const auto needs = [&](size_t i) { return std::pair(peaks[i].needed, peaks[i].peak.allocated); };
  EXPECT_EQ(DeviceToShow(whole), needs(0) >= needs(1) ? 0 : 1);
  const auto first = trace::OfDevice(whole, 0), second = trace::OfDevice(whole, 1);
  const MemoryCurves both = ComputeCurves(t), one = ComputeCurves(*first),
                     other = ComputeCurves(*second);
  EXPECT_EQ(one.size() + other.size(), both.size());
  EXPECT_EQ(ComputeCurves(*trace::OfDevice(whole, 2)).size(), 0u);
  for (trace::EventIndex event = 0; event < t.events.size(); event += 97) {
    // Compares at equal times, because a device's trace has other event indexes.
    const int64_t time = t.events.time_ns[event];
    if (event + 1 < t.events.size() && t.events.time_ns[event + 1] == time) continue;
    const auto at = [time](const MemoryCurves& curves, const auto& column) {
      const auto behind = std::ranges::upper_bound(curves.time_ns, time);
      return behind == curves.time_ns.begin()
                 ? uint64_t{0}
                 : column[static_cast<size_t>(behind - curves.time_ns.begin()) - 1];
    };
    EXPECT_EQ(at(one, one.allocated) + at(other, other.allocated), at(both, both.allocated));
    EXPECT_EQ(at(one, one.reserved) + at(other, other.reserved), at(both, both.reserved));
    const LiveSet live = LiveAt(*second, EventAtTime(*second, time));
    EXPECT_EQ(live.allocated, at(other, other.allocated));
    EXPECT_EQ(live.requested, at(other, other.requested));
    EXPECT_EQ(live.reserved, at(other, other.reserved));
  }
}

}  // namespace
}  // namespace vramscope::analysis
