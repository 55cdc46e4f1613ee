// Checks with random configurations what must hold for every plan. Also compares plans of whole
// models with published figures.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "profiler/run/toggles.h"
#include "tests/trainer/loop/replay.h"
#include "tests/trainer/loop/run_helpers.h"

namespace vramscope::trainer {
namespace {

using run::Backend;
using trace::Category;

uint64_t Of(const CategoryBytes& bytes, Category category) {
  return bytes[static_cast<size_t>(category)];
}

template <class T>
T Choose(std::mt19937& random, std::initializer_list<T> values) {
  return *(values.begin() + random() % values.size());
}

run::RunConfig RandomConfig(std::mt19937& random) {
  run::RunConfig c = TinyConfig(Backend::kPlan, Choose(random, {kTinyQwen, kTinyLlama, kTinyMistral,
                                                                kTinyGpt2, kTinyGpt2Dropout}));
  const bool gpt2 = std::string_view(c.model_config_json).find("GPT2") != std::string_view::npos;
  c.batch = Choose(random, {2, 4, 8});
  c.seq = Choose(random, {2, 7, 8});
  c.steps = Choose(random, {1, 2, 3});
  c.micro_batches = Choose(random, {1, 1, 2});
  using Text = const char*;
  c.Set("precision", Choose<Text>(random, {"fp32", "bf16", "amp-bf16", "amp-fp16"}));
  c.Set("attention", c.Is("precision", "fp32") ? Choose<Text>(random, {"eager", "math"})
                                               : Choose<Text>(random, {"eager", "math", "flash"}));
  // If the sequence needs the sliding-window mask, flash attention is refused.
  const bool window = std::string_view(c.model_config_json).find("sliding") != std::string::npos;
  if (window && c.seq == 8 && c.Is("attention", "flash")) {
    c.Set("attention", "math");
  }
  c.Set("optimizer.name", Choose<Text>(random, {"sgd", "adam", "adamw"}));
  c.Set("optimizer.impl", Choose<Text>(random, {"loop", "foreach", "fused"}));
  c.Set("optimizer.momentum", Choose<Text>(random, {"0", "0.9"}));
  c.Set("optimizer.weight_decay", Choose<Text>(random, {"0", "0.01"}));
  c.Set("checkpointing.mode", Choose<Text>(random, {"none", "layer", "every-k"}));
  c.Set("zero_grad", Choose<Text>(random, {"none", "zero"}));
  c.Set("trainable", Choose<Text>(random, {"all", "all", "first-layer", "last-layer"}));
  if (random() % 3 == 0) {
    c.Set("lora.rank", "2");
    c.Set("lora.dropout", Choose<Text>(random, {"0", "0.1"}));
    c.Set("lora.targets", gpt2 ? "c_attn" : "q_proj,v_proj");
  }
  c.device = Choose<const char*>(random, {"rtx-4090", "rtx-3060-12gb"});
  return c;
}

// Adds up to two more techniques from the catalogue, if they are compatible with the rest.
void AddTechniques(std::mt19937& random, run::RunConfig& c) {
  for (int i = 0; i < 2; ++i) {
    const char* id = Choose<const char*>(
        random,
        {"", "", "chunked-loss", "optimizer-in-backward", "clipping", "offload-activations",
         "activation-int8", "optimizer-8bit", "offload-optimizer", "checkpoint-alternate",
         "checkpoint-ffn", "pin-memory", "nf4", "int8-weights", "cast-on-device", "eval-no-grad"});
    const run::Toggle* toggle = run::FindToggle(id);
    if (toggle != nullptr && run::BlockedBecause(*toggle, c).empty()) {
      c = run::SwitchedOn(*toggle, c);
    }
  }
  if (random() % 8 == 0 && c.Is("optimizer.impl", "loop") && c.Is("optimizer.bits", "32")) {
    c.Set("optimizer.name", Choose<const char*>(random, {"lion", "adafactor"}));
  }
}

std::string Describe(const run::RunConfig& c) { return run::ToJson(c); }

// Returns the first event that differs between two plans, or "" if there is none.
std::string FirstDifference(const trace::Trace& a, const trace::Trace& b) {
  const auto describe = [](const trace::Trace& t, uint32_t i) {
    const trace::EventTable& e = t.events;
    std::string text = std::string(trace::Name(e.kind[i])) + " " +
                       std::string(t.String(e.name[i])) + " id " + std::to_string(e.id[i]) + " " +
                       std::to_string(e.bytes[i]) + "/" + std::to_string(e.bytes_rounded[i]) +
                       " bytes, " + std::string(trace::Name(e.category[i])) + ", at " +
                       std::to_string(e.time_ns[i]) + " ns";
    if (e.kind[i] == trace::EventKind::kAlloc) {
      text += ", address " + std::to_string(t.allocations.address[e.id[i]]) + ", module " +
              std::string(t.String(t.allocations.module[e.id[i]]));
    }
    return text;
  };
  const uint32_t n = std::min(a.events.size(), b.events.size());
  for (uint32_t i = 0; i < n; ++i) {
    const std::string x = describe(a, i), y = describe(b, i);
    if (x != y) return "event " + std::to_string(i) + ": " + x + " | " + y;
  }
  if (a.events.size() != b.events.size()) {
    return std::to_string(a.events.size()) + " events | " + std::to_string(b.events.size());
  }
  const auto work = [](const trace::Trace& t, uint32_t row) {
    const trace::Activity w = t.activities.Row(row);
    return fmt::format(
        "{} {} of {} in {}, call {}, device {}, stream {}, thread {}, {} to {}, {} bytes at {:x}, "
        "{} to {} ns",
        trace::Name(w.kind), t.String(w.name), t.String(w.op), t.String(w.module), w.correlation,
        w.device, w.stream, w.thread, trace::Name(w.from), trace::Name(w.to), w.bytes, w.address,
        w.begin_ns, w.end_ns);
  };
  const uint32_t works = std::min(a.activities.size(), b.activities.size());
  for (uint32_t i = 0; i < works; ++i) {
    trace::Activity x = a.activities.Row(i), y = b.activities.Row(i);
    bool equal = true;  // compared by text, because the two plans number their strings differently
    for (trace::StringId trace::Activity::*name :
         {&trace::Activity::name, &trace::Activity::op, &trace::Activity::module}) {
      equal = equal && a.String(x.*name) == b.String(y.*name);
      y.*name = x.*name;
    }
    if (!equal || x != y) return fmt::format("activity {}: {} | {}", i, work(a, i), work(b, i));
  }
  if (a.activities.size() != b.activities.size()) {
    return fmt::format("{} activities | {}", a.activities.size(), b.activities.size());
  }
  const trace::SliceTable &s = a.slices, &t = b.slices;
  for (uint32_t i = 0; i < s.size(); ++i) {
    if (s.kind[i] == t.kind[i] && s.thread[i] == t.thread[i] && s.depth[i] == t.depth[i] &&
        s.number[i] == t.number[i] && s.end_event[i] == t.end_event[i] &&
        a.String(s.module[i]) == b.String(t.module[i])) {
      continue;
    }
    return "slice " + std::to_string(i) + " (" + std::string(a.String(s.name[i])) + ")";
  }
  return "";
}

TEST(PlanInvariants, HoldForRandomConfigurations) {
  for (uint32_t seed = 0; seed < 120; ++seed) {
    std::mt19937 random(seed);
    run::RunConfig config = RandomConfig(random);
    AddTechniques(random, config);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + Describe(config));
    const RunResult result = RunTiny(config);
    ASSERT_TRUE(result.status.ok()) << result.status;
    ASSERT_TRUE(result.sink_status.ok()) << result.sink_status;
    ASSERT_TRUE(result.trace->complete);
    const Replay replay(*result.trace);
    ASSERT_EQ(replay.error, "");
    EXPECT_EQ(replay.unknown_after_setup, 0u);
    // After the last step, only parameters, buffers, state, workspaces and gradients may be left.
    for (Category category : {Category::kActivation, Category::kTemporary, Category::kInput,
                              Category::kAutogradDetail}) {
      EXPECT_EQ(Of(replay.after, category), 0u) << trace::Name(category);
    }
    EXPECT_EQ(Of(replay.after, Category::kParameter), Of(replay.before, Category::kParameter));
    const bool kept = config.Is("zero_grad", "zero");
    EXPECT_EQ(Of(replay.after, Category::kGradient) > 0, kept);
    const bool stateless =
        (config.Is("optimizer.name", "sgd") && config.Is("optimizer.momentum", "0")) ||
        config.Is("offload.optimizer", "cpu");
    EXPECT_EQ(Of(replay.after, Category::kOptimizerState) > 0, !stateless);
  }
}

TEST(PlanInvariants, SameConfigurationGivesSameEvents) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const run::RunConfig config = RandomConfig(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + Describe(config));
    const RunResult first = RunTiny(config);
    // Another run between the two must not affect the second.
    RunTiny(RandomConfig(random));
    const RunResult second = RunTiny(config);
    ASSERT_TRUE(first.status.ok() && second.status.ok());
    EXPECT_EQ(FirstDifference(*first.trace, *second.trace), "");
  }
}

