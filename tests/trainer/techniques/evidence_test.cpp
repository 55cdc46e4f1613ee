// Plans must distinguish blocks of modelled libraries from blocks that PyTorch's code allocates.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "profiler/trace/block_evidence.h"
#include "tests/trainer/loop/run_helpers.h"

namespace vramscope::trainer {
namespace {

using trace::EvidenceKind;
using Settings = std::map<std::string, std::string>;

// Returns, for each category with modelled blocks, the assumption that they depend on.
std::map<std::string, std::string> ModelledIn(const Settings& settings) {
  run::RunConfig config = TinyConfig(run::Backend::kPlan, kTinyQwen);
  config.steps = 2;
  config.seq = 256;  // tensors that are large enough for 8-bit state
  for (const auto& [key, value] : settings) config.Set(key, value);
  const RunResult result = RunTiny(config);
  EXPECT_TRUE(result.status.ok()) << result.status;
  std::map<std::string, std::string> out;
  if (!result.status.ok()) return out;
  const trace::BlockEvidence evidence(*result.trace);
  const trace::AllocationTable& all = result.trace->allocations;
  for (uint32_t i = 0; i < all.size(); ++i) {
    const trace::Evidence of = evidence.Of(trace::AllocationId{i});
    EXPECT_FALSE(of.text.empty()) << i;
    EXPECT_NE(of.kind, EvidenceKind::kRecorded) << i;
    if (of.kind == EvidenceKind::kModelled) {
      out[std::string(trace::Name(all.main_category[i]))] = of.source;
    }
  }
  return out;
}

TEST(Evidence, BlocksOfOtherLibrariesAreModelled) {
  EXPECT_EQ(ModelledIn({}), (std::map<std::string, std::string>{}));
  EXPECT_EQ(ModelledIn({{"optimizer.bits", "8"}}),
            (std::map<std::string, std::string>{{"Optimizer state", "technique: 8-bit Adam"}}));
  EXPECT_EQ(ModelledIn({{"optimizer.name", "lion"}, {"optimizer.impl", "loop"}}),
            (std::map<std::string, std::string>{{"Optimizer state", "optimizer: Lion"}}));
  const auto packed = ModelledIn({{"activation_compression", "int8"}});
  ASSERT_TRUE(packed.contains("Activation"));
  EXPECT_EQ(packed.at("Activation"), "technique: Activations in 8 bits");
  EXPECT_FALSE(packed.contains("Parameter"));
  const auto shards = ModelledIn({{"shard.strategy", "zero3"}, {"shard.ranks", "2"}});
  EXPECT_TRUE(shards.contains("Communication"));
  EXPECT_FALSE(shards.contains("Activation"));
}

// Returns the number of parameter blocks for each kind of evidence.
std::map<EvidenceKind, int> ParametersOf(const Settings& settings) {
  run::RunConfig config = TinyConfig(run::Backend::kPlan, kTinyQwen);
  for (const auto& [key, value] : settings) config.Set(key, value);
  const RunResult result = RunTiny(config);
  EXPECT_TRUE(result.status.ok()) << result.status;
  std::map<EvidenceKind, int> out;
  if (!result.status.ok()) return out;
  const trace::BlockEvidence evidence(*result.trace);
  const trace::AllocationTable& all = result.trace->allocations;
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all.main_category[i] != trace::Category::kParameter) continue;
    ++out[evidence.Of(trace::AllocationId{i}).kind];
  }
  return out;
}

// If a model is quantised to 4 or 8 bits, bitsandbytes allocates the weights of linear layers,
// which are modelled. The embedding, norms, biases and adapters are PyTorch's own.
TEST(Evidence, QuantisedWeightsAreModelled) {
  std::map<EvidenceKind, int> wide = ParametersOf({{"lora.rank", "8"}});
  EXPECT_EQ(wide[EvidenceKind::kModelled], 0);
  for (const char* bits : {"nf4", "int8"}) {
    const Settings settings = {{"lora.rank", "8"}, {"quantization", bits}};
    std::map<EvidenceKind, int> narrow = ParametersOf(settings);
    const int linears = 7 * 3;  // linear layers in kTinyQwen's three layers
    // NF4 has a second modelled block for each layer: the scales of its groups of elements.
    const int blocks = bits == std::string_view("nf4") ? 2 * linears : linears;
    EXPECT_EQ(narrow[EvidenceKind::kModelled], blocks) << bits;
    const auto modelled = ModelledIn(settings);
    ASSERT_TRUE(modelled.contains("Parameter")) << bits;
    EXPECT_EQ(modelled.at("Parameter"), "technique: Quantised base weights");
    EXPECT_FALSE(modelled.contains("Gradient")) << bits;
    EXPECT_FALSE(modelled.contains("Optimizer state")) << bits;
  }
  // NF4 dequantises the weights for each product, which needs modelled temporaries.
  EXPECT_TRUE(ModelledIn({{"lora.rank", "8"}, {"quantization", "nf4"}}).contains("Temporary"));
  const auto kept = ModelledIn({{"loss", "chunked"}, {"loss_keeps", "logits"}});
  ASSERT_FALSE(kept.empty());
  for (const auto& [category, source] : kept) EXPECT_EQ(source, "technique: Loss in chunks");
}

}  // namespace
}  // namespace vramscope::trainer
