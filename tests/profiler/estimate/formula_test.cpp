// Compares the formulas with published examples, and with figures from other sources.
#include "profiler/estimate/formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "profiler/estimate/estimate_run.h"

namespace vramscope::estimate {
namespace {

constexpr double kGiB = 1073741824.0;

double Value(std::string_view id, const Values& values) {
  const absl::StatusOr<Formula> formula = Evaluate(id, values);
  EXPECT_TRUE(formula.ok()) << formula.status();
  return formula.ok() ? formula->value : 0;
}

std::vector<Section> Estimated(const std::vector<std::pair<std::string, std::string>>& settings,
                               std::string_view preset = "qwen2-0.5b") {
  run::RunConfigBuilder builder;
  EXPECT_TRUE(builder.SetPreset(preset).ok());
  for (const auto& [key, value] : settings) EXPECT_TRUE(builder.Set(key, value).ok()) << key;
  const absl::StatusOr<run::RunConfig> config = builder.Build();
  EXPECT_TRUE(config.ok()) << config.status();
  const absl::StatusOr<run::ModelConfig> model = run::ParseModelConfig(config->model_config_json);
  EXPECT_TRUE(model.ok()) << model.status();
  return EstimateRun(*config, *model);
}

uint64_t Bytes(const std::vector<Section>& sections, std::string_view id) {
  for (const Section& section : sections) {
    for (const Line& line : section.lines) {
      if (line.formula.id == id) return line.formula.bytes();
    }
  }
  ADD_FAILURE() << "no line " << id;
  return 0;
}

TEST(Expression, EvaluatesArithmetic) {
  const std::vector<Term> terms = {{"a", "", 3}, {"min_2", "", 10}};
  const auto value = [&](std::string_view text) {
    return EvaluateExpression(text, terms).value_or(-1e9);
  };
  EXPECT_EQ(value("1 + 2*a - 4/2"), 5);
  EXPECT_EQ(value("(1 + 2) * (a - 1)"), 6);
  EXPECT_EQ(value("min(a, min_2) + max(a, min_2)"), 13);
  EXPECT_EQ(value("32*ceil(33/32)"), 64);
  EXPECT_EQ(value("8 - 4 - 2"), 2);
  EXPECT_EQ(value("1e9 * 0.5"), 5e8);
}

TEST(Expression, RejectsInvalidExpressions) {
  const std::vector<Term> terms = {{"a", "", 0}};
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"", "expected a number, a term or \"(\" at character 1"},
           {"1 +", "expected a number, a term or \"(\" at character 4"},
           {"(1", "expected \")\" at character 3"},
           {"b", "expected a known term instead of \"b\" at character 1"},
           {"1 2", "expected an operator at character 3"},
           {"a(1)", "expected min, max or ceil instead of \"a\" at"},
           {"min(1)", "expected \",\" at character 6"},
           {"1/a", "is not a finite number"},
           {"1..2 +", "expected an operator at character 3"},
           {"-", "expected a number, a term or \"(\" at character 1"},
           {"$", "expected a number, a term or \"(\" at character 1"},
           {"ceil(1, 2)", "expected \")\" at character 7"}}) {
    const absl::StatusOr<double> value = EvaluateExpression(text, terms);
    EXPECT_EQ(value.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(
        std::string(value.status().message()),
        ::testing::AllOf(::testing::HasSubstr("\"" + text + "\""), ::testing::HasSubstr(why)));
  }
  EXPECT_FALSE(EvaluateExpression(std::string(100, '(') + "1" + std::string(100, ')'), {}).ok());
  EXPECT_FALSE(EvaluateExpression(std::string(5000, '1'), {}).ok());
}

TEST(Formulas, HaveTitlesSourcesAndDescribedTerms) {
  for (const Formula& formula : Formulas()) {
    EXPECT_FALSE(formula.title.empty()) << formula.id;
    EXPECT_FALSE(formula.source.empty()) << formula.id;
    std::vector<Term> ones = formula.terms;
    for (Term& term : ones) {
      EXPECT_FALSE(term.what.empty()) << formula.id << " " << term.name;
      term.value = 1;
    }
    EXPECT_TRUE(EvaluateExpression(formula.text, ones).ok()) << formula.id;
  }
}

