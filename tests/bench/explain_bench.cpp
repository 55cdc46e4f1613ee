// Measures the pages of `explain` on a trace of about a million events with call stacks. Replays
// are measured separately.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "profiler/explain/explain.h"
#include "tests/profiler/analysis/random_trace.h"

namespace {

using namespace vramscope;

// Adds 600 stacks of 22 frames, like those of a snapshot. Events with the same operator and module
// get the same stack.
void AddStacks(trace::Trace& t) {
  constexpr uint32_t kStacks = 600, kFrames = 22;
  const auto string = [&t](std::string text) {
    t.strings.push_back(std::move(text));
    return trace::StringId{static_cast<uint32_t>(t.strings.size() - 1)};
  };
  for (uint32_t s = 0; s < kStacks; ++s) {
    for (uint32_t f = 0; f < kFrames; ++f) {
      t.stacks.frames.push_back(t.stacks.frame_count());
      const bool python = f >= 14;
      t.stacks.function.push_back(string(
          f == 8   ? "at::_ops::op" + std::to_string(s % 40) + "::call(at::Tensor const&)"
          : python ? "forward_" + std::to_string(s % 100)
                   : "c10::impl::wrap_kernel_functor_unboxed_<" + std::to_string(f) + ">()"));
      t.stacks.file.push_back(string(
          python ? "/home/user/project/model_" + std::to_string(f) + ".py" : "RegisterCUDA_0.cpp"));
      t.stacks.line.push_back(python ? s : 0);
    }
    t.stacks.first.push_back(static_cast<uint32_t>(t.stacks.frames.size()));
  }
  const trace::AllocationTable& a = t.allocations;
  for (uint32_t id = 0; id < a.size(); ++id) {
    t.events.stack.resize(a.alloc_event[id]);
    t.events.stack.push_back({1 + (a.op[id].value * 31 + a.module[id].value) % kStacks});
  }
  t.events.stack.resize(t.events.size());
}

const trace::Trace& Million() {
  static const std::shared_ptr<const trace::Trace> made = [] {
    auto t = std::make_shared<trace::Trace>(*analysis::MakeRandomTrace({.seed = 3,
                                                                        .steps = 50,
                                                                        .micro_batches = 4,
                                                                        .layers = 24,
                                                                        .ops_per_layer = 16,
                                                                        .slices = false}));
    AddStacks(*t);
    return t;
  }();
  return *made;
}

trace::EventIndex PeakEvent() {
  static const trace::EventIndex event =
      analysis::FindPeak(Million(), analysis::ComputeCurves(Million())).context.event;
  return event;
}

void Moment(benchmark::State& state, void (*page)(const trace::Trace&, trace::EventIndex)) {
  const trace::EventIndex peak = PeakEvent();
  for (auto _ : state) page(Million(), peak);
  state.counters["events"] = Million().events.size();
  state.counters["allocations"] = Million().allocations.size();
}
void Segments(const trace::Trace& t, trace::EventIndex e) {
  benchmark::DoNotOptimize(explain::SegmentsAt(t, e));
}
void Fragmentation(const trace::Trace& t, trace::EventIndex e) {
  benchmark::DoNotOptimize(explain::FragmentationAt(t, e));
}
void Sites(const trace::Trace& t, trace::EventIndex) {
  benchmark::DoNotOptimize(explain::UseOfSites(t, explain::FindCallSites(t), {}));
}
void Leaks(const trace::Trace& t, trace::EventIndex) {
  benchmark::DoNotOptimize(explain::FindLeaks(t, explain::FindCallSites(t)));
}
void OutOfMemory(const trace::Trace& t, trace::EventIndex) {
  benchmark::DoNotOptimize(explain::ExplainOutOfMemory(t, {.replay = false}));
}
void Diff(const trace::Trace& t, trace::EventIndex) {
  benchmark::DoNotOptimize(explain::DiffTraces(t, t, std::nullopt));
}
BENCHMARK_CAPTURE(Moment, Segments, Segments)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Moment, Fragmentation, Fragmentation)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Moment, Sites, Sites)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Moment, Leaks, Leaks)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Moment, OutOfMemory, OutOfMemory)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Moment, Diff, Diff)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
