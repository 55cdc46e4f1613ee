// Measures the cost of a plan. A run (set-up, three steps, tear-down) takes place in a warm process
// that drops the events. The time is the process's CPU time, which includes both threads of a step.
//
//   plan_bench --benchmark_filter=qwen2
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "profiler/run/run_config.h"
#include "profiler/trace/event_sink.h"
#include "trainer/trainer.h"

namespace {

using namespace vramscope;

class CountingSink final : public trace::EventSink {
 public:
  void Begin(const trace::TraceInfo&) override {}
  void Strings(uint32_t, std::span<const std::string>) override {}
  void Events(std::span<const trace::Event> batch) override {
    events += batch.size();
    for (const trace::Event& event : batch) {
      allocations += event.kind == trace::EventKind::kAlloc;
      ops += event.kind == trace::EventKind::kOpBegin;
    }
  }
  void End(bool, std::string_view) override {}
  uint64_t events = 0, allocations = 0, ops = 0;
};

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  std::exit(1);
}

// Measures runs of `preset` with settings of the form "key=value".
void Plan(benchmark::State& state, const char* preset, std::vector<const char*> settings) {
  static trainer::Trainer trainer;
  run::RunConfigBuilder builder;
  Require(builder.SetPreset(preset));
  for (const std::string setting : settings) {
    const size_t equals = setting.find('=');
    Require(builder.Set(setting.substr(0, equals), setting.substr(equals + 1)));
  }
  const auto config = builder.Build();
  Require(config.status());
  CountingSink warm;
  Require(trainer.Run(*config, warm, {}));
  CountingSink sink;
  for (auto _ : state) Require(trainer.Run(*config, sink, {}));
  const auto steps = static_cast<double>(state.iterations()) * config->steps;
  state.counters["events/step"] = static_cast<double>(sink.events) / steps;
  state.counters["allocs/step"] = static_cast<double>(sink.allocations) / steps;
  state.counters["ops/step"] = static_cast<double>(sink.ops) / steps;
  state.counters["s/step"] =
      benchmark::Counter(steps, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

#define PLAN(name, preset, ...)                        \
  BENCHMARK_CAPTURE(Plan, name, preset, {__VA_ARGS__}) \
      ->Unit(benchmark::kMillisecond)                  \
      ->MeasureProcessCPUTime()                        \
      ->UseRealTime()

PLAN(qwen2_fp32, "qwen2-0.5b", "batch=2", "seq=512", "steps=3");
PLAN(qwen2_one_step, "qwen2-0.5b", "batch=2", "seq=512", "steps=1");
PLAN(qwen2_amp, "qwen2-0.5b", "batch=2", "seq=512", "steps=3", "precision=amp-bf16");
PLAN(qwen2_checkpointing, "qwen2-0.5b", "batch=2", "seq=512", "steps=3",
     "checkpointing.mode=layer");
PLAN(qwen2_flash_bf16, "qwen2-0.5b", "batch=2", "seq=512", "steps=3", "precision=bf16",
     "attention=flash");
PLAN(gpt2_fp32, "gpt2", "batch=2", "seq=512", "steps=3");
PLAN(basics_fp32, "basics-medium", "steps=3");

}  // namespace

BENCHMARK_MAIN();