TEST(Formulas, RejectUnknownMissingAndInfiniteTerms) {
  EXPECT_EQ(Evaluate("no-such", {}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(Evaluate("weights", {{"P", 1}}).ok());
  EXPECT_FALSE(Evaluate("weights", {{"P", 1}, {"e_w", 4}, {"h", 1}}).ok());
  EXPECT_FALSE(Evaluate("weights", {{"P", 1e308 * 10}, {"e_w", 4}}).ok());
}

// If a value exceeds 64 bits, the result must be the largest number, not 0.
TEST(Formulas, BytesSaturateAt64Bits) {
  EXPECT_EQ(Evaluate("weights", {{"P", 1e19}, {"e_w", 4}}).value().bytes(), UINT64_MAX);
  EXPECT_EQ(Evaluate("weights", {{"P", 0x1p61}, {"e_w", 4}}).value().bytes(), uint64_t{1} << 63);
}

// The examples are from a published memory estimate of BERT and mT5.
TEST(Formulas, MatchPublishedExamples) {
  EXPECT_NEAR(Value("weights", {{"P", 110e6}, {"e_w", 4}}) / kGiB, 0.40978, 5e-6);
  EXPECT_NEAR(Value("weights", {{"P", 110e6}, {"e_w", 4}}) / 1048576, 419.62, 0.005);
  const double mt5 = Value("weights", {{"P", 582e6}, {"e_w", 4}});
  EXPECT_NEAR(mt5 / kGiB, 2.168, 5e-4);
  const double full = Value("training", {{"P", 582e6}, {"e_w", 4}, {"e_g", 4}, {"o", 8}});
  EXPECT_NEAR(full / kGiB, 8.672, 5e-4);
  EXPECT_EQ(full, 4 * mt5);
  const double saved = Value("peft-saved", {{"K", 582e6}, {"N", 884736}, {"e", 4}});
  EXPECT_NEAR(saved / kGiB, 6.49, 0.005);
  const double kept =
      Value("peft-static", {{"K", 582e6}, {"N", 884736}, {"e_w", 4}, {"e_g", 4}, {"o", 8}});
  EXPECT_NEAR(kept / kGiB, 2.18, 0.005);
  EXPECT_EQ(full - kept, saved);
}

// The ViT has 3.0e9 parameters in 24 layers of width 3200 with 25 heads; 8 x 512 tokens.
TEST(Formulas, MatchPublishedActivationsOfAThreeBillionVit) {
  const Values layer = {{"b", 8},     {"s", 512}, {"e", 4}, {"h", 3200},
                        {"f", 12800}, {"u", 2},   {"p", 0}};
  const double block = Value("block-gelu", layer);
  EXPECT_EQ(block, 8.0 * 512 * (3200 * 64 + 16));
  const double scores =
      Value("attention-math", {{"b", 8}, {"s", 512}, {"a", 25}, {"e", 4}, {"D", 0}, {"q", 3200}});
  EXPECT_NEAR(24 * (block + scores) / 1e9, 25.17, 0.005);
  const double fused = Value("attention-efficient", {{"b", 8}, {"s", 512}, {"a", 25}});
  EXPECT_NEAR(24 * (block + fused) / 1e9, 20.14, 0.005);
  const double autocast =
      Value("block-gelu-autocast",
            {{"b", 8}, {"s", 512}, {"h", 3200}, {"f", 12800}, {"u", 4}, {"p", 0}, {"W", 0}});
  EXPECT_NEAR(24 * autocast / 1e9, 11.33, 0.005);
}

TEST(Formulas, MatchPublishedKvCacheSizes) {
  // Llama-2-7B needs half a MiB per token in 16 bits, and DeepSeek-V2's latent cache needs 70,272
  // B.
  EXPECT_EQ(Value("kv-cache", {{"e", 2}, {"L", 32}, {"b", 1}, {"s", 1}, {"a", 32}, {"d", 128}}),
            524288);
  EXPECT_EQ(
      Value("kv-cache-grouped", {{"e", 2}, {"L", 32}, {"b", 1}, {"s", 1}, {"g", 8}, {"d", 128}}),
      131072);
  const auto window = [](double s) {
    return Value("kv-cache-window",
                 {{"e", 2}, {"L", 32}, {"b", 1}, {"s", s}, {"w", 4096}, {"g", 8}, {"d", 128}});
  };
  EXPECT_EQ(window(4096), window(32768));
  EXPECT_EQ(2 * window(2048), window(4096));
  EXPECT_EQ(
      Value("kv-cache-latent", {{"e", 2}, {"L", 61}, {"b", 1}, {"s", 1}, {"c", 512}, {"r", 64}}),
      70272);
}

// The bytes per token and layer are from runs of the model's published code on the meta device.
TEST(EstimateRun, QwenLayerActivationsMatchMetaDeviceRuns) {
  constexpr uint64_t kTokens = 2 * 1536;
  const auto kept = [&](const char* precision, const char* attention) {
    return Bytes(
        Estimated(
            {{"batch", "2"}, {"seq", "1536"}, {"precision", precision}, {"attention", attention}}),
        "layer");
  };
  EXPECT_EQ(kept("fp32", "efficient"), 113728 * kTokens);
  EXPECT_EQ(kept("bf16", "efficient"), 60480 * kTokens);
}

TEST(EstimateRun, LoraGradientsAreOfAdaptersOnly) {
  const std::vector<Section> lora = Estimated({{"lora.rank", "8"}});
  EXPECT_EQ(Bytes(lora, "gradients"), 540672u * 4);
  EXPECT_EQ(Bytes(lora, "weights"), 494032768u * 4) << "the first line is the stored size";
  EXPECT_EQ(Bytes(lora, "peft-saved"), Bytes(lora, "training") - Bytes(lora, "peft-static"));
  EXPECT_EQ(Bytes(Estimated({{"lora.rank", "8"}, {"lora.targets", "layers.3.self_attn.q_proj"}}),
                  "gradients"),
            8u * (896 + 896) * 4);
}

TEST(EstimateRun, GradientsAreOfTrainablePartsIfKnown) {
  EXPECT_EQ(Bytes(Estimated({{"trainable", "last-layer"}}), "gradients"), 14912384u * 4);
  for (const Section& section : Estimated({{"trainable", "*.mlp.*"}})) {
    for (const Line& line : section.lines) EXPECT_NE(line.formula.id, "gradients");
  }
}

TEST(StaticTable, ListsAdamAnd8BitOptimizerSizes) {
  bool eight = false;
  for (const StaticCell& cell : StaticTable(1'000'000'000)) {
    if (cell.optimizer == "adam, adamw") {
      EXPECT_EQ(cell.total(),
                cell.precision.starts_with("fp32") ? 16'000'000'000u : 8'000'000'000u);
    }
    if (cell.optimizer.ends_with("(8-bit)")) {
      eight = true;
      EXPECT_EQ(cell.state, 2'031'250'000u);
    }
  }
  EXPECT_TRUE(eight);
}

}  // namespace
}  // namespace vramscope::estimate
