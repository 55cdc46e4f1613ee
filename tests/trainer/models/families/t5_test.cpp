#include "tests/trainer/models/families/family_checks.h"

namespace vramscope::trainer {
namespace {

using run::Backend;
using testing::HasSubstr;

constexpr char kTiny[] = R"({
  "model_type": "mt5", "vocab_size": 96, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 4,
  "num_layers": 2, "num_decoder_layers": 3, "dropout_rate": 0.0, "initializer_factor": 0.2})";

run::RunConfig Config(const char* json = kTiny, Backend backend = Backend::kCpu) {
  return TinyConfig(backend, json);
}

TEST(T5, Learns) {
  ExpectLearns(Config(), std::log(96.0), 1.0);
  ExpectLearns(Config(kTinyT5), std::log(96.0), 1.0);
}

// Gradients also flow through the encoder's output, and through the position biases, which the
// first layers compute for all layers.
TEST(T5, TechniquesKeepTheLosses) {
  ExpectTechniquesKeepTheLosses(Config());
  ExpectTechniquesKeepTheLosses(Config(kTinyT5));
}

TEST(T5, PlanFreesEverything) { ExpectPlans(Config()); }

// A gradient of 512 x 512 floats is as large as cuBLASLt's workspace. It must still be freed.
TEST(T5, PlanFreesGradientsAsLargeAsAWorkspace) {
  const std::string json = With(
      With(With(kTinyT5, "\"d_model\": 32", "\"d_model\": 512"), "\"d_kv\": 8", "\"d_kv\": 64"),
      "\"num_heads\": 4", "\"num_heads\": 8");
  ExpectPlans(Config(json.c_str()));
}

TEST(T5, PublishedParameterCounts) {
  run::RunConfig config = Config(PresetText("mt5-base"));
  EXPECT_EQ(ParametersOf(config).count, 582401280u);
  EXPECT_EQ(ParametersOf(config).layers, 24u);
  config.Set("lora.rank", "8");
  config.Set("lora.targets", "q,v");
  EXPECT_EQ(ParametersOf(config).trainable, 884736u);
}

TEST(T5, RejectsInvalidConfigurations) {
  const auto refusal = [](std::string_view from, std::string_view to) {
    return Refusal(Config(With(kTiny, from, to).c_str()));
  };
  EXPECT_THAT(refusal("\"d_kv\": 8", "\"feed_forward_proj\": \"gated-mish\""),
              HasSubstr("feed_forward_proj"));
  EXPECT_THAT(refusal("\"d_kv\": 8", "\"relative_attention_max_distance\": 4"),
              HasSubstr("relative_attention_max_distance"));
  EXPECT_THAT(refusal("\"d_kv\": 8", "\"pad_token_id\": 96"), HasSubstr("pad_token_id"));
  EXPECT_THAT(refusal("\"d_model\": 32,", ""), HasSubstr("missing key d_model"));
}

}  // namespace
}  // namespace vramscope::trainer
