// Measures the allocator model, curves and level-of-detail queries with 10 M events.
// Targets: a query below 1 ms; curves of 10 M events below 1 s. Also measures the reference
// allocator of the property tests, which uses std::set and std::map, on the same
// allocations.
//
//   analysis_bench [--benchmark_filter=...]; VRAMSCOPE_BENCH_EVENTS sets the length of the trace.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <random>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/analysis/analysis.h"
#include "profiler/analysis/grouping.h"
#include "profiler/analysis/requests.h"
#include "profiler/query/address_axis.h"
#include "profiler/query/block_index.h"
#include "profiler/query/lane_index.h"
#include "profiler/query/level_of_detail.h"
#include "tests/profiler/allocator/naive_allocator.h"
#include "tests/profiler/analysis/random_trace.h"

namespace vramscope {
namespace {

constexpr int kWidth = 1920, kHeight = 600;

std::shared_ptr<const trace::Trace> TrainingTrace(uint64_t events) {
  analysis::RandomTraceOptions options{
      .steps = 20, .micro_batches = 1, .layers = 24, .ops_per_layer = 12};
  const uint64_t twenty = analysis::MakeRandomTrace(options)->events.size();
  options.steps = static_cast<int>(std::max<uint64_t>(1, events * 20 / twenty));
  return analysis::MakeRandomTrace(options);
}

// The long trace and its indexes, built once for all benchmarks.
struct Long {
  std::shared_ptr<const trace::Trace> trace;
  std::shared_ptr<const analysis::MemoryCurves> curves;
  std::unique_ptr<query::CurveIndex> curve_index;
  std::unique_ptr<query::LaneIndex> lanes;
  std::unique_ptr<query::AddressAxis> axis;
  std::unique_ptr<query::BlockIndex> blocks;

  static const Long& Get() {
    static const Long instance;
    return instance;
  }
  Long() {
    const char* text = std::getenv("VRAMSCOPE_BENCH_EVENTS");
    trace = TrainingTrace(text != nullptr ? std::strtoull(text, nullptr, 10) : 10'000'000);
    curves = std::make_shared<analysis::MemoryCurves>(analysis::ComputeCurves(*trace));
    curve_index = std::make_unique<query::CurveIndex>(curves);
    lanes = std::make_unique<query::LaneIndex>(trace);
    axis = std::make_unique<query::AddressAxis>(trace);
    blocks = std::make_unique<query::BlockIndex>(trace, *axis);
  }
};

// A random range of times whose length is 1/zoom of the trace.
struct Window {
  int64_t begin, end;
};
class Windows {
 public:
  explicit Windows(int64_t zoom) : length_(Span() / zoom) {}
  Window Next() {
    const int64_t begin =
        Long::Get().trace->begin_ns() +
        static_cast<int64_t>(random_() % static_cast<uint64_t>(Span() - length_ + 1));
    return {begin, begin + length_};
  }

