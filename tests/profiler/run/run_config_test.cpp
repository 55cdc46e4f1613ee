#include "profiler/run/run_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "profiler/run/config_proto.h"

namespace vramscope::run {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(RunConfigBuilder, BuildsDefaults) {
  const RunConfig config = RunConfigBuilder().Build().value();
  EXPECT_EQ(config.model, "qwen2-0.5b");
  EXPECT_EQ(nlohmann::json::parse(config.model_config_json)["hidden_size"], 896);
  EXPECT_EQ(config.batch, 2);
  EXPECT_EQ(config.Get("optimizer.impl"), "foreach");
}

TEST(RunConfigBuilder, SetsEveryKindOfValue) {
  RunConfigBuilder b;
  const std::pair<const char*, const char*> settings[] = {{"model", "gpt2"},
                                                          {"batch", "4"},
                                                          {"seq", "1024"},
                                                          {"micro_batches", "8"},
                                                          {"steps", "2"},
                                                          {"precision", "amp-fp16"},
                                                          {"optimizer.name", "sgd"},
                                                          {"optimizer.impl", "fused"},
                                                          {"optimizer.lr", "5e-5"},
                                                          {"optimizer.momentum", "0.9"},
                                                          {"checkpointing.mode", "every-k"},
                                                          {"checkpointing.k", "3"},
                                                          {"attention", "flash"},
                                                          {"lora.rank", "8"},
                                                          {"lora.alpha", "32"},
                                                          {"lora.dropout", "0.05"},
                                                          {"lora.targets", "c_attn, c_proj"},
                                                          {"zero_grad", "zero"},
                                                          {"trainable", "*.mlp.*"},
                                                          {"device", "a100-40gb"},
                                                          {"seed", "-12"},
                                                          {"backend", "cpu"}};
  for (const auto& [key, value] : settings) ASSERT_EQ(Message(b.Set(key, value)), "") << key;
  const RunConfig c = b.Build().value();
  EXPECT_EQ(c.model, "gpt2");
  EXPECT_EQ(nlohmann::json::parse(c.model_config_json)["n_embd"], 768);
  EXPECT_EQ(c.batch, 4);
  EXPECT_EQ(c.seq, 1024);
  EXPECT_EQ(c.micro_batches, 8);
  EXPECT_EQ(c.steps, 2);
  EXPECT_EQ(c.Get("precision"), "amp-fp16");
  EXPECT_EQ(c.Get("optimizer.name"), "sgd");
  EXPECT_EQ(c.Get("optimizer.impl"), "fused");
  EXPECT_EQ(c.Number("optimizer.lr"), 5e-5);
  EXPECT_EQ(c.Number("optimizer.momentum"), 0.9);
  EXPECT_EQ(c.Get("checkpointing.mode"), "every-k");
  EXPECT_EQ(c.Integer("checkpointing.k"), 3);
  EXPECT_EQ(c.Get("attention"), "flash");
  EXPECT_EQ(c.Integer("lora.rank"), 8);
  EXPECT_EQ(c.Names("lora.targets"), (std::vector<std::string>{"c_attn", "c_proj"}));
  EXPECT_EQ(c.Get("zero_grad"), "zero");
  EXPECT_EQ(c.Get("trainable"), "*.mlp.*");
  EXPECT_EQ(c.device, "a100-40gb");
  EXPECT_EQ(c.seed, -12);
  EXPECT_EQ(c.backend, Backend::kCpu);
}

TEST(RunConfigBuilder, ErrorsNameKeyValueAndAllowedValues) {
  RunConfigBuilder b;
  EXPECT_THAT(Message(b.Set("batch", "-1")),
              AllOf(HasSubstr("batch"), HasSubstr("-1"), HasSubstr("65536")));
  EXPECT_THAT(Message(b.Set("batch", "two")), HasSubstr("whole number"));
  EXPECT_THAT(Message(b.Set("precision", "fp8")),
              AllOf(HasSubstr("precision"), HasSubstr("fp8"), HasSubstr("amp-bf16")));
  EXPECT_THAT(Message(b.Set("bacth", "1")),
              AllOf(HasSubstr("bacth"), HasSubstr("did you mean \"batch\"")));
  EXPECT_THAT(Message(b.Set("optimizer", "adam")), HasSubstr("unknown key"));
  EXPECT_THAT(Message(b.Set("device", "rtx-4900")), HasSubstr("rtx-4090"));
  // The message must contain the key only once.
  EXPECT_THAT(Message(b.Set("device", "rtx-4900")),
              ::testing::StartsWith("device: the device table has no \"rtx-4900\""));
  EXPECT_THAT(Message(b.SetPreset("qwen2")), HasSubstr("qwen2-0.5b"));
  EXPECT_THAT(Message(b.Set("lora.dropout", "1.5")), HasSubstr("0.999"));
  EXPECT_THAT(Message(b.Set("custom_device.memory", "24 parsecs")),
              AllOf(HasSubstr("custom_device.memory"), HasSubstr("parsecs"), HasSubstr("GiB")));
  EXPECT_FALSE(b.Set("lora.targets", ",").ok());
  EXPECT_FALSE(b.Set("trainable", "").ok());
  EXPECT_FALSE(b.Set("seq", "1048577").ok());
  EXPECT_FALSE(b.Set("steps", "0").ok());
  EXPECT_TRUE(b.Build().ok()) << "a rejected value leaves the builder unchanged";
}

TEST(RunConfigBuilder, ReservedKeysAcceptOnlyTheirDefault) {
  struct Row {
    const char* key;
    const char* plain;
    const char* reserved;
  };
  for (const Row& row :
       {Row{"offload.parameters", "none", "nvme"}, {"lora.placement", "weight", "decoupled"}}) {
    RunConfigBuilder b;
    EXPECT_EQ(Message(b.Set(row.key, row.plain)), "") << row.key;
    const absl::Status status = b.Set(row.key, row.reserved);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << row.key << Message(status);
    EXPECT_THAT(Message(status),
                AllOf(HasSubstr(row.key), HasSubstr("not available in this version")));
    EXPECT_TRUE(b.Build().ok());
  }
}

TEST(RunConfigBuilder, WeightDecayDefaultsToThatOfTheOptimizer) {
  RunConfigBuilder b;
  EXPECT_EQ(b.Build()->Number("optimizer.weight_decay"), 0.01);
  ASSERT_TRUE(b.Set("optimizer.name", "sgd").ok());
  EXPECT_EQ(b.Build()->Number("optimizer.weight_decay"), 0.0);
  ASSERT_TRUE(b.Set("optimizer.weight_decay", "0.1").ok());
  EXPECT_EQ(b.Build()->Number("optimizer.weight_decay"), 0.1);
  ASSERT_TRUE(b.Set("optimizer.name", "adamw").ok());
  EXPECT_EQ(b.Build()->Number("optimizer.weight_decay"), 0.1);
}

TEST(RunConfigBuilder, SetValuesOverridePresetDefaults) {
  RunConfigBuilder b;
  ASSERT_TRUE(b.Set("steps", "2").ok());
  ASSERT_TRUE(b.SetPreset("basics-medium").ok());
  RunConfig c = b.Build().value();
  EXPECT_EQ(c.batch, 4);
  EXPECT_EQ(c.seq, 128);
  EXPECT_EQ(c.Get("optimizer.impl"), "loop");
  EXPECT_EQ(c.steps, 2) << "a value that was set before the preset is kept";
  ASSERT_TRUE(b.SetPreset("gpt2").ok());
  c = b.Build().value();
  EXPECT_EQ(c.seq, 512) << "another preset removes the defaults of the first";

  RunConfig start;
  start.batch = 7;
  start.device = "h100-sxm";
  RunConfigBuilder from(start);
  ASSERT_TRUE(from.SetPreset("basics-medium").ok());
  EXPECT_EQ(from.Build()->batch, 4);
  EXPECT_EQ(from.Build()->device, "h100-sxm");
}

TEST(RunConfigBuilder, ModelConfigMustBeAJsonObject) {
  RunConfigBuilder b;
  EXPECT_THAT(Message(b.SetModelConfig("my/config.json", "not json")),
              AllOf(HasSubstr("my/config.json"), HasSubstr("not JSON"), HasSubstr("line 1")));
  EXPECT_THAT(Message(b.SetModelConfig("c.json", "[1]")), HasSubstr("object"));
  EXPECT_THAT(Message(b.SetModelConfig("c.json", std::string(2 << 20, ' '))),
              HasSubstr("too large"));
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_THAT(Message(b.SetModelConfig("c.json", R"({"hidden_size":)" + deep + "}")),
              HasSubstr("nested"));
  ASSERT_TRUE(b.SetModelConfig("c.json", R"({"model_type": "llama"})").ok());
  EXPECT_EQ(b.Build()->model, "c.json");
}

TEST(RunConfigBuilder, LimitsTokensOfAPass) {
  RunConfigBuilder b;
  ASSERT_TRUE(b.Set("batch", "65536").ok());
  ASSERT_TRUE(b.Set("seq", "1048576").ok());
  EXPECT_THAT(Message(b.Build().status()), HasSubstr("tokens"));
}

TEST(RunConfigBuilder, ValidatesTheInitialConfig) {
  RunConfig start;
  start.batch = -3;
  EXPECT_THAT(Message(RunConfigBuilder(start).Build().status()), HasSubstr("batch"));
}

// Each field of the protobuf message must have a key. The message has a map for other keys.
TEST(Keys, CoverAllFieldsOfTheMessage) {
  std::set<std::string> keys;
  for (const KeyInfo& info : Keys()) {
    EXPECT_FALSE(info.help.empty()) << info.key;
    EXPECT_TRUE(keys.emplace(info.key).second) << info.key;
  }
  keys.insert("model_config_json");
  const std::vector<std::string> paths = FieldPaths();
  for (const std::string& path : paths) EXPECT_TRUE(keys.contains(path)) << path;
}

// Random values of all keys must survive conversion to JSON and to bytes.
TEST(RoundTrip, PreservesRandomConfigurations) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    RunConfigBuilder b;
    for (const KeyInfo& info : Keys()) {
      if (random() % 2) continue;
      std::string value;
      if (!info.choices.empty()) {
        value = info.choices[random() % info.choices.size()];
      } else {
        value = std::to_string(1 + random() % 9);
      }
      absl::Status set = b.Set(info.key, value);
      if (!set.ok() && value.size() == 1) set = b.Set(info.key, "0.5");
      (void)set;  // text keys refuse numbers
    }
    const absl::StatusOr<RunConfig> config = b.Build();
    ASSERT_TRUE(config.ok()) << config.status();
    const std::string json = ToJson(*config);
    EXPECT_THAT(json, HasSubstr("\"micro_batches\""));
    RunConfigBuilder again;
    ASSERT_EQ(Message(again.SetRunJson(json)), "") << json;
    EXPECT_EQ(ToJson(again.Build().value()), json);
    EXPECT_EQ(ToProtoBytes(again.Build().value()), ToProtoBytes(*config));
    const absl::StatusOr<RunConfig> back = FromProtoBytes(ToProtoBytes(*config));
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(ToJson(*back), json);
    EXPECT_EQ(back->model_config_json, config->model_config_json);
  }
}

