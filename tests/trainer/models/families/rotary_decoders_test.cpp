// Tests decoders with rotary positions: Qwen3, Mixtral, Qwen3 MoE, Gemma, Phi. (Llama has its own
// file.)
#include "tests/trainer/models/families/family_checks.h"

namespace vramscope::trainer {
namespace {

using run::Backend;
using testing::HasSubstr;

constexpr char kCommon[] =
    R"("vocab_size": 96, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
       "num_attention_heads": 4, "num_key_value_heads": 2)";

std::string Tiny(const std::string& type) {
  std::string more;
  if (type == "qwen3") more = R"("head_dim": 16)";
  if (type == "mixtral") more = R"("num_local_experts": 4, "num_experts_per_tok": 2)";
  if (type == "qwen3_moe") {
    more = R"("num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24,
              "norm_topk_prob": true, "mlp_only_layers": [0])";
  }
  if (type == "gemma") more = R"("head_dim": 8)";
  if (type == "gemma2") more = R"("head_dim": 8, "sliding_window": 5, "query_pre_attn_scalar": 8)";
  if (type == "gemma3_text") {
    more = R"("head_dim": 8, "sliding_window": 5, "sliding_window_pattern": 2,
              "query_pre_attn_scalar": 8)";
  }
  if (type.starts_with("phi")) more = R"("partial_rotary_factor": 0.5)";
  return R"({"model_type": ")" + type + "\", " + kCommon + ", " + more + "}";
}

run::RunConfig Config(const std::string& json, Backend backend = Backend::kCpu) {
  return TinyConfig(backend, json.c_str());
}

class RotaryDecoders : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, RotaryDecoders,
                         testing::Values("qwen3", "mixtral", "qwen3_moe", "gemma", "gemma2",
                                         "gemma3_text", "phi", "phi3"));

TEST_P(RotaryDecoders, Learns) { ExpectLearns(Config(Tiny(GetParam())), std::log(96.0), 0.9); }

TEST_P(RotaryDecoders, TechniquesKeepTheLosses) {
  const run::RunConfig config = Config(Tiny(GetParam()));
  ExpectTechniquesKeepTheLosses(config);
  if (std::string_view(GetParam()) == "gemma2")
    return;  // SDPA does not support a cap of the scores
  run::RunConfig other = config;
  const std::vector<double> eager = LossesOfRun(config);
  other.Set("attention", "math");
  ExpectSameLosses(eager, other, "math");
}

TEST_P(RotaryDecoders, PlanFreesEverything) { ExpectPlans(Config(Tiny(GetParam()))); }

// Counts of the published checkpoints.
TEST(RotaryDecoderCounts, MatchPublishedCheckpoints) {
  struct Row {
    const char* preset;
    uint64_t count;
  };
  for (const Row& row : {Row{"qwen3-0.6b", 596'049'920}, Row{"mixtral-8x7b", 46'702'792'704},
                         Row{"gemma-2b", 2'506'172'416}, Row{"gemma-2-2b", 2'614'341'888},
                         Row{"gemma-3-1b", 999'885'952}, Row{"phi-1.5", 1'418'270'720},
                         Row{"phi-2", 2'779'683'840}, Row{"phi-3-mini", 3'821'079'552}}) {
    EXPECT_EQ(ParametersOf(Config(PresetText(row.preset))).count, row.count) << row.preset;
  }
}

TEST(RotaryDecoderConfigs, RejectInvalidValues) {
  const auto refusal = [](const char* type, std::string_view from, std::string_view to) {
    return Refusal(Config(With(Tiny(type), from, to)));
  };
  EXPECT_THAT(refusal("qwen3", "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3"),
              HasSubstr("num_key_value_heads 3"));
  EXPECT_THAT(refusal("qwen3", "\"head_dim\": 16", "\"head_dim\": 15"), HasSubstr("odd"));
  EXPECT_THAT(refusal("qwen3", "\"head_dim\": 16", "\"quantization_config\": {\"bits\": 4}"),
              HasSubstr("quantization_config"));
  EXPECT_THAT(refusal("mixtral", "\"num_local_experts\": 4", "\"num_local_experts\": 5000"),
              HasSubstr("num_local_experts = 5000"));
  EXPECT_THAT(refusal("mixtral", "\"num_experts_per_tok\": 2", "\"num_experts_per_tok\": 5"),
              HasSubstr("num_experts_per_tok = 5"));
  EXPECT_THAT(refusal("mixtral", "\"num_local_experts\": 4", "\"output_router_logits\": true"),
              HasSubstr("output_router_logits"));
  EXPECT_THAT(refusal("qwen3_moe", "\"mlp_only_layers\": [0]", "\"mlp_only_layers\": [7]"),
              HasSubstr("mlp_only_layers"));
  EXPECT_THAT(refusal("gemma2", "\"sliding_window\": 5", "\"sliding_window\": 0"),
              HasSubstr("sliding_window = 0"));
  EXPECT_THAT(
      refusal("gemma3_text", "\"query_pre_attn_scalar\": 8", "\"query_pre_attn_scalar\": 0"),
      HasSubstr("query_pre_attn_scalar"));
  EXPECT_THAT(refusal("phi", "0.5", "0.1"), HasSubstr("partial_rotary_factor"));
  EXPECT_THAT(refusal("phi3", "\"partial_rotary_factor\": 0.5",
                      "\"rope_scaling\": {\"type\": \"longrope\"}"),
              HasSubstr("longrope"));
}

}  // namespace
}  // namespace vramscope::trainer