// Wherever a run is cancelled, the next run must be the same as in a new process, including its
// addresses. (Regression test: autograd's thread freed tensors of a backward pass when the next run
// had already begun. This changed the addresses of all later allocations.)
TEST(PlanInvariants, CancelledRunDoesNotAffectTheNext) {
  const run::RunConfig config = TinyConfig(Backend::kPlan, kTinyQwen);
  const RunResult fresh = RunTiny(config);
  ASSERT_TRUE(fresh.status.ok()) << fresh.status;
  run::RunConfig inside = TinyConfig(Backend::kPlan, kTinyQwen);
  inside.Set("optimizer.in_backward", "true");
  run::RunConfig nested = TinyConfig(Backend::kPlan, kTinyGpt2);
  nested.Set("checkpointing.mode", "layer");
  nested.Set("loss", "chunked");
  int cancelled = 0;
  for (int i = 0; i < 60; ++i) {
    std::atomic<bool> cancel{false};
    RunHooks hooks;
    hooks.cancel = &cancel;
    hooks.repeat_from_tape = false;
    std::jthread stop([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(200 + 150 * i));
      cancel = true;
    });
    cancelled += absl::IsCancelled(RunTiny(i % 2 == 0 ? inside : nested, hooks).status);
    stop.join();
    const RunResult next = RunTiny(config);
    ASSERT_TRUE(next.status.ok()) << next.status;
    ASSERT_EQ(FirstDifference(*fresh.trace, *next.trace), "") << i;
  }
  EXPECT_GT(cancelled, 5);
}

