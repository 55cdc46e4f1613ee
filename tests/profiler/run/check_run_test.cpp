#include "profiler/run/check_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace vramscope::run {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

RunConfig Built(const std::vector<std::pair<std::string, std::string>>& settings,
                const std::string& preset = "qwen2-0.5b") {
  RunConfigBuilder builder;
  EXPECT_TRUE(builder.SetPreset(preset).ok());
  for (const auto& [key, value] : settings) EXPECT_TRUE(builder.Set(key, value).ok()) << key;
  const absl::StatusOr<RunConfig> config = builder.Build();
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *config : RunConfig();
}

std::string Error(const RunConfig& config) {
  const absl::StatusOr<ModelConfig> model = CheckRun(config);
  EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(model.status().message());
}

TEST(CheckRun, AcceptsEveryPreset) {
  for (const ModelPreset& preset : ModelPresets()) {
    const auto model = CheckRun(Built({}, std::string(preset.name)));
    ASSERT_TRUE(model.ok()) << preset.name << model.status();
    EXPECT_TRUE(model->unknown.empty()) << preset.name << ::testing::PrintToString(model->unknown);
  }
}

TEST(CheckRun, NamesConflictingSettings) {
  EXPECT_THAT(Error(Built({{"batch", "3"}, {"micro_batches", "2"}})),
              HasSubstr("micro_batches = 2"));
  EXPECT_THAT(Error(Built({{"seq", "2048"}}, "gpt2")), HasSubstr("1024 positions"));
  EXPECT_THAT(Error(Built({{"precision", "bf16"}}, "basics-medium")), HasSubstr("amp-bf16"));
  EXPECT_THAT(Error(Built({{"attention", "math"}}, "basics-medium")), HasSubstr("eager"));
  EXPECT_THAT(Error(Built({{"attention", "efficient"}, {"backend", "cpu"}})),
              HasSubstr("no CPU implementation"));
  EXPECT_TRUE(CheckRun(Built({{"attention", "flash"}, {"backend", "cpu"}})).ok());
}

// The error recommends other settings, which must be valid.
TEST(CheckRun, FlashInFp32SuggestsValidSettings) {
  EXPECT_THAT(Error(Built({{"attention", "flash"}})),
              AllOf(HasSubstr("amp-bf16"), HasSubstr("attention to efficient or math")));
  for (const char* advice : {"efficient", "math"})
    EXPECT_TRUE(CheckRun(Built({{"attention", advice}})).ok()) << advice;
  for (const char* advice : {"bf16", "fp16", "amp-bf16", "amp-fp16"})
    EXPECT_TRUE(CheckRun(Built({{"attention", "flash"}, {"precision", advice}})).ok()) << advice;
}

TEST(CheckRun, ListsModulesIfLoraTargetsMatchNone) {
  EXPECT_THAT(
      Error(Built({{"lora.rank", "8"}}, "gpt2")),
      AllOf(HasSubstr("no linear module is named \"q_proj\""), HasSubstr("c_attn, c_proj")));
  EXPECT_THAT(Error(Built({{"lora.rank", "8"}}, "basics-medium")),
              HasSubstr("this model has none"));
  EXPECT_THAT(Error(Built({{"lora.rank", "8"}, {"lora.targets", "q_proj,nope"}})),
              AllOf(HasSubstr("\"nope\""), HasSubstr("gate_proj")));
  EXPECT_TRUE(
      CheckRun(Built({{"lora.rank", "8"}, {"lora.targets", "layers.3.self_attn.q_proj"}})).ok());
  EXPECT_TRUE(CheckRun(Built({{"lora.targets", "nope"}})).ok()) << "it is off";
}

std::vector<Assumption> AssumptionsOf(const RunConfig& config) {
  const auto model = CheckRun(config);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? Assumptions(config, *model) : std::vector<Assumption>();
}

const Assumption* About(const std::vector<Assumption>& all, std::string_view where) {
  for (const Assumption& a : all)
    if (a.where.find(where) != std::string::npos) return &a;
  return nullptr;
}

TEST(Assumptions, StatePrecisionOfTheCheckpoint) {
  auto all = AssumptionsOf(Built({}, "llama-3.2-1b"));
  ASSERT_NE(About(all, "torch_dtype"), nullptr);
  EXPECT_THAT(About(all, "torch_dtype")->what,
              AllOf(HasSubstr("fp32 in memory"), HasSubstr("bfloat16")));
  all = AssumptionsOf(Built({{"precision", "bf16"}}, "llama-3.2-1b"));
  EXPECT_EQ(About(all, "torch_dtype"), nullptr);
}

