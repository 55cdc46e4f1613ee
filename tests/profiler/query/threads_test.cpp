// Several threads query all indexes of a trace at the same time, as a window and its exports do.
// All threads must get the same results as a single thread. These tests are also run under
// ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <thread>
#include <utility>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/query/activity_index.h"
#include "profiler/query/address_axis.h"
#include "profiler/query/block_index.h"
#include "profiler/query/lane_index.h"
#include "profiler/query/level_of_detail.h"
#include "tests/profiler/query/launches.h"

namespace vramscope::query {
namespace {

constexpr int kThreads = 4;

// Runs all queries in each of several threads, which start with different queries.
template <class Result>
void ExpectSameOnAllThreads(size_t queries, const std::function<Result(size_t)>& alone,
                            const std::function<Result(size_t)>& together) {
  std::vector<Result> expected;
  for (size_t i = 0; i < queries; ++i) expected.push_back(alone(i));
  std::atomic<uint64_t> wrong = 0;
  std::latch begin(kThreads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      begin.arrive_and_wait();
      for (size_t i = 0; i < queries; ++i) {
        const size_t at = (i + queries * static_cast<size_t>(thread) / kThreads) % queries;
        wrong += together(at) != expected[at];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
}

TEST(ConcurrentQueries, OfLanesCurvesAndBlocksEqualSerialResults) {
  const auto t = WithLaunches(3);
  const int64_t begin = t->begin_ns(), end = t->end_ns();
  const LaneIndex lanes(t);
  ExpectSameOnAllThreads<std::vector<uint32_t>>(
      lanes.lanes().size(),
      [&](size_t lane) {
        std::vector<uint32_t> rows;
        for (const LaneRect& r :
             LaneIndex(t).Query(static_cast<uint32_t>(lane), begin, end, 300).rects)
          rows.push_back(r.row);
        return rows;
      },
      [&](size_t lane) {
        std::vector<uint32_t> rows;
        for (const LaneRect& r : lanes.Query(static_cast<uint32_t>(lane), begin, end, 300).rects)
          rows.push_back(r.row);
        return rows;
      });
  const auto curves = std::make_shared<const analysis::MemoryCurves>(analysis::ComputeCurves(*t));
  const CurveIndex alone(curves), together(curves);
  using Highest = std::pair<std::vector<uint64_t>, std::vector<uint64_t>>;
  const auto highest = [&](const CurveIndex& index, size_t i) {
    const CurveColumns columns =
        index.Query(begin + static_cast<int64_t>(i) * (end - begin) / 100, end, 100);
    return Highest{columns.allocated_max, columns.reserved_max};
  };
  ExpectSameOnAllThreads<Highest>(
      50, [&](size_t i) { return highest(alone, i); },
      [&](size_t i) { return highest(together, i); });
  const AddressAxis axis(t);
  const BlockIndex blocks(t, axis);
  const BlockIndex other(t, axis);
  const auto at = [&](const BlockIndex& index, size_t i) {
    const auto block = index.At(begin + static_cast<int64_t>(i) * (end - begin) / 200,
                                axis.size() * (i % 16) / 16);
    return block ? block->value : UINT32_MAX;
  };
  ExpectSameOnAllThreads<uint32_t>(
      200, [&](size_t i) { return at(other, i); }, [&](size_t i) { return at(blocks, i); });
}

// Whichever thread queries first builds the index of operands. The index keeps one result: that of
// the last query of any thread.
TEST(ConcurrentQueries, OfOperandLinksEqualSerialResults) {
  auto t = std::make_shared<trace::Trace>(*WithLaunches(5));
  std::vector<std::pair<uint64_t, int64_t>> kernels;
  for (uint32_t row = 0; row < t->activities.size(); ++row)
    if (t->activities.kind[row] == trace::ActivityKind::kKernel)
      kernels.push_back({t->activities.correlation[row], t->activities.begin_ns[row]});
  ASSERT_GT(kernels.size(), 20u);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const auto a = static_cast<uint32_t>(i * 7 % t->allocations.size());
    t->operands.Append({.kind = trace::ActivityKind::kOperand,
                        .correlation = kernels[i].first,
                        .address = t->allocations.address[a],
                        .bytes = 1,
                        .begin_ns = kernels[i].second,
                        .end_ns = kernels[i].second});
  }
  const OperandLinks alone(*t), together(*t);
  using Result = std::pair<OperandLinks::Touches, std::vector<uint32_t>>;
  const auto run_query = [&](const OperandLinks& links, size_t i) {
    const trace::AllocationId allocation{static_cast<uint32_t>(i)};
    return Result{links.TouchesOf(allocation), links.TouchedBy(allocation, 1000)};
  };
  ExpectSameOnAllThreads<Result>(
      t->allocations.size(), [&](size_t i) { return run_query(alone, i); },
      [&](size_t i) { return run_query(together, i); });
}

}  // namespace
}  // namespace vramscope::query
