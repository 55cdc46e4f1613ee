#include "profiler/run/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "profiler/run/config_reader.h"

namespace vramscope::run {
namespace {

using testing::HasSubstr;

std::string Error(std::string_view json) {
  auto config = ParseModelConfig(json);
  EXPECT_FALSE(config.ok()) << json;
  if (config.ok()) return "";
  EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(config.status().message());
}

constexpr char kQwen[] = R"({"architectures": ["Qwen2ForCausalLM"], "vocab_size": 100,
  "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
  "num_key_value_heads": 2})";

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(ModelConfig, AppliesFamilyDefaults) {
  auto qwen = ParseModelConfig(kQwen);
  ASSERT_TRUE(qwen.ok()) << qwen.status();
  EXPECT_TRUE(qwen->qkv_bias);
  EXPECT_FALSE(qwen->output_bias);
  EXPECT_EQ(qwen->head_dim, 16);
  EXPECT_EQ(qwen->sliding_window, 4096);
  auto without = ParseModelConfig(
      Replace(kQwen, "\"vocab_size\"", "\"sliding_window\": null, \"vocab_size\""));
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(without->sliding_window, 0);
  auto llama = ParseModelConfig(Replace(kQwen, "Qwen2ForCausalLM", "LlamaForCausalLM"));
  ASSERT_TRUE(llama.ok());
  EXPECT_FALSE(llama->qkv_bias);
  auto mistral =
      ParseModelConfig(Replace(Replace(kQwen, "Qwen2ForCausalLM", "MistralForCausalLM"),
                               "\"vocab_size\"", "\"sliding_window\": 4096, \"vocab_size\""));
  ASSERT_TRUE(mistral.ok());
  EXPECT_EQ(mistral->sliding_window, 4096);
}

// Configurations of other families are only marked with Family::kOther here. The worker reads or
// rejects them.
TEST(ModelConfig, MarksUnknownFamiliesAsOther) {
  for (const char* json : {R"({"model_type": "mamba"})",
                           R"({"architectures": ["BertModel"], "model_type": "llama"})"}) {
    const auto config = ParseModelConfig(json);
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->family, Family::kOther);
    EXPECT_EQ(config->layers, 0);
  }
}