// A micro-batch repeated from a tape must report the same events as one that is executed.
TEST(PlanInvariants, RepeatingFromTapeMatchesExecution) {
  int repeated = 0;
  constexpr int kSeeds = 120;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed + 1000);
    run::RunConfig config = RandomConfig(random);
    AddTechniques(random, config);
    config.steps = Choose(random, {2, 3, 4});
    config.alloc_conf = Choose<const char*>(
        random,
        {"", "", "expandable_segments:True", "max_split_size_mb:32", "roundup_power2_divisions:4"});
    if (random() % 6 == 0) config.custom_device.memory_bytes = uint64_t{520} << 20;  // too small
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + Describe(config));
    int from_tape = 0;
    RunHooks hooks;
    hooks.repeated = &from_tape;
    const RunResult taped = RunTiny(config, hooks);
    repeated += from_tape > 0;
    hooks.repeat_from_tape = false;
    const RunResult executed = RunTiny(config, hooks);
    ASSERT_EQ(taped.status, executed.status);
    ASSERT_EQ(FirstDifference(*taped.trace, *executed.trace), "");
  }
  // If the optimizer steps in backward, and in a few other cases, every micro-batch is executed.
  EXPECT_GT(repeated, kSeeds * 2 / 3) << "almost no run was repeated from a tape";
}

