#include "profiler/estimate/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace vramscope::estimate {
namespace {

using ::testing::HasSubstr;

std::string PresetJson(std::string_view name) {
  for (const run::ModelPreset& preset : run::ModelPresets()) {
    if (preset.name == name) return std::string(preset.config_json);
  }
  return "";
}

std::string Error(const std::string& json) {
  return std::string(CountWeights(json).status().message());
}

// Counts of the published checkpoints; basics-medium: its repository's own print-out.
TEST(CountWeights, PresetsHaveTheirPublishedCounts) {
  EXPECT_EQ(CountWeights(PresetJson("qwen2-0.5b"))->total(), 494032768u);
  EXPECT_EQ(CountWeights(PresetJson("gpt2"))->total(), 124439808u);
  EXPECT_EQ(CountWeights(PresetJson("gpt2-medium"))->total(), 354823168u);
  EXPECT_EQ(CountWeights(PresetJson("llama-3.2-1b"))->total(), 1235814400u);
  EXPECT_EQ(CountWeights(PresetJson("basics-medium"))->total(), 423183360u);
}

// Two published models that are no presets: Mistral-7B-v0.1 and Llama-2-7B (no key-value heads
// key).
TEST(CountWeights, OtherPublishedModels) {
  EXPECT_EQ(
      CountWeights(R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "vocab_size": 32000, "tie_word_embeddings": false})")
          ->total(),
      7241732096u);
  EXPECT_EQ(CountWeights(R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
      "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000})")
                ->total(),
            6738415616u);
}

TEST(CountWeights, TyingAndBiasesCount) {
  nlohmann::json config = nlohmann::json::parse(PresetJson("llama-3.2-1b"));
  config["tie_word_embeddings"] = false;
  EXPECT_EQ(CountWeights(config.dump())->total(), 1235814400u + 128256u * 2048u);
  config["tie_word_embeddings"] = true;
  config["attention_bias"] = true;
  EXPECT_EQ(CountWeights(config.dump())->total(), 1235814400u + 16u * (2048 + 2 * 512 + 2048));
}

TEST(CountWeights, ErrorsNameTheKey) {
  EXPECT_THAT(Error("nonsense"), HasSubstr("JSON"));
  EXPECT_THAT(Error("{}"), HasSubstr("model_type"));
  EXPECT_THAT(Error(R"({"model_type": "mamba"})"), HasSubstr("mamba"));
  EXPECT_THAT(Error(R"({"model_type": "gpt2", "n_embd": 8})"), HasSubstr("n_layer"));
  nlohmann::json config = nlohmann::json::parse(PresetJson("qwen2-0.5b"));
  for (const char* key :
       {"hidden_size", "vocab_size", "num_key_value_heads", "num_hidden_layers"}) {
    nlohmann::json bad = config;
    bad.erase(key);
    EXPECT_THAT(Error(bad.dump()), HasSubstr(key));
    for (const nlohmann::json& value : {nlohmann::json(0), nlohmann::json(-5), nlohmann::json("8"),
                                        nlohmann::json(1.5), nlohmann::json(uint64_t{1} << 63)}) {
      bad[key] = value;
      EXPECT_THAT(Error(bad.dump()), HasSubstr(key)) << value;
    }
  }
}

TEST(BytesPerWeight, AutocastKeepsFp32Weights) {
  EXPECT_EQ(BytesPerWeight(run::Precision::kFp32), 4u);
  EXPECT_EQ(BytesPerWeight(run::Precision::kAmpBf16), 4u);
  EXPECT_EQ(BytesPerWeight(run::Precision::kBf16), 2u);
}

}  // namespace
}  // namespace vramscope::estimate