TEST(Assumptions, StateBytesOfTheKvCache) {
  // The size is 2 (keys, values) x 24 layers x 2 x 512 tokens x 2 heads of 64 x 4 bytes.
  auto all = AssumptionsOf(Built({}));
  ASSERT_NE(About(all, "use_cache"), nullptr);
  EXPECT_EQ(About(all, "use_cache")->bytes, 2ull * 24 * 2 * 512 * 2 * 64 * 4);
  EXPECT_EQ(About(AssumptionsOf(Built({{"checkpointing.mode", "layer"}})), "use_cache"), nullptr);
  EXPECT_EQ(About(AssumptionsOf(Built({}, "basics-medium")), "use_cache"), nullptr);
}

TEST(Assumptions, StateHostTimesForPlansOnly) {
  EXPECT_NE(About(AssumptionsOf(Built({})), "host times"), nullptr);
  RunConfig computed = Built({});
  computed.backend = Backend::kCpu;
  EXPECT_EQ(About(AssumptionsOf(computed), "host times"), nullptr);
}

TEST(Assumptions, NameModelledTechniques) {
  const RunConfig config = Built({{"quantization", "nf4"},
                                  {"lora.rank", "8"},
                                  {"optimizer.bits", "8"},
                                  {"activation_compression", "int8"}});
  auto all = AssumptionsOf(config);
  for (const char* where : {"Quantised base weights", "8-bit Adam", "Activations in 8 bits"}) {
    ASSERT_NE(About(all, where), nullptr) << where;
  }
  EXPECT_THAT(About(all, "Quantised base weights")->what, HasSubstr("4-bit kernels are modelled"));
  all = AssumptionsOf(Built({{"optimizer.name", "lion"}, {"optimizer.impl", "loop"}}));
  ASSERT_NE(About(all, "optimizer: Lion"), nullptr);
  // A run without modelled techniques has no assumption about a technique. Neither has a run on the
  // CPU.
  all = AssumptionsOf(Built({}));
  EXPECT_EQ(About(all, "technique: "), nullptr);
  EXPECT_EQ(About(all, "optimizer: "), nullptr);
  RunConfig computed = config;
  computed.backend = Backend::kCpu;
  EXPECT_EQ(About(AssumptionsOf(computed), "technique: "), nullptr);
}

