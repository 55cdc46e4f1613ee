#include "profiler/query/idle_gaps.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace vramscope::query {
namespace {

using trace::Activity;
using trace::ActivityKind;

// Builds a trace of activities. Times are in microseconds. A name gets an id when first used.
class Recording {
 public:
  Recording() : trace_(std::make_shared<trace::Trace>()) { Name(""); }
  uint32_t Name(std::string_view name) {
    for (uint32_t i = 0; i < trace_->strings.size(); ++i)
      if (trace_->strings[i] == name) return i;
    trace_->strings.emplace_back(name);
    return static_cast<uint32_t>(trace_->strings.size() - 1);
  }
  void Kernel(uint32_t stream, int64_t begin, int64_t end, uint64_t correlation = 0) {
    Add(ActivityKind::kKernel, stream, "kernel", begin, end, correlation);
  }
  void Call(std::string_view name, int64_t begin, int64_t end, uint64_t correlation = 0) {
    Add(ActivityKind::kRuntimeCall, 0, name, begin, end, correlation);
  }
  void Add(ActivityKind kind, uint32_t stream, std::string_view name, int64_t begin, int64_t end,
           uint64_t correlation = 0) {
    Activity a;
    a.kind = kind;
    a.stream = stream;
    a.name = {Name(name)};
    a.begin_ns = begin * 1000;
    a.end_ns = end * 1000;
    a.correlation = correlation;
    trace_->activities.Append(a);
  }
  IdleGaps Gaps() {
    trace::SortActivities(trace_->activities);
    return {trace_, std::make_shared<const ActivityIndex>(trace_)};
  }
  const trace::Trace& trace() const { return *trace_; }