 private:
  static int64_t Span() { return Long::Get().trace->end_ns() - Long::Get().trace->begin_ns(); }
  int64_t length_;
  std::mt19937_64 random_{1};
};

// Returns this thread's CPU time, which other programs on the computer hardly affect.
double ThreadMilliseconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

// Runs a query for random windows. Reports the mean time (as the benchmark's time) and the maximum.
template <class Query>
void RunQueries(benchmark::State& state, Query query) {
  Windows windows(state.range(0));
  double worst = 0;
  for (auto _ : state) {
    const Window w = windows.Next();
    const double start = ThreadMilliseconds();
    query(w);
    worst = std::max(worst, ThreadMilliseconds() - start);
  }
  state.counters["worst_ms"] = worst;
  state.counters["events"] = static_cast<double>(Long::Get().trace->events.size());
}

struct Request {
  uint64_t bytes = 0;       // size of an allocation, or 0 for a free
  uint32_t allocation = 0;  // the allocation that is freed
};

// Returns allocations and frees: of a training run, or, if `random`, of thousands of live
// blocks.
std::vector<Request> Requests(bool random) {
  std::vector<Request> out;
  if (!random) {
    const auto t = TrainingTrace(1'000'000);
    for (uint32_t i = 0; i < t->events.size(); ++i) {
      const auto id = static_cast<uint32_t>(t->events.id[i]);
      if (t->events.kind[i] == trace::EventKind::kAlloc) out.push_back({t->events.bytes[i], id});
      if (t->events.kind[i] == trace::EventKind::kFreeCompleted) out.push_back({0, id});
    }
    return out;
  }
  std::mt19937_64 dice(1);
  std::vector<uint32_t> live;
  for (uint32_t next = 0; out.size() < 1'000'000;) {
    if (live.size() < 2000 || (live.size() < 4000 && dice() % 2)) {
      out.push_back({1 + dice() % (dice() % 4 ? 1 << 20 : 32 << 20), next});
      live.push_back(next++);
    } else {
      std::swap(live[dice() % live.size()], live.back());
      out.push_back({0, live.back()});
      live.pop_back();
    }
  }
  return out;
}

const std::vector<Request>& RequestsFor(int64_t which) {
  static const std::vector<Request> requests[] = {Requests(false), Requests(true)};
  return requests[which];
}

void BM_Allocator(benchmark::State& state) {
  const std::vector<Request>& requests = RequestsFor(state.range(0));
  std::vector<uint64_t> address(requests.size());
  for (auto _ : state) {
    allocator::CachingAllocator a({}, nullptr);
    for (const Request& r : requests) {
      if (r.bytes != 0) {
        address[r.allocation] = a.Malloc(r.bytes, 0)->address;
      } else {
        a.Free(address[r.allocation]).IgnoreError();
      }
    }
    benchmark::DoNotOptimize(a.stats().reserved);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(requests.size()));
}
BENCHMARK(BM_Allocator)->ArgNames({"random"})->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void BM_AllocatorNaive(benchmark::State& state) {
  const std::vector<Request>& requests = RequestsFor(state.range(0));
  std::vector<uint64_t> address(requests.size());
  for (auto _ : state) {
    allocator::NaiveAllocator a({});
    for (const Request& r : requests) {
      if (r.bytes != 0) {
        address[r.allocation] = a.Malloc(r.bytes, 0)->first;
      } else {
        a.Free(address[r.allocation]);
      }
    }
    benchmark::DoNotOptimize(a.reserved());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(requests.size()));
}
BENCHMARK(BM_AllocatorNaive)->ArgNames({"random"})->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void BM_Curves(benchmark::State& state) {
  const Long& l = Long::Get();
  for (auto _ : state) benchmark::DoNotOptimize(analysis::ComputeCurves(*l.trace));
  state.counters["events"] = static_cast<double>(l.trace->events.size());
  state.counters["points"] = static_cast<double>(l.curves->size());
}
BENCHMARK(BM_Curves)->Unit(benchmark::kMillisecond);

void BM_Summary(benchmark::State& state) {
  const Long& l = Long::Get();
  for (auto _ : state) benchmark::DoNotOptimize(analysis::Summarize(*l.trace, *l.curves));
}
BENCHMARK(BM_Summary)->Unit(benchmark::kMillisecond);

void BM_LiveAtPeak(benchmark::State& state) {
  const Long& l = Long::Get();
  const trace::EventIndex peak = analysis::FindPeak(*l.trace, *l.curves).context.event;
  for (auto _ : state) {
    const analysis::LiveSet live = analysis::LiveAt(*l.trace, peak);
    benchmark::DoNotOptimize(analysis::GroupLive(*l.trace, live, analysis::GroupBy::kStack));
  }
}
BENCHMARK(BM_LiveAtPeak)->Unit(benchmark::kMillisecond);

void BM_PhaseTotals(benchmark::State& state) {
  const Long& l = Long::Get();
  for (auto _ : state) benchmark::DoNotOptimize(analysis::PhaseTotals(*l.trace, *l.curves));
}
BENCHMARK(BM_PhaseTotals)->Unit(benchmark::kMillisecond);

void BM_BuildCurveIndex(benchmark::State& state) {
  const Long& l = Long::Get();
  for (auto _ : state) benchmark::DoNotOptimize(query::CurveIndex(l.curves));
  state.counters["MB"] = static_cast<double>(l.curve_index->MemoryBytes()) * 1e-6;
}
BENCHMARK(BM_BuildCurveIndex)->Unit(benchmark::kMillisecond);

void BM_BuildLaneIndex(benchmark::State& state) {
  const Long& l = Long::Get();
  for (auto _ : state) benchmark::DoNotOptimize(query::LaneIndex(l.trace));
  state.counters["MB"] = static_cast<double>(l.lanes->MemoryBytes()) * 1e-6;
  state.counters["slices"] = static_cast<double>(l.trace->slices.size());
}
BENCHMARK(BM_BuildLaneIndex)->Unit(benchmark::kMillisecond);

void BM_BuildBlockIndex(benchmark::State& state) {
  const Long& l = Long::Get();
  for (auto _ : state) {
    const query::AddressAxis axis(l.trace);
    benchmark::DoNotOptimize(query::BlockIndex(l.trace, axis));
  }
  state.counters["MB"] = static_cast<double>(l.blocks->MemoryBytes()) * 1e-6;
  state.counters["allocations"] = static_cast<double>(l.trace->allocations.size());
}
BENCHMARK(BM_BuildBlockIndex)->Unit(benchmark::kMillisecond);

void BM_CurveQuery(benchmark::State& state) {
  const Long& l = Long::Get();
  RunQueries(state, [&](Window w) {
    benchmark::DoNotOptimize(l.curve_index->Query(w.begin, w.end, kWidth));
  });
}
BENCHMARK(BM_CurveQuery)
    ->ArgNames({"zoom"})
    ->RangeMultiplier(8)
    ->Range(1, 1 << 18)
    ->Unit(benchmark::kMillisecond);

void BM_LaneQueryAllLanes(benchmark::State& state) {
  const Long& l = Long::Get();
  RunQueries(state, [&](Window w) {
    for (uint32_t lane = 0; lane < l.lanes->lanes().size(); ++lane) {
      benchmark::DoNotOptimize(l.lanes->Query(lane, w.begin, w.end, kWidth));
    }
  });
  state.counters["lanes"] = static_cast<double>(l.lanes->lanes().size());
}
BENCHMARK(BM_LaneQueryAllLanes)
    ->ArgNames({"zoom"})
    ->RangeMultiplier(8)
    ->Range(1, 1 << 18)
    ->Unit(benchmark::kMillisecond);

// Queries all addresses, or a twentieth of them if the argument "deep" is set.
void BM_BlockQuery(benchmark::State& state) {
  const Long& l = Long::Get();
  std::mt19937_64 random(2);
  const uint64_t height = state.range(1) != 0 ? l.axis->size() / 20 : l.axis->size();
  double rects = 0;
  RunQueries(state, [&](Window w) {
    const uint64_t low = random() % (l.axis->size() - height + 1);
    const query::BlockView v = l.blocks->Query(w.begin, w.end, low, low + height, kWidth, kHeight);
    rects = std::max(rects, static_cast<double>(v.rects.size()));
  });
  state.counters["most_rects"] = rects;
}
BENCHMARK(BM_BlockQuery)
    ->ArgNames({"zoom", "deep"})
    ->ArgsProduct({benchmark::CreateRange(1, 1 << 18, 8), {0, 1}})
    ->Unit(benchmark::kMillisecond);

void BM_BlockAt(benchmark::State& state) {
  const Long& l = Long::Get();
  std::mt19937_64 random(3);
  RunQueries(state, [&](Window w) {
    benchmark::DoNotOptimize(l.blocks->At(w.begin, random() % l.axis->size()));
  });
}
BENCHMARK(BM_BlockAt)->ArgNames({"zoom"})->Arg(1 << 20)->Unit(benchmark::kMicrosecond);

void BM_DiffRequests(benchmark::State& state) {
  const auto options = [](uint64_t seed) {
    return analysis::RandomTraceOptions{
        .seed = seed, .steps = 2, .micro_batches = 1, .layers = 80, .ops_per_layer = 100};
  };
  const auto a = analysis::RequestsOfStep(*analysis::MakeRandomTrace(options(1)), -1);
  const auto b = analysis::RequestsOfStep(
      *analysis::MakeRandomTrace(options(static_cast<uint64_t>(state.range(0)))), -1);
  for (auto _ : state) benchmark::DoNotOptimize(analysis::DiffRequests(*a, *b));
  state.counters["requests"] = static_cast<double>(a->requests.size());
}
BENCHMARK(BM_DiffRequests)->ArgNames({"other"})->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramscope

BENCHMARK_MAIN();
