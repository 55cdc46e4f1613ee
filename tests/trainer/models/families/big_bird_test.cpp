#include "tests/trainer/models/families/family_checks.h"

namespace vramscope::trainer {
namespace {

using run::Backend;
using testing::HasSubstr;

// Blocks have 2 tokens, so sequences longer than (5 + 2) * 2 = 14 tokens use block-sparse
// attention.
constexpr char kTiny[] = R"({
  "model_type": "big_bird", "vocab_size": 96, "hidden_size": 32, "num_hidden_layers": 2,
  "num_attention_heads": 2, "intermediate_size": 48, "max_position_embeddings": 32,
  "block_size": 2, "num_random_blocks": 1, "num_labels": 3, "hidden_dropout_prob": 0.0,
  "attention_probs_dropout_prob": 0.0})";

run::RunConfig Config(const char* json = kTiny, Backend backend = Backend::kCpu, int seq = 16) {
  run::RunConfig config = TinyConfig(backend, json);
  config.seq = seq;
  return config;
}

// With block-sparse attention, the model learns more slowly. It does not learn at all at the
// learning rate of the other families' tests, 0.01.
TEST(BigBird, LearnsWithBlockSparseAttention) {
  run::RunConfig config = Config();
  config.steps = 80;
  config.Set("optimizer.lr", "0.002");
  const std::vector<double> losses = LossesOfRun(config);
  ASSERT_EQ(losses.size(), 80u);
  EXPECT_NEAR(losses.front(), std::log(3.0), 0.3);
  EXPECT_LT(losses.back(), 0.6 * losses.front());
}

// A sequence of 12 tokens is too short for block-sparse attention.
TEST(BigBird, LearnsWithFullAttention) {
  ExpectLearns(Config(kTiny, Backend::kCpu, 12), std::log(3.0), 0.3, 100);
}

TEST(BigBird, TechniquesKeepTheLosses) { ExpectTechniquesKeepTheLosses(Config()); }

// The length 17 is not a multiple of the block size, so sequences are padded to 18.
TEST(BigBird, PlanFreesEverything) { ExpectPlans(Config(kTiny, Backend::kCpu, 17)); }

TEST(BigBird, PublishedParameterCounts) {
  run::RunConfig config = Config(PresetText("bigbird-roberta-base"));
  EXPECT_EQ(ParametersOf(config).count, 128'060'930u);
}

TEST(BigBird, RejectsInvalidConfigurations) {
  const auto refusal = [](std::string_view from, std::string_view to) {
    return Refusal(Config(With(kTiny, from, to).c_str()));
  };
  EXPECT_THAT(refusal("\"block_size\": 2", "\"block_size\": 0"), HasSubstr("block_size = 0"));
  EXPECT_THAT(refusal("\"block_size\": 2", "\"attention_type\": \"none\""),
              HasSubstr("attention_type"));
  EXPECT_THAT(refusal("\"max_position_embeddings\": 32", "\"max_position_embeddings\": 8"),
              HasSubstr("8 positions"));
}

}  // namespace
}  // namespace vramscope::trainer