 private:
  std::shared_ptr<trace::Trace> trace_;
};

IdleGap At(const IdleGaps& gaps, uint8_t device, uint32_t stream, int64_t us) {
  const auto line = gaps.LineOf(device, stream);
  EXPECT_TRUE(line);
  const auto gap = line ? gaps.At(*line, us * 1000) : std::nullopt;
  EXPECT_TRUE(gap) << us;
  return gap ? gaps.Gap(*gap) : IdleGap{};
}

TEST(IdleGapsTest, NamesTheCauseOfEachGap) {
  Recording r;
  r.Call("cudaLaunchKernel", 0, 5, 1);
  r.Kernel(7, 10, 100, 1);
  r.Call("cudaLaunchKernel", 140, 145, 2);  // launched when the stream had been idle for a while
  r.Kernel(7, 150, 200, 2);
  r.Call("cudaMalloc", 190, 290);
  r.Call("cudaLaunchKernel", 295, 299, 3);
  r.Kernel(7, 300, 400, 3);
  r.Call("cudaStreamSynchronize", 310, 405);
  r.Call("cudaLaunchKernel", 420, 425, 4);
  r.Kernel(7, 430, 500, 4);
  r.Call("cudaLaunchKernel", 431, 435, 5);  // queued, but still waiting
  r.Kernel(7, 550, 600, 5);
  r.Kernel(7, 601, 700, 5);  // the gap is too short to report
  r.Kernel(7, 800, 900);     // its launch is not recorded
  const IdleGaps gaps = r.Gaps();
  ASSERT_EQ(gaps.lines().size(), 1u) << "a single stream has no line besides the device's";
  const auto cause = [&](int64_t us) { return At(gaps, 0, trace::kAllStreams, us).cause; };
  EXPECT_EQ(cause(120), IdleCause::kHost);
  EXPECT_EQ(cause(250), IdleCause::kMemory);
  EXPECT_EQ(cause(415), IdleCause::kSynchronization);
  EXPECT_EQ(cause(520), IdleCause::kUnknown);
  EXPECT_EQ(cause(750), IdleCause::kUnknown);
  const IdleGap memory = At(gaps, 0, trace::kAllStreams, 250);
  EXPECT_EQ(r.trace().String(r.trace().activities.name[memory.evidence]), "cudaMalloc");
  EXPECT_EQ(memory.begin_ns, 200'000);
  EXPECT_EQ(memory.end_ns, 300'000);
  const IdleGaps::Line& line = gaps.lines()[0];
  EXPECT_EQ(line.gaps, 5u);
  EXPECT_EQ(line.idle_ns, 50'000u + 100'000 + 30'000 + 50'000 + 100'000);
  EXPECT_EQ(line.idle_by_cause[static_cast<size_t>(IdleCause::kHost)], 50'000u);
  EXPECT_FALSE(gaps.At(0, 600'500)) << "shorter than the gaps that are reported";
}

TEST(IdleGapsTest, FindsTheStreamThatWasWaitedFor) {
  Recording r;
  r.Call("cudaLaunchKernel", 0, 1, 1);
  r.Call("cudaLaunchKernel", 2, 3, 2);
  r.Call("cudaLaunchKernel", 4, 5, 3);
  r.Kernel(7, 10, 50, 1);
  r.Kernel(20, 50, 198, 2);
  r.Kernel(7, 200, 300, 3);
  const IdleGaps gaps = r.Gaps();
  ASSERT_EQ(gaps.lines().size(), 3u);
  const IdleGap gap = At(gaps, 0, 7, 100);
  EXPECT_EQ(gap.cause, IdleCause::kOtherStream);
  EXPECT_EQ(r.trace().activities.stream[gap.evidence], 20u);
  const auto device = gaps.LineOf(0, trace::kAllStreams);
  EXPECT_FALSE(gaps.At(*device, 100'000)) << "the device has work meanwhile";
  EXPECT_EQ(gaps.lines()[*device].gaps, 1u)
      << "2 us between the end of the other stream's kernel and the next one";
}

TEST(IdleGapsTest, ShortCallDoesNotExplainALongGap) {
  Recording r;
  r.Kernel(7, 0, 100, 1);
  r.Call("cudaMalloc", 300, 400);
  r.Call("cudaLaunchKernel", 2000, 2005, 2);
  r.Kernel(7, 2010, 2100, 2);
  EXPECT_EQ(At(r.Gaps(), 0, trace::kAllStreams, 1000).cause, IdleCause::kHost);
}

// Regression test: a gap of 49 ms, in which the host worked, was explained as synchronization,
// because a wait ended where the gap began.
TEST(IdleGapsTest, WaitThatHasEndedDoesNotExplainALongGap) {
  Recording r;
  r.Kernel(7, 0, 100, 1);
  r.Call("cudaStreamSynchronize", 20, 103);
  r.Call("cudaLaunchKernel", 49'100, 49'105, 2);
  r.Kernel(7, 49'110, 49'200, 2);
  r.Call("cudaStreamSynchronize", 49'150, 60'000);  // waits for much of the gap
  r.Call("cudaLaunchKernel", 69'100, 69'105, 3);
  r.Kernel(7, 69'110, 69'200, 3);
  const IdleGaps gaps = r.Gaps();
  EXPECT_EQ(At(gaps, 0, trace::kAllStreams, 20'000).cause, IdleCause::kHost);
  EXPECT_EQ(At(gaps, 0, trace::kAllStreams, 55'000).cause, IdleCause::kSynchronization);
}

TEST(IdleGapsTest, StreamOrderedAllocationIsNotACause) {
  Recording r;
  r.Kernel(7, 0, 100, 1);
  r.Call("cudaMallocAsync", 110, 130);
  r.Call("cudaLaunchKernel", 140, 145, 2);
  r.Kernel(7, 150, 200, 2);
  EXPECT_EQ(At(r.Gaps(), 0, trace::kAllStreams, 120).cause, IdleCause::kHost);
}

// Compares with the definition: at an idle time, no activity of the stream (or device) runs.
TEST(IdleGapsTest, GapsAreTimesWithoutWork) {
  for (uint64_t seed = 1; seed < 6; ++seed) {
    std::mt19937_64 random(seed);
    Recording r;
    std::map<uint32_t, int64_t> free_at;
    for (int i = 0; i < 400; ++i) {
      const auto stream = static_cast<uint32_t>(random() % 3);
      const int64_t begin = free_at[stream] + static_cast<int64_t>(random() % 40);
      free_at[stream] = begin + 1 + static_cast<int64_t>(random() % 30);
      r.Kernel(stream, begin, free_at[stream]);
    }
    const IdleGaps gaps = r.Gaps();
    ASSERT_EQ(gaps.lines().size(), 4u);
    const trace::ActivityTable& a = r.trace().activities;
    for (uint32_t line = 0; line < gaps.lines().size(); ++line) {
      const IdleGaps::Line& l = gaps.lines()[line];
      uint64_t idle = 0;
      for (int64_t us = l.begin_ns / 1000; us < l.end_ns / 1000; ++us) {
        bool covered = false;
        for (uint32_t row = 0; row < a.size(); ++row)
          covered |= (l.stream == trace::kAllStreams || a.stream[row] == l.stream) &&
                     a.begin_ns[row] <= us * 1000 && us * 1000 < a.end_ns[row];
        const auto gap = gaps.At(line, us * 1000);
        if (gap) {
          ASSERT_FALSE(covered) << us;
          idle += 1000;
        } else if (!covered) {
          const auto longer = gaps.At(line, us * 1000 - 1000);
          ASSERT_FALSE(longer) << "part of a gap is missing";
        }
      }
      EXPECT_EQ(idle, l.idle_ns);
      uint64_t sum = 0;
      for (const uint64_t ns : l.idle_by_cause) sum += ns;
      EXPECT_EQ(sum, l.idle_ns);
    }
  }
}

TEST(IdleGapsTest, NoGapsWithoutKernels) {
  Recording r;
  r.Call("cudaMalloc", 0, 10);
  const IdleGaps gaps = r.Gaps();
  EXPECT_TRUE(gaps.lines().empty());
  EXPECT_FALSE(gaps.At(0, 5));
  EXPECT_TRUE(gaps.Query(0, 0, 100, 10).rects.empty());
}

}  // namespace
}  // namespace vramscope::query