TEST(ModelConfig, ErrorsNameTheWrongKey) {
  EXPECT_THAT(Error("{\"vocab_size\":"), HasSubstr("not JSON"));
  EXPECT_THAT(Error("[1, 2]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(Error(""), HasSubstr("not JSON"));
  EXPECT_THAT(Error("{}"), HasSubstr("the key architectures"));
  EXPECT_THAT(Error(Replace(kQwen, "\"num_attention_heads\": 4,", "")),
              HasSubstr("missing key num_attention_heads"));
  EXPECT_THAT(Error(Replace(kQwen, "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 2000000")),
              HasSubstr("num_hidden_layers"));
  EXPECT_THAT(Error(Replace(kQwen, "\"num_hidden_layers\": 2", "\"num_hidden_layers\": -1")),
              HasSubstr("num_hidden_layers = -1"));
  EXPECT_THAT(Error(Replace(kQwen, "\"vocab_size\": 100", "\"vocab_size\": 18446744073709551615")),
              HasSubstr("vocab_size"));
  EXPECT_THAT(Error(Replace(kQwen, "\"vocab_size\": 100", "\"vocab_size\": 1e3")),
              HasSubstr("not an integer"));
  EXPECT_THAT(Error(Replace(kQwen, "\"vocab_size\": 100", "\"vocab_size\": \"many\"")),
              HasSubstr("not an integer"));
  EXPECT_THAT(Error(Replace(kQwen, "\"hidden_size\": 64", "\"hidden_size\": 66")),
              HasSubstr("not a multiple"));
  EXPECT_THAT(Error(Replace(kQwen, "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3")),
              HasSubstr("num_key_value_heads 3"));
  EXPECT_THAT(Error(Replace(kQwen, "\"num_key_value_heads\": 2",
                            "\"num_key_value_heads\": 2, \"hidden_act\": \"mish\"")),
              HasSubstr("hidden_act \"mish\""));
  EXPECT_THAT(Error(Replace(kQwen, "\"num_key_value_heads\": 2",
                            "\"num_key_value_heads\": 2, \"rope_scaling\": {\"type\": \"yarn\"}")),
              HasSubstr("\"yarn\" is not supported"));
  EXPECT_THAT(Error(Replace(kQwen, "\"hidden_size\": 64,", "")), HasSubstr("hidden_size"));
  EXPECT_THAT(Error(R"({"model_type": "gpt2", "vocab_size": 8, "n_embd": 8})"),
              HasSubstr("n_layer"));
  // If num_key_value_heads is missing, only Llama has a default for it.
  EXPECT_THAT(Error(Replace(kQwen, ",\n  \"num_key_value_heads\": 2", "")),
              HasSubstr("num_key_value_heads"));
  EXPECT_THAT(Error(R"({"model_type": "basics", "vocab_size": 8, "hidden_size": 8})"),
              HasSubstr("intermediate_size"));
  EXPECT_THAT(Error(R"({"model_type": "basics", "vocab_size": 8, "hidden_size": 8,
      "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 8})"),
              HasSubstr("not a multiple of 2 x"));
  EXPECT_THAT(Error(std::string(kMaxConfigBytes + 1, ' ')), HasSubstr("too many"));
}

std::string With(const std::string& setting) {
  return Replace(kQwen, "\"vocab_size\"", setting + ", \"vocab_size\"");
}

// A setting that changes the model must be rejected instead of ignored.
TEST(ModelConfig, RejectsKeysOfOtherModels) {
  for (const char* setting :
       {R"("quantization_config": {"bits": 4})", R"("compression_config": {"format": "pack"})",
        R"("num_experts": 8)", R"("num_local_experts": 8)", R"("n_routed_experts": 64)",
        R"("kv_lora_rank": 512)", R"("vision_config": {"depth": 32})", R"("text_config": {"a": 1})",
        R"("is_encoder_decoder": true)", R"("pretraining_tp": 2)",
        R"("partial_rotary_factor": 0.5)", R"("attn_logit_softcapping": 50.0)",
        R"("num_nextn_predict_layers": 1)",
        R"("layer_types": ["full_attention", "linear_attention"])",
        R"("layer_types": ["sliding_attention"], "sliding_window": null)",
        R"("use_sliding_window": true)"}) {
    const std::string text(setting);
    EXPECT_THAT(Error(With(text)), HasSubstr(text.substr(1, text.find('"', 1) - 1)));
  }
  for (
      const char* setting :
      {R"("quantization_config": null)", R"("num_experts": 0)", R"("num_local_experts": 1)",
       R"("pretraining_tp": 1)", R"("partial_rotary_factor": 1.0)",
       R"("use_sliding_window": false)", R"("layer_types": ["full_attention", "full_attention"])",
       R"("use_sliding_window": true, "sliding_window": 8, "layer_types": ["sliding_attention"])"}) {
    const auto config = ParseModelConfig(With(setting));
    ASSERT_TRUE(config.ok()) << setting << config.status();
    EXPECT_TRUE(config->unknown.empty()) << setting;
  }
}

TEST(ModelConfig, ListsUnknownAndIgnoredKeys) {
  const auto config = ParseModelConfig(
      With(R"("foo": {"bar": 1}, "output_hidden_states": true, "output_attentions": false,
              "torch_dtype": "bfloat16", "use_cache": false)"));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->unknown, std::vector<std::string>{"foo"});
  ASSERT_EQ(config->ignored.size(), 1u);
  EXPECT_THAT(config->ignored[0], HasSubstr("output_hidden_states"));
  EXPECT_EQ(config->stored_type, "bfloat16");
  EXPECT_FALSE(config->use_cache);
  EXPECT_TRUE(ParseModelConfig(kQwen)->use_cache) << "as transformers";
}

}  // namespace
}  // namespace vramscope::run
