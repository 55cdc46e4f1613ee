#include "trainer/models/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace vramscope::trainer {
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

TEST(ModelConfig, FamilyDefaults) {
  auto qwen = ParseModelConfig(kQwen);
  ASSERT_TRUE(qwen.ok()) << qwen.status();
  EXPECT_TRUE(qwen->qkv_bias);
  EXPECT_FALSE(qwen->output_bias);
  EXPECT_EQ(qwen->head_dim, 16);
  EXPECT_EQ(qwen->sliding_window, 0);
  auto llama = ParseModelConfig(Replace(kQwen, "Qwen2ForCausalLM", "LlamaForCausalLM"));
  ASSERT_TRUE(llama.ok());
  EXPECT_FALSE(llama->qkv_bias);
  auto mistral =
      ParseModelConfig(Replace(Replace(kQwen, "Qwen2ForCausalLM", "MistralForCausalLM"),
                               "\"vocab_size\"", "\"sliding_window\": 4096, \"vocab_size\""));
  ASSERT_TRUE(mistral.ok());
  EXPECT_EQ(mistral->sliding_window, 4096);
}

TEST(ModelConfig, ErrorsNameWhatIsWrong) {
  EXPECT_THAT(Error("{\"vocab_size\":"), HasSubstr("not JSON"));
  EXPECT_THAT(Error("[1, 2]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(Error(""), HasSubstr("not JSON"));
  EXPECT_THAT(Error("{}"), HasSubstr("missing key architectures"));
  EXPECT_THAT(Error(R"({"model_type": "mamba"})"),
              HasSubstr("architecture \"mamba\" is not supported; supported: Qwen2"));
  EXPECT_THAT(Error(R"({"architectures": ["BertModel"], "model_type": "llama"})"),
              HasSubstr("BertModel"));
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
  EXPECT_THAT(Error(std::string(kMaxConfigBytes + 1, ' ')), HasSubstr("too large"));
}

}  // namespace
}  // namespace vramscope::trainer
