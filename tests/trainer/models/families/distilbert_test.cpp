#include "tests/trainer/models/families/family_checks.h"

namespace vramscope::trainer {
namespace {

using run::Backend;
using testing::HasSubstr;

constexpr char kTiny[] = R"({
  "model_type": "distilbert", "vocab_size": 96, "dim": 32, "n_layers": 2, "n_heads": 2,
  "hidden_dim": 48, "max_position_embeddings": 32, "num_labels": 3, "dropout": 0.0,
  "attention_dropout": 0.0, "seq_classif_dropout": 0.0})";

run::RunConfig Config(const char* json = kTiny, Backend backend = Backend::kCpu) {
  return TinyConfig(backend, json);
}

TEST(DistilBert, Learns) { ExpectLearns(Config(), std::log(3.0), 0.3, 150); }

TEST(DistilBert, TechniquesKeepTheLosses) {
  ExpectTechniquesKeepTheLosses(Config());
  run::RunConfig config = Config();
  const std::vector<double> eager = LossesOfRun(config);
  config.Set("attention", "math");
  ExpectSameLosses(eager, config, "math");
}

TEST(DistilBert, PlanFreesEverything) { ExpectPlans(Config()); }

TEST(DistilBert, PublishedParameterCount) {
  EXPECT_EQ(ParametersOf(Config(PresetText("distilbert-base-uncased"))).count, 66955010u);
}

TEST(DistilBert, RejectsInvalidConfigurations) {
  EXPECT_THAT(Refusal(Config(With(kTiny, "\"n_heads\": 2", "\"n_heads\": 5").c_str())),
              HasSubstr("n_heads 5"));
  EXPECT_THAT(Refusal(Config(With(kTiny, "\"dim\": 32", "\"activation\": \"relu\"").c_str())),
              HasSubstr("activation"));
}

}  // namespace
}  // namespace vramscope::trainer
