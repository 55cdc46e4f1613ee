#include "tests/trainer/models/families/family_checks.h"

namespace vramscope::trainer {
namespace {

using run::Backend;
using testing::HasSubstr;

constexpr char kTiny[] = R"({
  "model_type": "bert", "vocab_size": 96, "hidden_size": 32, "num_hidden_layers": 2,
  "num_attention_heads": 2, "intermediate_size": 48, "max_position_embeddings": 32,
  "num_labels": 3, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0})";

run::RunConfig Config(const char* json = kTiny, Backend backend = Backend::kCpu) {
  return TinyConfig(backend, json);
}

TEST(Bert, Learns) { ExpectLearns(Config(), std::log(3.0), 0.3); }

TEST(Bert, TechniquesKeepTheLosses) {
  ExpectTechniquesKeepTheLosses(Config());
  run::RunConfig config = Config();
  const std::vector<double> eager = LossesOfRun(config);
  config.Set("attention", "math");
  ExpectSameLosses(eager, config, "math");
}

TEST(Bert, CheckpointingRepeatsDropout) {
  const std::string json = With(With(kTiny, "_prob\": 0.0", "_prob\": 0.1"),
                                "_probs_dropout_prob\": 0.0", "_probs_dropout_prob\": 0.2");
  run::RunConfig config = Config(json.c_str());
  const std::vector<double> plain = LossesOfRun(config);
  config.Set("checkpointing.mode", "layer");
  ExpectSameLosses(plain, config, "checkpointing");
}

TEST(Bert, PlanFreesEverything) { ExpectPlans(Config()); }

// BertModel has 109,482,240 parameters. A head for two classes adds 1,538.
TEST(Bert, PublishedParameterCounts) {
  run::RunConfig config = Config(PresetText("bert-base-uncased"));
  EXPECT_EQ(ParametersOf(config).count, 109482240u + 1538u);
  // LoRA of rank 8 on query and value adds 2 x 8 x 1,536 parameters in each of 12 layers.
  config.Set("lora.rank", "8");
  config.Set("lora.targets", "query,value");
  EXPECT_EQ(ParametersOf(config).trainable, 294912u);
}

TEST(Bert, RejectsInvalidConfigurations) {
  const auto refusal = [](std::string_view from, std::string_view to) {
    return Refusal(Config(With(kTiny, from, to).c_str()));
  };
  EXPECT_THAT(refusal("\"num_attention_heads\": 2", "\"num_attention_heads\": 5"),
              HasSubstr("num_attention_heads 5"));
  EXPECT_THAT(refusal("\"num_labels\": 3", "\"num_labels\": 1"), HasSubstr("num_labels = 1"));
  EXPECT_THAT(refusal("\"num_labels\": 3", "\"id2label\": {\"0\": \"x\"}"),
              HasSubstr("regression"));
  EXPECT_THAT(refusal("\"num_labels\": 3", "\"hidden_act\": \"relu\""), HasSubstr("hidden_act"));
  EXPECT_THAT(refusal("\"num_labels\": 3", "\"is_decoder\": true"), HasSubstr("is_decoder"));
  EXPECT_THAT(refusal("\"max_position_embeddings\": 32", "\"max_position_embeddings\": 8"),
              HasSubstr("8 positions"));
}

}  // namespace
}  // namespace vramscope::trainer