TEST(Assumptions, StateBytesOfSkippedKbitPreparation) {
  const std::vector<std::pair<std::string, std::string>> qlora = {
      {"quantization", "nf4"}, {"lora.rank", "8"}, {"precision", "bf16"}};
  const auto all = AssumptionsOf(Built(qlora, "llama-3.2-1b"));
  const Assumption* said = About(all, "setting: prepare_kbit_training");
  ASSERT_NE(said, nullptr);
  EXPECT_EQ(said->bytes, 2ull * 128'256 * 2048);  // tied: one matrix, 2 more bytes per weight
  for (const std::pair<std::string, std::string>& instead :
       {std::pair<std::string, std::string>{"prepare_kbit_training", "true"},
        {"precision", "amp-bf16"},
        {"mode", "inference"},
        {"quantization", "none"}}) {
    auto other = qlora;
    other.push_back(instead);
    EXPECT_EQ(About(AssumptionsOf(Built(other, "llama-3.2-1b")), "prepare_kbit_training"), nullptr)
        << instead.first;
  }
}

// prepare_kbit_training makes hidden states fp32, which flash attention does not support.
TEST(CheckRun, RejectsFlashAfterKbitPreparation) {
  EXPECT_THAT(Error(Built({{"quantization", "nf4"},
                           {"lora.rank", "8"},
                           {"precision", "bf16"},
                           {"attention", "flash"},
                           {"prepare_kbit_training", "true"}})),
              HasSubstr("attention=efficient"));
}

// Users may change a technique's settings before they switch it on. A note then says that the
// setting has no effect.
TEST(Assumptions, NameSettingsWithoutEffect) {
  using Set = std::vector<std::pair<std::string, std::string>>;
  const auto said = [](const Set& settings, const std::string& key) {
    const RunConfig config = Built(settings);
    EXPECT_TRUE(CheckRun(config).ok());
    for (const Assumption& a : AssumptionsOf(config)) {
      if (a.what.starts_with(key + " ") && a.what.find("has no effect") != std::string::npos)
        return a.what;
    }
    return std::string();
  };
  struct Case {
    std::pair<std::string, std::string> set;
    Set without, with;  // `without`: the technique has no effect; `with`: it has one
  };
  for (const Case& one : std::vector<Case>{
           {{"offload.path", "/tmp"}, {}, {{"offload.optimizer", "nvme"}}},
           {{"offload.path", "/tmp"},
            {{"offload.optimizer", "cpu"}},
            {{"offload.optimizer", "nvme"}}},
           {{"lora.dropout", "0.1"}, {}, {{"lora.rank", "8"}}},
           {{"lora.kind", "dora"}, {}, {{"lora.rank", "8"}}},
           {{"checkpointing.reentrant", "false"}, {}, {{"checkpointing.mode", "attention"}}},
           {{"checkpointing.k", "3"},
            {{"checkpointing.mode", "layer"}},
            {{"checkpointing.mode", "every-k"}}},
           {{"loss_chunks", "4"}, {}, {{"loss", "chunked"}}},
           {{"optimizer.momentum", "0.9"}, {}, {{"optimizer.name", "sgd"}}},
           {{"optimizer.library", "torchao"}, {}, {{"optimizer.bits", "8"}}},
           {{"optimizer.embedding_bits", "8"}, {}, {{"optimizer.bits", "8"}}},
           {{"optimizer.embedding_bits", "8"},
            {{"optimizer.bits", "8"}, {"optimizer.library", "torchao"}},
            {{"optimizer.bits", "8"}, {"optimizer.paged", "true"}}},
           {{"galore.targets", "mlp"}, {}, {{"galore.rank", "64"}}},
           {{"prepare_kbit_training", "true"}, {}, {{"quantization", "nf4"}, {"lora.rank", "8"}}},
           {{"shard.implementation", "fsdp1"},
            {},
            {{"shard.strategy", "zero3"}, {"shard.ranks", "4"}}},
           {{"shard.limit_all_gathers", "false"},
            {{"shard.strategy", "zero3"}, {"shard.ranks", "4"}},
            {{"shard.strategy", "zero3"}, {"shard.ranks", "4"}, {"shard.implementation", "fsdp1"}}},
           {{"eval_keeps_logits", "true"}, {}, {{"eval", "no_grad"}}},
           {{"cast_cache", "false"}, {}, {{"precision", "amp-bf16"}}},
           {{"generate.cache", "static"}, {}, {{"generate.tokens", "4"}}}}) {
    Set with = one.with, without = one.without;
    with.push_back(one.set);
    without.push_back(one.set);
    EXPECT_THAT(said(without, one.set.first), HasSubstr("has no effect")) << one.set.first;
    EXPECT_EQ(said(with, one.set.first), "");
  }
  // These settings switch their technique on, so they always have an effect.
  for (const auto& [key, value] : Set{{"precision", "fp16"},
                                      {"optimizer.name", "adafactor"},
                                      {"trainable", "*.q_proj.*"},
                                      {"checkpointing.mode", "selective"},
                                      {"shard.strategy", "none"}}) {
    EXPECT_EQ(said({{key, value}, {"optimizer.impl", "loop"}}, key), "") << key;
  }
}

TEST(Assumptions, StateContextSizeOfTheDeviceTable) {
  const auto all = AssumptionsOf(Built({{"device", "rtx-3090"}}));
  ASSERT_NE(About(all, "device table: rtx-3090"), nullptr);
  EXPECT_EQ(About(all, "device table")->bytes, FindDevice("rtx-3090")->context_bytes);
}

TEST(Assumptions, NameUnknownKeysOfTheModelConfig) {
  RunConfig config = Built({});
  nlohmann::json json = nlohmann::json::parse(config.model_config_json);
  for (int i = 0; i < 20; ++i) json["foo" + std::to_string(i)] = 1;
  config.model_config_json = json.dump();
  const auto all = AssumptionsOf(config);
  ASSERT_NE(About(all, "config.json"), nullptr);
  bool named = false;
  for (const Assumption& a : all)
    named = named || (a.what.find("foo0") != std::string::npos &&
                      a.what.find("12 more") != std::string::npos);
  EXPECT_TRUE(named);
}

}  // namespace
}  // namespace vramscope::run