// In a deep model, only four units are executed. The others are extrapolated, and must report the
// same events as if they were executed.
TEST(PlanInvariants, ExtrapolatingLayersMatchesExecution) {
  int rehearsed = 0;
  constexpr int kSeeds = 48;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed + 2000);
    run::RunConfig config = RandomConfig(random);
    AddTechniques(random, config);
    for (const char* layers :
         {"num_hidden_layers\": 3", "num_hidden_layers\": 2", "n_layer\": 2"}) {
      const size_t at = config.model_config_json.find(layers);
      if (at == std::string::npos) continue;
      const size_t digit = at + std::string_view(layers).size() - 1;
      config.model_config_json.replace(digit, 1, std::to_string(Choose(random, {6, 7, 11, 13})));
    }
    config.alloc_conf = Choose<const char*>(random, {"", "", "expandable_segments:True"});
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + Describe(config));
    int from_tape = 0;
    RunHooks hooks;
    hooks.repeated = &from_tape;
    const RunResult repeated = RunTiny(config, hooks);
    rehearsed += from_tape == config.steps * config.micro_batches;
    hooks.repeat_from_tape = false;
    const RunResult executed = RunTiny(config, hooks);
    ASSERT_TRUE(executed.status.ok()) << executed.status;
    ASSERT_EQ(repeated.status, executed.status);
    ASSERT_EQ(FirstDifference(*repeated.trace, *executed.trace), "");
  }
  // Nothing is extrapolated if there are few units, a loss scaler, or weights that are not trained.
  EXPECT_GT(rehearsed, kSeeds / 4) << "almost no run was extrapolated";
  std::printf("%d of %d runs rehearsed\n", rehearsed, kSeeds);
}

TEST(PlanInvariants, ExtrapolatingPresetsMatchesExecution) {
  for (const char* preset : {"qwen2-0.5b", "gpt2"}) {
    for (const auto& settings : std::vector<std::vector<std::pair<const char*, const char*>>>{
             {},
             {{"precision", "bf16"}, {"attention", "flash"}},
             {{"precision", "amp-bf16"}, {"optimizer.impl", "fused"}},
             {{"checkpointing.mode", "layer"}},
             {{"lora.rank", "8"}, {"micro_batches", "2"}},
             {{"attention", "efficient"}}}) {
      run::RunConfigBuilder builder;
      ASSERT_TRUE(builder.SetPreset(preset).ok());
      for (const auto& [key, value] : settings) ASSERT_TRUE(builder.Set(key, value).ok()) << key;
      if (!settings.empty() && preset == std::string_view("gpt2") &&
          settings.front().first == std::string_view("lora.rank")) {
        ASSERT_TRUE(builder.Set("lora.targets", "c_attn").ok());
      }
      const auto config = builder.Build();
      ASSERT_TRUE(config.ok()) << config.status();
      SCOPED_TRACE(Describe(*config));
      int from_tape = 0;
      RunHooks hooks;
      hooks.repeated = &from_tape;
      const RunResult repeated = RunTiny(*config, hooks);
      EXPECT_EQ(from_tape, config->steps * config->micro_batches);
      hooks.repeat_from_tape = false;
      const RunResult executed = RunTiny(*config, hooks);
      ASSERT_TRUE(executed.status.ok()) << executed.status;
      ASSERT_EQ(FirstDifference(*repeated.trace, *executed.trace), "");
    }
  }
}

TEST(PlanInvariants, StepsAfterTheSecondAreEqual) {
  run::RunConfig config = TinyConfig(Backend::kPlan, kTinyQwen);
  config.steps = 5;
  const RunResult result = RunTiny(config);
  ASSERT_TRUE(result.status.ok()) << result.status;
  const trace::Trace& trace = *result.trace;
  std::vector<std::vector<std::pair<uint8_t, uint64_t>>> steps;
  for (uint32_t i = 0; i < trace.events.size(); ++i) {
    if (trace.events.kind[i] == trace::EventKind::kStepBegin) steps.emplace_back();
    if (steps.empty()) continue;
    if (trace.events.kind[i] == trace::EventKind::kSegmentAlloc) continue;
    steps.back().emplace_back(static_cast<uint8_t>(trace.events.kind[i]), trace.events.bytes[i]);
    if (trace.events.kind[i] == trace::EventKind::kStepEnd && steps.size() == 5) break;
  }
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[2], steps[3]);
  EXPECT_EQ(steps[3], steps[4]);
  EXPECT_NE(steps[0], steps[2]);  // the first step allocates the state
}

