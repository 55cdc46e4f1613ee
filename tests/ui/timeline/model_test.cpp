// Tests view, axes, layout, text and comparison. These need no trace or only tables of one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "profiler/analysis/analysis.h"
#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/timeline/model/compare.h"
#include "ui/timeline/model/draw_list.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/ticks.h"
#include "ui/timeline/model/timeline_data.h"
#include "ui/timeline/model/viewport.h"

namespace vramscope::ui::timeline {
namespace {

using ::testing::ElementsAre;

class FixedMeasure : public TextMeasure {
 public:
  float Width(std::string_view s, Font) const override {
    float width = 0;
    for (char c : s) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 7 : 0;
    return width;
  }
};

Viewport View() {
  Viewport v;
  v.SetPixels(12, 1000);
  v.SetExtent(0, 1e9);
  v.Fit();
  return v;
}

TEST(ViewportTest, ConvertsPixelsToTimesAndBack) {
  Viewport v = View();
  v.SetView({2e8, 3e8});
  EXPECT_DOUBLE_EQ(v.ToX(2e8), 12);
  EXPECT_DOUBLE_EQ(v.ToX(3e8), 1012);
  for (double x : {12.0, 100.5, 640.25, 1012.0}) EXPECT_NEAR(v.ToX(v.ToTime(x)), x, 1e-9);
}

TEST(ViewportTest, ZoomKeepsTheTimeUnderTheMouse) {
  std::mt19937 random(1);
  Viewport v = View();
  for (int i = 0; i < 2000; ++i) {
    double x = std::uniform_real_distribution<>(12, 1012)(random);
    double factor = std::exp(std::uniform_real_distribution<>(-0.4, 0.5)(random));
    double time = v.ToTime(x), width = v.view().width();
    v.ZoomAt(x, factor);
    ASSERT_GE(v.view().begin, 0);
    ASSERT_LE(v.view().end, 1e9 + 1e-3);
    ASSERT_GE(v.view().width(), Viewport::kMinSpanNs * 0.999);
    bool clamped = v.view().begin == 0 || v.view().end >= 1e9 - 1e-3;
    if (!clamped) {
      ASSERT_NEAR(v.ToX(time), x, 1e-4) << "zoom " << i << " by " << factor;
    }
    if (factor > 1) {
      ASSERT_LE(v.view().width(), width * 1.000001);
    }
  }
}

TEST(ViewportTest, ZoomIsLimitedToMinSpanAndWholeTrace) {
  Viewport v = View();
  for (int i = 0; i < 200; ++i) v.ZoomAt(500, 2);
  EXPECT_NEAR(v.view().width(), Viewport::kMinSpanNs, 1e-6);
  for (int i = 0; i < 200; ++i) v.ZoomAt(500, 0.5);
  EXPECT_TRUE(v.shows_all());
}

TEST(ViewportTest, PanStopsAtTheEnds) {
  Viewport v = View();
  v.SetView({4e8, 5e8});
  v.PanPixels(100);
  EXPECT_NEAR(v.view().begin, 4.1e8, 1);
  v.PanPixels(1e9);
  EXPECT_NEAR(v.view().end, 1e9, 1e-3);
  EXPECT_NEAR(v.view().width(), 1e8, 1e-3);
  v.PanPixels(-1e9);
  EXPECT_NEAR(v.view().begin, 0, 1e-3);
}

TEST(ViewportTest, NewRunKeepsTheScaleUnlessItDoesNotFit) {
  Viewport v = View();
  v.ReplaceExtent(0, 8e8);  // a shorter run is shown at the same scale
  EXPECT_DOUBLE_EQ(v.view().end, 1e9);
  v.ReplaceExtent(0, 1.2e9);  // a longer run does not fit at the same scale
  EXPECT_DOUBLE_EQ(v.view().end, 1.2e9);
  v.ReplaceExtent(0, 1e8);  // so short that it would be only a stripe
  EXPECT_DOUBLE_EQ(v.view().end, 1e8);
  Viewport zoomed = View();
  zoomed.SetView({2e8, 3e8});
  zoomed.ReplaceExtent(0, 5e8);
  EXPECT_EQ(zoomed.view(), (Span{2e8, 3e8}));
}

TEST(ViewportTest, AroundCentersWithTheGivenShare) {
  Viewport v = View();
  Span s = v.Around(4e8, 4.8e8, 0.8);
  EXPECT_NEAR(s.width(), 1e8, 1);
  EXPECT_NEAR((s.begin + s.end) / 2, 4.4e8, 1);
}

TEST(HistoryTest, UndoesAndRedoesGestures) {
  History<Span> h;
  h.Push({0, 100}, 1);
  h.Push({10, 90}, 1);  // one gesture has one entry
  h.Push({20, 80}, 2);
  EXPECT_EQ(h.Undo({30, 70}), (Span{20, 80}));
  EXPECT_EQ(h.Undo({20, 80}), (Span{0, 100}));
  EXPECT_FALSE(h.CanUndo());
  EXPECT_EQ(h.Redo({0, 100}), (Span{20, 80}));
  EXPECT_EQ(h.Redo({20, 80}), (Span{30, 70}));
  EXPECT_FALSE(h.CanRedo());
  h.Undo({30, 70});
  h.Push({1, 2}, 3);
  EXPECT_FALSE(h.CanRedo());
  for (int i = 0; i < 500; ++i) h.Push({0, i + 1.0}, 100 + i);
  int steps = 0;
  Span now{0, 1};
  while (h.CanUndo()) {
    now = h.Undo(now);
    ++steps;
  }
  EXPECT_EQ(steps, static_cast<int>(History<Span>::kMax));
}

TEST(AxisLockTest, DecidesTheAxisOncePerGesture) {
  AxisLock lock;
  EXPECT_EQ(lock.Add(1, 0), AxisLock::Axis::kUndecided);
  EXPECT_EQ(lock.Add(5, 1), AxisLock::Axis::kHorizontal);
  EXPECT_EQ(lock.Add(0, 200), AxisLock::Axis::kHorizontal);
  lock.Reset();
  EXPECT_EQ(lock.Add(1, 9), AxisLock::Axis::kVertical);
}

TEST(TicksTest, AreFarEnoughApartWithDistinctLabels) {
  FixedMeasure measure;
  for (double width : {1.0, 7e2, 3.3e4, 2.7e8, 9e9, 4e13}) {
    for (double begin : {0.0, 123456789.0}) {
      auto ticks = TimeTicks(begin, begin + width, 1000, 70);
      ASSERT_LE(ticks.size(), 15u);
      for (size_t i = 0; i < ticks.size(); ++i) {
        ASSERT_GE(ticks[i].time_ns, begin);
        ASSERT_LE(ticks[i].time_ns, begin + width);
        if (i == 0) continue;
        double px = static_cast<double>(ticks[i].time_ns - ticks[i - 1].time_ns) / width * 1000;
        ASSERT_GE(px, 69.9);
        ASSERT_NE(ticks[i].label, ticks[i - 1].label) << "labels tell ticks apart";
      }
    }
  }
}

// The end of the longest trace that a file can contain exceeds int64_t when rounded to a
// double.
TEST(TicksTest, StayInsideTheLongestPossibleTrace) {
  for (const double begin : {0.0, 0x1p62, 0x1p63 - 1e6, 0x1p63 - 2048}) {
    for (const double width : {20.0, 300.0, 1000.0}) {
      SCOPED_TRACE(std::to_string(begin) + " " + std::to_string(width));
      const std::vector<TimeTick> ticks = TimeTicks(begin, 0x1p63, width, 60);
      if (width > 100) {
        EXPECT_FALSE(ticks.empty());
      }
      EXPECT_LE(ticks.size(), width / 60 + 2);
      int64_t before = -1;
      for (const TimeTick& tick : ticks) {
        EXPECT_GT(tick.time_ns, before);
        EXPECT_GE(static_cast<double>(tick.time_ns), begin);
        before = tick.time_ns;
      }
    }
  }
}

TEST(TimelineDataTest, ConvertsTimesOfTheLongestTrace) {
  for (const int64_t origin : {int64_t{0}, int64_t{-5}}) {
    trace::TraceBuilder builder;
    trace::Event alloc, end;
    alloc.kind = trace::EventKind::kAlloc;
    alloc.bytes = alloc.bytes_rounded = 512;
    alloc.address = 1 << 20;
    alloc.time_ns = origin;
    end.kind = trace::EventKind::kFreeRequested;
    end.time_ns = INT64_MAX + std::min(origin, int64_t{0});
    ASSERT_TRUE(builder.AddEvents({{alloc, end}}).ok());
    const std::shared_ptr<const trace::Trace> t = builder.Finish(true, "");
    const auto data = TimelineData::Build(t);
    EXPECT_EQ(data->ToTrace(0), origin);
    EXPECT_GE(data->ToTrace(data->duration_ns()), t->end_ns());
    EXPECT_EQ(data->ToTrace(0x1p62), origin + (int64_t{1} << 62));
  }
}

TEST(TicksTest, UseRoundStepsForTimesAndBytes) {
  auto ticks = TimeTicks(0, 270e6, 1000, 72);
  ASSERT_GE(ticks.size(), 10u);
  EXPECT_EQ(ticks[0].label, "0 ms");
  EXPECT_EQ(ticks[1].label, "20 ms");
  ByteAxis axis = MakeByteAxis(uint64_t{9107567411}, 6);
  EXPECT_EQ(axis.step, uint64_t{2} << 30);
  EXPECT_GE(axis.max, uint64_t{9107567411});
}

TEST(TicksTest, ByteAxisFitsAnySize) {
  for (uint64_t bytes = 1; bytes < (uint64_t{1} << 62); bytes = bytes * 3 + 1) {
    ByteAxis a = MakeByteAxis(bytes, 6);
    ASSERT_GE(a.max, bytes);
    ASSERT_LE(a.max / a.step, 7u);
    ASSERT_EQ(a.step & (a.step - 1), 0u) << "steps are powers of two";
  }
}

TEST(FormatTest, Bytes) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(16777216), "16.000 MiB");
  EXPECT_EQ(FormatBytes(16777216, true), "16 MiB");
  EXPECT_EQ(FormatBytes(9107567411), "8.482 GiB");
  EXPECT_EQ(FormatBytes(uint64_t{10} << 30, true), "10 GiB");
  EXPECT_EQ(FormatBytesExact(16777216), "16,777,216 B");
  EXPECT_EQ(FormatSignedBytes(-1048576), "\u22121.000 MiB");
  EXPECT_EQ(FormatSignedBytes(1048576), "+1.000 MiB");
  EXPECT_EQ(FormatSignedBytes(INT64_MIN), "\u22128388608.000 TiB");
}

