// Measures how long it takes to report an allocation and a free to the recorder, also from several
// threads at the same time (BM_Tracker/threads:4). The counter "event" is the time per event. An
// allocation and its free make three events: the allocation, the free's request and its completion.
#include <benchmark/benchmark.h>

#include <atomic>
#include <memory>

#include "trainer/capture/recorder.h"

namespace vramscope::trainer {
namespace {

struct Nowhere final : trace::EventSink {
  void Begin(const trace::TraceInfo&) override {}
  void Strings(uint32_t, std::span<const std::string>) override {}
  void Stacks(const trace::StackIncrement&) override {}
  void Events(std::span<const trace::Event> events) override { count += events.size(); }
  void Activities(std::span<const trace::Activity>) override {}
  void End(bool, std::string_view) override {}
  uint64_t count = 0;
};

std::unique_ptr<Nowhere> g_sink;
std::unique_ptr<Recorder> g_recorder;
std::atomic<int64_t> g_now{0};

void Set(const benchmark::State&) {
  g_sink = std::make_unique<Nowhere>();
  g_recorder = std::make_unique<Recorder>(
      *g_sink, [] { return g_now.fetch_add(1, std::memory_order_relaxed); });
}
void Clear(const benchmark::State&) {
  g_recorder.reset();
  g_sink.reset();
}

// Each thread keeps 64 blocks live, within an operator of a module.
void BM_Tracker(benchmark::State& state) {
  constexpr uint64_t kLive = 64;
  const uint64_t base = static_cast<uint64_t>(state.thread_index() + 1) << 40;
  Recorder& recorder = *g_recorder;
  recorder.BeginModule("layers.0");
  recorder.BeginOp("aten::mm", -1, false);
  uint64_t n = 0;
  for (auto _ : state) {
    const uint64_t address = base + n++ % kLive * 4096;
    if (n > kLive) recorder.OnFree(address);
    recorder.OnAlloc(address, 4000, 4096, address, 0, trace::Pool::kLarge);
  }
  recorder.EndOp();
  recorder.EndModule();
  state.counters["event"] =
      benchmark::Counter(3 * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_Tracker)->Setup(Set)->Teardown(Clear)->Threads(1)->Threads(4)->UseRealTime();

}  // namespace
}  // namespace vramscope::trainer

BENCHMARK_MAIN();
