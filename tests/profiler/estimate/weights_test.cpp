#include "profiler/estimate/weights.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace vramscope::estimate {
namespace {

std::string PresetJson(std::string_view name) {
  for (const run::ModelPreset& preset : run::ModelPresets()) {
    if (preset.name == name) return std::string(preset.config_json);
  }
  return "";
}

WeightCount Counted(const std::string& json) {
  const absl::StatusOr<run::ModelConfig> model = run::ParseModelConfig(json);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? CountWeights(*model) : WeightCount();
}

// The expected values were counted in the published checkpoints. The value for basics-medium is
// what its own code prints.
TEST(CountWeights, PresetsMatchPublishedCounts) {
  EXPECT_EQ(Counted(PresetJson("qwen2-0.5b")).total(), 494032768u);
  EXPECT_EQ(Counted(PresetJson("gpt2")).total(), 124439808u);
  EXPECT_EQ(Counted(PresetJson("gpt2-medium")).total(), 354823168u);
  EXPECT_EQ(Counted(PresetJson("llama-3.2-1b")).total(), 1235814400u);
  EXPECT_EQ(Counted(PresetJson("basics-medium")).total(), 423183360u);
}

TEST(CountWeights, EachPresetHasAFormulaOrAStatedCount) {
  for (const run::ModelPreset& preset : run::ModelPresets()) {
    if (preset.for_tests) continue;
    EXPECT_NE(CountWeights(preset.config_json).ok(), preset.parameters > 0) << preset.name;
  }
}

// Two published models that are not presets: Mistral-7B-v0.1 and Llama-2-7B (without the key for
// key-value heads).
TEST(CountWeights, OtherModelsMatchPublishedCounts) {
  EXPECT_EQ(Counted(R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "vocab_size": 32000, "tie_word_embeddings": false})")
                .total(),
            7241732096u);
  EXPECT_EQ(Counted(R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
      "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000})")
                .total(),
            6738415616u);
}

TEST(CountWeights, CountsUntiedEmbeddingsAndBiases) {
  nlohmann::json config = nlohmann::json::parse(PresetJson("llama-3.2-1b"));
  config["tie_word_embeddings"] = false;
  EXPECT_EQ(Counted(config.dump()).total(), 1235814400u + 128256u * 2048u);
  config["tie_word_embeddings"] = true;
  config["attention_bias"] = true;
  EXPECT_EQ(Counted(config.dump()).total(), 1235814400u + 16u * (2048 + 2 * 512 + 2048));
}

TEST(BytesPerWeight, AutocastKeepsFp32Weights) {
  EXPECT_EQ(BytesPerWeight("fp32"), 4u);
  EXPECT_EQ(BytesPerWeight("amp-bf16"), 4u);
  EXPECT_EQ(BytesPerWeight("bf16"), 2u);
}

}  // namespace
}  // namespace vramscope::estimate