TEST(RoundTrip, PreservesConfigOfCustomModel) {
  RunConfigBuilder b;
  const std::string text = R"({"model_type": "llama", "hidden_size": 64})";
  ASSERT_TRUE(b.SetModelConfig("tiny.json", text).ok());
  const RunConfig config = b.Build().value();
  RunConfigBuilder again;
  ASSERT_TRUE(again.SetRunJson(ToJson(config)).ok());
  EXPECT_EQ(again.Build()->model_config_json, text);
  EXPECT_EQ(again.Build()->model, "tiny.json");
  ASSERT_TRUE(again.SetModelConfig("caf\xe9.json", text).ok());
  EXPECT_TRUE(FromProtoBytes(ToProtoBytes(again.Build().value())).ok())
      << "the name may contain any bytes";
}

// The configuration of an imported recording contains texts from the file, which may be invalid.
TEST(RoundTrip, ReplacesInvalidUtf8) {
  RunConfig config;
  config.model = "caf\xe9";
  config.model_config_json = "{\"name\": \"\xff\"}";
  const absl::StatusOr<RunConfig> back = FromProtoBytes(ToProtoBytes(config));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->model, "caf\uFFFD");
  EXPECT_THAT(ToJson(config), HasSubstr("caf"));
  config.model.clear();
  config.model_config_json.clear();
  EXPECT_TRUE(FromProtoBytes(ToProtoBytes(config)).ok()) << "no model at all";
}

TEST(FromProtoBytes, RandomDamageDoesNotCrash) {
  std::mt19937 random(2);
  const std::string good = ToProtoBytes(RunConfigBuilder().Build().value());
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % (bytes.size() + 1));
    const absl::StatusOr<RunConfig> config = FromProtoBytes(bytes);
    if (config.ok()) {
      EXPECT_GE(config->batch, 1);
    }
  }
}

TEST(Presets, NameTheirModelType) {
  std::set<std::string> names;
  for (const ModelPreset& preset : ModelPresets()) {
    names.emplace(preset.name);
    EXPECT_TRUE(nlohmann::json::parse(preset.config_json).contains("model_type")) << preset.name;
  }
  for (const char* name : {"qwen2-0.5b", "gpt2", "gpt2-medium", "llama-3.2-1b", "basics-medium"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
}

}  // namespace
}  // namespace vramscope::run
