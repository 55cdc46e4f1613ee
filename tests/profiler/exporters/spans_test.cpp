#include "profiler/exporters/spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/profiler/exporters/sample_trace.h"

namespace vramscope::exporters {
namespace {

Spans Collect(const trace::Trace& trace, bool kernels) {
  return CollectSpans(trace, ShownTimes(trace), kernels);
}

TEST(ShownTimes, IncreaseStrictlyAndStayCloseToEvents) {
  TraceMaker maker;
  for (const int64_t ns : {5, 5, 5, 6, 100, 100, 200}) maker.At(ns).Marker("here");
  EXPECT_THAT(ShownTimes(*maker.Finish()), testing::ElementsAre(5, 6, 7, 8, 100, 101, 200));
}

TEST(TrackAllocator, KeepsNestedSpansOnOneTrack) {
  std::vector<Track> tracks;
  TrackAllocator allocator(&tracks);
  const Track thread{.thread = 7};
  EXPECT_EQ(allocator.Place(thread, 0, 100), 0u);
  EXPECT_EQ(allocator.Place(thread, 0, 40), 0u);
  EXPECT_EQ(allocator.Place(thread, 40, 40), 0u);
  EXPECT_EQ(allocator.Place(thread, 40, 100), 0u);
  EXPECT_EQ(allocator.Place(thread, 100, 200), 0u);
  ASSERT_EQ(tracks.size(), 1u);
  EXPECT_EQ(tracks[0].thread, 7u);
}

TEST(TrackAllocator, MovesOverlappingSpansToOtherTracks) {
  std::vector<Track> tracks;
  TrackAllocator allocator(&tracks);
  EXPECT_EQ(allocator.Place({.thread = 0}, 0, 100), 0u);
  EXPECT_EQ(allocator.Place({.thread = 0}, 50, 150), 1u);
  EXPECT_EQ(allocator.Place({.thread = 0}, 60, 90), 0u);
  EXPECT_EQ(allocator.Place({.thread = 1}, 50, 150), 2u);               // threads are separate
  EXPECT_EQ(allocator.Place({.gpu = true, .thread = 0}, 50, 150), 3u);  // and so are streams
  EXPECT_EQ(allocator.Place({.gpu = true, .device = 1, .thread = 0}, 50, 150), 4u);
  EXPECT_EQ(tracks[1].overflow, 1u);
  EXPECT_TRUE(tracks[3].gpu);
}

TEST(CollectSpans, OrdersSpansByEvent) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Spans spans = Collect(*RandomTrace(seed, 300), true);
    EXPECT_TRUE(std::is_sorted(spans.spans.begin(), spans.spans.end(),
                               [](const Span& a, const Span& b) { return a.event < b.event; }));
  }
}

TEST(CollectSpans, AddsKernelsOnlyIfRequested) {
  const auto trace = SmallTrace();
  const auto kernels = [](const Spans& spans) {
    return std::count_if(spans.spans.begin(), spans.spans.end(),
                         [](const Span& span) { return span.kind == SpanKind::kKernel; });
  };
  EXPECT_EQ(kernels(Collect(*trace, false)), 0);
  EXPECT_EQ(kernels(Collect(*trace, true)), 8);
}

}  // namespace
}  // namespace vramscope::exporters
