// Tests generation: all kinds of caches must give the same tokens, and have the sizes that their
// formulas compute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "profiler/estimate/estimate_run.h"
#include "profiler/run/check_run.h"
#include "tests/trainer/loop/run_helpers.h"

namespace vramscope::trainer {
namespace {

using ::testing::HasSubstr;

run::RunConfig Config(run::Backend backend, const char* model, const char* cache, int seq = 6) {
  run::RunConfig config = TinyConfig(backend, model);
  config.batch = 2;
  config.steps = 1;
  config.seq = seq;
  config.Set("mode", "generate");
  config.Set("generate.tokens", "7");
  config.Set("generate.cache", cache);
  return config;
}

std::string Tokens(const run::RunConfig& config) {
  const RunResult result = RunTiny(config);
  EXPECT_TRUE(result.status.ok()) << result.status;
  if (!result.status.ok()) return "";
  for (const trace::Marker& marker : result.trace->markers) {
    const std::string_view name = result.trace->String(marker.name);
    if (name.starts_with("generated=")) return std::string(name);
  }
  return "";
}

TEST(Generation, EveryCacheGeneratesTheSameTokens) {
  for (const char* model : {kTinyQwen, kTinyLlama, kTinyMistral}) {
    for (const char* attention : {"eager", "math"}) {
      run::RunConfig plain = Config(run::Backend::kCpu, model, "none");
      plain.Set("attention", attention);
      const std::string tokens = Tokens(plain);
      EXPECT_EQ(std::count(tokens.begin(), tokens.end(), ','), 6) << tokens;
      for (const char* cache : {"dynamic", "static", "sliding"}) {
        if (model != kTinyMistral && cache == std::string("sliding")) continue;
        run::RunConfig config = plain;
        config.Set("generate.cache", cache);
        EXPECT_EQ(Tokens(config), tokens) << cache << " " << attention;
      }
    }
  }
}

TEST(Generation, CachingKeepsTheTokensOfGpt2AndT5) {
  for (const char* model : {kTinyGpt2, kTinyT5}) {
    for (const char* attention : {"eager", "math"}) {
      if (model == kTinyT5 && attention != std::string("eager")) continue;
      run::RunConfig config = Config(run::Backend::kCpu, model, "none");
      config.Set("attention", attention);
      const std::string tokens = Tokens(config);
      EXPECT_EQ(std::count(tokens.begin(), tokens.end(), ','), 6) << tokens;
      config.Set("generate.cache", "dynamic");
      EXPECT_EQ(Tokens(config), tokens) << attention;
    }
  }
}

// If the cache consists of tuples, the keys and values of the previous pass exist during a pass, in
// addition to the new ones. The keys and values of cross-attention, computed from the encoder's
// output, exist only once.
TEST(Generation, TupleCacheExistsTwiceCrossAttentionOnce) {
  const auto blocks = [](const char* model) {
    const RunResult result = RunTiny(Config(run::Backend::kPlan, model, "dynamic"));
    EXPECT_TRUE(result.status.ok()) << result.status;
    std::vector<uint64_t> live{0}, bytes;
    const trace::EventTable& events = result.trace->events;
    std::map<uint64_t, uint64_t> cached;
    for (uint32_t i = 0; i < events.size(); ++i) {
      if (events.kind[i] == trace::EventKind::kFreeCompleted && cached.contains(events.id[i])) {
        live.push_back(live.back() - cached[events.id[i]]);
      }
      if (events.kind[i] != trace::EventKind::kAlloc ||
          events.category[i] != trace::Category::kKvCache) {
        continue;
      }
      cached[events.id[i]] = events.bytes[i];
      live.push_back(live.back() + events.bytes[i]);
      bytes.push_back(events.bytes[i]);
    }
    return std::pair(*std::max_element(live.begin(), live.end()), bytes);
  };
  // A token has a key and a value in two sequences and two layers, each with 32 fp32 numbers.
  constexpr uint64_t kToken = 2 * 2 * 2 * 32 * 4;
  EXPECT_EQ(blocks(kTinyGpt2).first, (12 + 11) * kToken);
  EXPECT_LT(blocks(kTinyT5).first, 2 * 7 * kToken);
}

TEST(Generation, StopsAfterTheLongestSequence) {
  const auto decoded = [](const char* model, const char* lengths) {
    run::RunConfig config = Config(run::Backend::kPlan, model, "dynamic");
    config.Set("generate.lengths", lengths);
    const RunResult result = RunTiny(config);
    EXPECT_TRUE(result.status.ok()) << result.status;
    int count = 0;
    const trace::SliceTable& slices = result.trace->slices;
    for (uint32_t row = 0; row < slices.size(); ++row) {
      count += slices.kind[row] == trace::SliceKind::kAnnotation &&
               result.trace->String(slices.name[row]) == "decode";
    }
    return count;
  };
  for (const char* model : {kTinyQwen, kTinyGpt2, kTinyT5}) {
    EXPECT_EQ(decoded(model, ""), 6);
    EXPECT_EQ(decoded(model, "2,4"), 3);
    EXPECT_EQ(decoded(model, "2,4,6"), 3) << "of two sequences";
    EXPECT_EQ(decoded(model, "100"), 6) << "at most generate.tokens";
  }
}

// The bytes of the cache: according to the formula, and in the plan at the last token.
struct Bytes {
  uint64_t formula = 0, planned = 0;
};
Bytes Cache(const run::RunConfig& config) {
  Bytes bytes;
  const auto model = run::CheckRun(config);
  const RunResult result = RunTiny(config);
  EXPECT_TRUE(result.status.ok()) << result.status;
  if (!model.ok() || !result.status.ok()) return bytes;
  const estimate::PlannedFigures figures = estimate::FiguresOf(*result.trace);
  for (const estimate::Section& section : estimate::EstimateRun(config, *model)) {
    for (const estimate::Line& line : section.lines) {
      if (line.planned != estimate::Planned::kKvCache) continue;
      bytes.formula = line.formula.bytes();
      bytes.planned = figures.Of(line.planned).value_or(0);
    }
  }
  const trace::AllocationTable& all = result.trace->allocations;
  for (uint32_t i = 0; i < all.size(); ++i) EXPECT_NE(all.free_event[i], trace::kNoEvent) << i;
  return bytes;
}

TEST(Generation, PlannedCacheSizeMatchesFormula) {
  for (const char* model : {kTinyQwen, kTinyLlama, kTinyMistral}) {
    for (const char* precision : {"fp32", "bf16", "amp-bf16"}) {
      for (const char* cache : {"dynamic", "static", "sliding"}) {
        const bool amp = precision == std::string("amp-bf16");
        if (amp && cache != std::string("dynamic")) continue;
        if (model != kTinyMistral && cache == std::string("sliding")) continue;
        run::RunConfig config = Config(run::Backend::kPlan, model, cache, 7);
        config.Set("precision", precision);
        const Bytes bytes = Cache(config);
        EXPECT_GT(bytes.formula, 0u);
        EXPECT_EQ(bytes.planned, bytes.formula) << precision << " " << cache;
      }
    }
  }
}

TEST(Generation, RunsAfterTrainingAndEvaluation) {
  run::RunConfig config = Config(run::Backend::kPlan, kTinyQwen, "dynamic");
  config.Set("mode", "train");
  config.Set("eval", "no_grad");
  const RunResult result = RunTiny(config);
  ASSERT_TRUE(result.status.ok()) << result.status;
  std::vector<std::string> ranges;
  const trace::SliceTable& slices = result.trace->slices;
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (slices.kind[row] == trace::SliceKind::kPhase) ranges.emplace_back(Name(slices.phase(row)));
    if (slices.kind[row] == trace::SliceKind::kAnnotation) {
      ranges.emplace_back(result.trace->String(slices.name[row]));
    }
  }
  const auto of = [&](const char* name) { return std::ranges::find(ranges, name); };
  EXPECT_LT(of("optimizer"), of("eval"));
  EXPECT_LT(of("eval"), of("generation"));
  EXPECT_LT(of("prefill"), of("decode"));
  EXPECT_EQ(std::ranges::count(ranges, "decode"), 6);
}

TEST(Generation, RejectsUnsupportedSettings) {
  const auto why = [](const run::RunConfig& config) {
    return std::string(RunTiny(config).status.message());
  };
  const auto plan = [](const char* model, const char* cache, int seq, const char* tokens) {
    run::RunConfig config = Config(run::Backend::kPlan, model, cache, seq);
    config.Set("generate.tokens", tokens);
    return config;
  };
  EXPECT_THAT(why(plan(kTinyQwen, "dynamic", 6, "0")), HasSubstr("set generate.tokens=64"));
  EXPECT_THAT(why(plan(kTinyQwen, "dynamic", 6, "1000000")), HasSubstr("million events"));
  EXPECT_THAT(why(plan(kTinyLlama, "sliding", 6, "4")), HasSubstr("has none"));
  EXPECT_THAT(why(plan(kTinyMistral, "sliding", 9, "4")), HasSubstr("seq <= 8"));
  EXPECT_THAT(why(plan(kTinyGpt2, "static", 6, "4")), HasSubstr("generate.cache=dynamic"));
  EXPECT_THAT(why(plan(kTinyT5, "static", 6, "4")), HasSubstr("generate.cache=dynamic"));
  run::RunConfig computed = Config(run::Backend::kCpu, kTinyQwen, "dynamic");
  computed.Set("generate.lengths", "3");
  EXPECT_THAT(why(computed), HasSubstr("use backend=plan"));
}

}  // namespace
}  // namespace vramscope::trainer