TEST(FormatTest, Times) {
  EXPECT_EQ(FormatDuration(7), "7 ns");
  EXPECT_EQ(FormatDuration(1500), "1.50 µs");
  EXPECT_EQ(FormatDuration(85'506'000), "85.5 ms");
  EXPECT_EQ(FormatDuration(270'114'000), "270 ms");
  EXPECT_EQ(FormatDuration(12'345'000'000), "12.3 s");
  EXPECT_EQ(FormatDuration(135'000'000'000), "2 min 15 s");
  EXPECT_EQ(FormatTime(81'234'567, 1000), "81.235 ms");
  EXPECT_EQ(FormatTime(0, 20'000'000, 270'000'000), "0 ms");
  EXPECT_EQ(FormatTime(500, 100), "500 ns");
}

TEST(ElideTest, CutsBetweenCharacters) {
  FixedMeasure m;
  EXPECT_EQ(Elide(m, "forward", Font::kSmall, 100), "forward");
  EXPECT_EQ(Elide(m, "layers.17.attn", Font::kSmall, 57), "layers…");
  EXPECT_EQ(Elide(m, "forward", Font::kSmall, 20), "");
  EXPECT_EQ(ElideStart(m, "forward", Font::kSmall, 100), "forward");
  EXPECT_EQ(ElideStart(m, "layers.17.attn", Font::kSmall, 57), "…17.attn");
  EXPECT_EQ(ElideStart(m, "forward", Font::kSmall, 20), "");
  std::string cut = Elide(m, "µµµµµµµµ", Font::kSmall, 40);
  EXPECT_EQ(cut, "µµµµ…");
}

TEST(CompareTest, TimeMapAlignsPhases) {
  auto a = testing::MakeSyntheticTrace({.layers = 4, .steps = 3});
  auto b = testing::MakeSyntheticTrace({.layers = 4, .steps = 3, .speed = 2.0});
  TimeMap map(*a, *b);
  ASSERT_GT(map.anchors(), 10u);
  int phases = 0;
  for (uint32_t i = 0; i < a->slices.size(); ++i) {
    if (a->slices.kind[i] != trace::SliceKind::kPhase) continue;
    ++phases;
    double x = static_cast<double>(a->slices.begin_ns[i] - a->begin_ns());
    EXPECT_NEAR(map.Map(x), 2 * x, 2e4) << i;
  }
  EXPECT_GT(phases, 8);
  double last = -1e18;
  for (double t = -1e6; t < 2e9; t += 3e6) {
    double m = map.Map(t);
    ASSERT_GT(m, last);
    last = m;
  }
}

TEST(CompareTest, TimeMapIsIdentityWithoutCommonPhases) {
  trace::Trace empty;
  auto b = testing::MakeSyntheticTrace({.layers = 2});
  TimeMap map(empty, *b);
  EXPECT_DOUBLE_EQ(map.Map(12345), 12345);
}

std::vector<int64_t> EdgesOf(const trace::Trace& t, int64_t begin, int64_t end, int columns) {
  return query::CurveIndex::Edges(t.begin_ns() + begin, t.begin_ns() + end, columns);
}

TEST(CompareTest, BaselineOfTheSameTraceMatchesExactly) {
  auto t = testing::MakeSyntheticTrace({.layers = 5, .steps = 3, .micro_batches = 2});
  auto same = testing::MakeSyntheticTrace({.layers = 5, .steps = 3, .micro_batches = 2});
  const query::CurveIndex index(
      std::make_shared<const analysis::MemoryCurves>(analysis::ComputeCurves(*t)));
  const TimeMap map(*t, *same);
  ASSERT_GT(map.anchors(), 10u);
  std::mt19937_64 random(7);
  const int64_t length = t->end_ns() - t->begin_ns();
  for (int i = 0; i < 300; ++i) {
    const int64_t begin = std::uniform_int_distribution<int64_t>(0, length - 2)(random);
    const int64_t end = std::uniform_int_distribution<int64_t>(begin + 1, length)(random);
    const int columns = std::uniform_int_distribution<>(1, 2000)(random);
    const auto edges = EdgesOf(*t, i == 0 ? 0 : begin, i == 0 ? length : end, columns);
    const BaselineColumns baseline = BaselineUnder(*t, *same, index, map, edges);
    ASSERT_EQ(baseline.end, columns);
    ASSERT_EQ(baseline.allocated, index.AllocatedBetween(edges)) << begin << " to " << end;
  }
}

TEST(CompareTest, BaselineEndsWithAShorterRun) {
  auto longer = testing::MakeSyntheticTrace({.layers = 4, .steps = 4});
  auto shorter = testing::MakeSyntheticTrace({.layers = 4, .steps = 2});
  const query::CurveIndex index(
      std::make_shared<const analysis::MemoryCurves>(analysis::ComputeCurves(*shorter)));
  const TimeMap map(*longer, *shorter);
  const int64_t length = longer->end_ns() - longer->begin_ns();
  const auto edges = EdgesOf(*longer, 0, length, 1000);
  const BaselineColumns baseline = BaselineUnder(*longer, *shorter, index, map, edges);
  const double share =
      static_cast<double>(shorter->end_ns() - shorter->begin_ns()) / static_cast<double>(length);
  EXPECT_NEAR(baseline.end, share * 1000, 2);
  // If the whole view is after the end of the shorter run, nothing must be compared.
  EXPECT_EQ(
      BaselineUnder(*longer, *shorter, index, map, EdgesOf(*longer, length * 9 / 10, length, 50))
          .end,
      0);
}

TEST(CompareTest, SameWorkRequiresSameModelAndInput) {
  trace::TraceInfo run;
  run.has_config = true;
  run.config = run::RunConfigBuilder().Build().value();
  run.model.name = run.config.model;
  EXPECT_TRUE(SameWork(run, run));
  trace::TraceInfo technique = run;
  technique.config.Set("checkpointing.mode", "layer");
  technique.config.micro_batches = 2;
  EXPECT_TRUE(SameWork(run, technique)) << "the same work with other techniques";
  for (int what = 0; what < 4; ++what) {
    trace::TraceInfo other = run;
    if (what == 0) other.config.batch = 8;
    if (what == 1) other.config.seq = 64;
    if (what == 2) other.config.model_config_json = "{}";
    if (what == 3) other.backend = trace::Backend::kCpu;
    EXPECT_FALSE(SameWork(run, other)) << what;
    EXPECT_FALSE(SameSubject(run, other)) << what;
  }
  trace::TraceInfo recording;
  recording.backend = trace::Backend::kImported;
  recording.title = "a.pickle";
  EXPECT_FALSE(SameWork(recording, recording)) << "a recording does not state what it ran";
  EXPECT_FALSE(SameWork(run, recording));
  EXPECT_TRUE(SameSubject(recording, recording)) << "more of the same file";
  trace::TraceInfo other = recording;
  other.title = "b.pickle";
  EXPECT_FALSE(SameSubject(recording, other));
}

TEST(CompareTest, FindsTheSameAllocationInAnotherRun) {
  auto a = testing::MakeSyntheticTrace({.layers = 4, .steps = 2});
  auto b = testing::MakeSyntheticTrace({.layers = 4, .steps = 2, .activation_share = 0.5});
  const trace::AllocationTable& t = a->allocations;
  int found = 0;
  for (uint32_t i = 0; i < t.size(); ++i) {
    AllocationKey key = KeyOf(*a, {i});
    EXPECT_EQ(FindAllocation(*a, key), trace::AllocationId{i}) << "itself";
    trace::AllocationId other = FindAllocation(*b, key);
    if (!other.valid()) continue;
    ++found;
    EXPECT_EQ(b->String(b->allocations.module[other.value]), a->String(t.module[i]));
    EXPECT_EQ(b->String(b->allocations.op[other.value]), a->String(t.op[i]));
  }
  EXPECT_GT(found, static_cast<int>(t.size()) / 2);
  EXPECT_FALSE(FindAllocation(*b, {"no.such.module", "aten::mm", 0, 0}).valid());
}

TEST(ThemeTest, TextHasEnoughContrast) {
  for (const Theme& t : {Theme::Dark(), Theme::Light()}) {
    for (Color surface : {t.ground, t.panel, t.raised}) {
      EXPECT_GE(Contrast(t.text, surface), 7) << "WCAG AAA";
      EXPECT_GE(Contrast(t.dim, surface), 4.5) << "WCAG AA";
      EXPECT_GE(Contrast(t.faint, surface), 3);
      EXPECT_GE(Contrast(t.good, surface), 4.5);
      EXPECT_GE(Contrast(t.bad, surface), 4.5);
    }
    for (Color phase : t.phases) EXPECT_GE(Contrast(t.on_color, phase), 4.5);
    for (int c = 1; c < trace::kCategoryCount; ++c)  // not Unknown, which has no label
      EXPECT_GE(Contrast(t.on_color, t.categories[c]), 3.5) << t.categories[c].Hex();
  }
}

}  // namespace
}  // namespace vramscope::ui::timeline
