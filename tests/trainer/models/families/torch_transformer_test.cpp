#include "tests/trainer/models/families/family_checks.h"

namespace vramscope::trainer {
namespace {

using run::Backend;
using testing::HasSubstr;

constexpr char kTiny[] = R"({
  "model_type": "torch_transformer", "d_model": 16, "nhead": 2, "num_encoder_layers": 2,
  "num_decoder_layers": 3, "dim_feedforward": 32, "dropout": 0.0, "transposed": true})";

run::RunConfig Config(const std::string& json = kTiny) {
  run::RunConfig config = TinyConfig(Backend::kCpu, json.c_str());
  config.Set("attention", "math");
  return config;
}

std::string Adapted(const char* placement) {
  return With(kTiny, "\"dropout\"",
              std::string("\"adapter\": {\"placement\": \"") + placement +
                  "\", \"rank\": 2, \"scale\": 2}, \"dropout\"");
}

TEST(TorchTransformer, TechniquesKeepTheLosses) {
  ExpectTechniquesKeepTheLosses(Config());
  ExpectTechniquesKeepTheLosses(Config(Adapted("embedded")));
}

TEST(TorchTransformer, LossFalls) {
  for (const std::string& json : {std::string(kTiny), Adapted("embedded"), Adapted("decoupled")}) {
    run::RunConfig config = Config(json);
    config.steps = 40;
    config.Set("optimizer.lr", "0.01");
    const std::vector<double> losses = LossesOfRun(config);
    ASSERT_EQ(losses.size(), 40u);
    EXPECT_LT(losses.back(), losses.front());
  }
}

TEST(TorchTransformer, PlanFreesEverything) {
  ExpectPlans(Config());
  ExpectPlans(Config(Adapted("embedded")));
  ExpectPlans(Config(Adapted("decoupled")));
}

// The model has 2 x 3,152,384 + 12 x 4,204,032 + 2 x 1,024 parameters. LoRA of rank 4 adds 49,152.
TEST(TorchTransformer, ParameterCounts) {
  run::RunConfig config = Config(PresetText("nn-transformer-512"));
  EXPECT_EQ(ParametersOf(config).count, 56755200u);
  config.Set("trainable", "first-layer");
  EXPECT_EQ(ParametersOf(config).trainable, 4204032u);
  for (const char* name :
       {"handmade-transformer-512-embedded-lora", "handmade-transformer-512-decoupled-lora"}) {
    const Parameters parameters = ParametersOf(Config(PresetText(name)));
    EXPECT_EQ(parameters.count, 56804352u) << name;
    EXPECT_EQ(parameters.trainable, 49152u) << name;
  }
}

TEST(TorchTransformer, RejectsInvalidConfigurations) {
  const auto refusal = [](std::string_view from, std::string_view to) {
    return Refusal(Config(With(kTiny, from, to)));
  };
  EXPECT_THAT(refusal("\"nhead\": 2", "\"nhead\": 3"), HasSubstr("nhead 3"));
  EXPECT_THAT(refusal("\"dropout\": 0.0", "\"adapter\": 1"), HasSubstr("adapter"));
  EXPECT_THAT(refusal("\"dropout\": 0.0", "\"adapter\": {\"placement\": \"x\", \"rank\": 1}"),
              HasSubstr("adapter.placement"));
  EXPECT_THAT(refusal("\"dropout\": 0.0", "\"norm_first\": true"), HasSubstr("norm_first"));
}

}  // namespace
}  // namespace vramscope::trainer