TEST(PlanInvariants, CheckpointingLowersThePeak) {
  for (const char* model : {kTinyQwen, kTinyGpt2Dropout}) {
    for (const char* precision : {"fp32", "amp-bf16"}) {
      run::RunConfig config = TinyConfig(Backend::kPlan, model);
      config.batch = 64;
      config.seq = 32;
      config.Set("precision", precision);
      config.Set("optimizer.name", "sgd");
      const uint64_t without = Replay(*RunTiny(config).trace).peak_requested;
      config.Set("checkpointing.mode", "layer");
      const uint64_t with = Replay(*RunTiny(config).trace).peak_requested;
      EXPECT_LT(with, without);
    }
  }
}

TEST(CpuInvariants, RandomConfigurationsReplayWithoutErrors) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    run::RunConfig config = RandomConfig(random);
    config.backend = Backend::kCpu;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + Describe(config));
    const RunResult result = RunTiny(config);
    ASSERT_TRUE(result.status.ok()) << result.status;
    const Replay replay(*result.trace);
    EXPECT_EQ(replay.error, "");
  }
}

// ---- figures of whole models

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

run::RunConfig Qwen() {
  run::RunConfigBuilder builder;
  EXPECT_TRUE(builder.SetPreset("qwen2-0.5b").ok());
  for (auto [key, value] :
       {std::pair("batch", "2"), std::pair("seq", "512"), std::pair("optimizer.name", "adamw")}) {
    EXPECT_TRUE(builder.Set(key, value).ok());
  }
  auto config = builder.Build();
  EXPECT_TRUE(config.ok()) << config.status();
  return *config;
}

TEST(Figures, Qwen2Fp32) {
  const RunResult result = RunTiny(Qwen());
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.trace->info.model.parameter_count, 494032768u);
  const Replay replay(*result.trace);
  EXPECT_EQ(replay.error, "");
  EXPECT_GE(replay.before_allocated / kGiB, 1.835);
  EXPECT_LE(replay.before_allocated / kGiB, 1.85);
  EXPECT_GE(replay.after_allocated / kGiB, 5.52);
  EXPECT_LE(replay.after_allocated / kGiB, 5.66);
  std::printf("fp32: before %.4f after %.4f peak %.3f GiB, workspace %.1f MiB, %u events\n",
              replay.before_allocated / kGiB, replay.after_allocated / kGiB,
              replay.peak_allocated / kGiB, Of(replay.after, Category::kWorkspace) / 1048576.0,
              result.trace->events.size());
}

TEST(Figures, Qwen2Bf16) {
  run::RunConfig config = Qwen();
  config.Set("precision", "bf16");
  const Replay replay(*RunTiny(config).trace);
  EXPECT_NEAR(replay.before_allocated / kGiB, 0.93, 0.011);
  EXPECT_NEAR(replay.after_allocated / kGiB, 2.80, 0.03);
  std::printf("bf16: before %.4f after %.4f peak %.3f GiB\n", replay.before_allocated / kGiB,
              replay.after_allocated / kGiB, replay.peak_allocated / kGiB);
}

TEST(Figures, Qwen2Lora) {
  run::RunConfig config = Qwen();
  config.Set("lora.rank", "8");
  const RunResult result = RunTiny(config);
  EXPECT_EQ(result.trace->info.model.trainable_count, 540672u);
  const Replay replay(*result.trace);
  EXPECT_NEAR(replay.before_allocated / kGiB, 1.845, 0.006);
  EXPECT_NEAR(replay.after_allocated / kGiB, 1.86, 0.006);
  std::printf("lora: before %.4f after %.4f peak %.3f GiB\n", replay.before_allocated / kGiB,
              replay.after_allocated / kGiB, replay.peak_allocated / kGiB);
}

}  // namespace
}  // namespace vramscope::trainer
