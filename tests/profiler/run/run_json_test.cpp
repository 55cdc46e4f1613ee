// Tests reading of valid run.json files, and the errors for invalid ones.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "profiler/run/run_config.h"

namespace vramscope::run {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Error(std::string_view json) {
  RunConfigBuilder b;
  return std::string(b.SetRunJson(json).message());
}

RunConfig Read(std::string_view json) {
  RunConfigBuilder b;
  const absl::Status status = b.SetRunJson(json);
  EXPECT_TRUE(status.ok()) << status << " " << json;
  return b.Build().value();
}

TEST(RunJson, ReadsNestedAndDottedKeys) {
  for (const char* json :
       {R"({"checkpointing": {"mode": "every-k", "k": 3}, "optimizer": {"lr": 0.5}})",
        R"({"checkpointing.mode": "every-k", "checkpointing.k": 3, "optimizer.lr": 0.5})",
        R"({"checkpointing": {"mode": "every-k"}, "optimizer.lr": 0.5, "checkpointing.k": 3})"}) {
    const RunConfig c = Read(json);
    EXPECT_EQ(c.Get("checkpointing.mode"), "every-k") << json;
    EXPECT_EQ(c.Integer("checkpointing.k"), 3) << json;
    EXPECT_EQ(c.Number("optimizer.lr"), 0.5) << json;
  }
}

TEST(RunJson, ReadsCamelCaseNullAndQuotedNumbers) {
  const RunConfig c = Read(R"({"model": "gpt2", "microBatches": 4, "zero_grad": "zero",
      "seed": "77", "lora": {"rank": 4, "alpha": null}, "optimizer": null,
      "optimizer.weightDecay": 0.5, "customDevice": {"memory": 8589934592}, "initOnDevice": false})");
  EXPECT_EQ(c.micro_batches, 4);
  EXPECT_EQ(c.Get("zero_grad"), "zero");
  EXPECT_EQ(c.seed, 77);
  EXPECT_EQ(c.Integer("lora.rank"), 4);
  EXPECT_EQ(c.Number("lora.alpha"), 16);
  EXPECT_EQ(c.Number("optimizer.weight_decay"), 0.5);
  EXPECT_EQ(c.custom_device.memory_bytes, 8ull << 30);
}

TEST(RunJson, ReadsWholeNumbersWrittenAsFloats) {
  EXPECT_EQ(Read(R"({"batch": 4.0, "seq": 1e3})").seq, 1000);
  EXPECT_THAT(Error(R"({"batch": 4.5})"), AllOf(HasSubstr("4.5"), HasSubstr("whole number")));
  EXPECT_EQ(Read(R"({"seed": -9223372036854775808})").seed, INT64_MIN);
  EXPECT_EQ(Read(R"({"seed": 9223372036854775807})").seed, INT64_MAX);
  EXPECT_THAT(Error(R"({"seed": 9223372036854775808})"), HasSubstr("64-bit"));
}

TEST(RunJson, ReadsTargetsAsListOrText) {
  const std::vector<std::string> both = {"q_proj", "v_proj"};
  EXPECT_EQ(Read(R"({"lora": {"targets": ["q_proj", "v_proj"]}})").Names("lora.targets"), both);
  EXPECT_EQ(Read(R"({"lora.targets": ["q_proj", "v_proj"]})").Names("lora.targets"), both);
  EXPECT_EQ(Read(R"({"lora.targets": "q_proj, v_proj"})").Names("lora.targets"), both);
  for (const char* bad : {"[]", "[3]", "[\"\"]", "[\"q\", [\"v\"]]", "[null]", "[{}]", "[\"q;v\"]",
                          "7", "true", "{}"}) {
    EXPECT_THAT(Error(fmt::format(R"({{"lora.targets": {}}})", bad)),
                AllOf(HasSubstr("lora.targets"), HasSubstr("[\"q_proj\", \"v_proj\"]")))
        << bad;
  }
}

// Every error must contain the key, the value and the allowed values.
TEST(RunJson, ErrorsStateTheExpectedForm) {
  struct Row {
    const char* json;
    std::vector<const char*> expected_texts;
  };
  for (const Row& row : {
           Row{R"({"optimizer": {"nmae": "adam"}})", {"optimizer.nmae", "\"optimizer.name\""}},
           {R"({"optimizer.nmae": "adam"})", {"optimizer.nmae", "\"optimizer.name\""}},
           {R"({"optimizer": "adam"})", {"\"optimizer.name\": \"adam\"", "weight_decay"}},
           {R"({"lora": 8})", {"\"lora.rank\": 8", "{\"rank\": 8}"}},
           {R"({"custom_device": "24GiB"})", {"\"custom_device.memory\": \"24GiB\""}},
           {R"({"checkpointing": true})",
            {"\"checkpointing.reentrant\": true", "mode, k, reentrant"}},
           {R"({"optimizer": [1]})", {"[...]", "\"optimizer\": {\"name\": ...}"}},
           {R"({"batch": "many"})", {"batch", "\"many\"", "from 1 to 65536"}},
           {R"({"batch": -2})", {"batch", "-2", "from 1 to 65536"}},
           {R"({"batch": true})", {"batch", "true", "from 1 to 65536"}},
           {R"({"batch": [4]})", {"batch: [...]", "from 1 to 65536"}},
           {R"({"batch": {"size": 4}})", {"batch: {...}", "from 1 to 65536"}},
           {R"({"batch": 99999999999999999999999})", {"batch", "99999", "from 1 to 65536"}},
           {R"({"batch": 1e999})", {"batch", "1e999", "from 1 to 65536"}},
           {R"({"batch": 1, "batch": 2})", {"batch", "twice"}},
           {R"({"microBatches": 1, "micro_batches": 2})", {"micro_batches", "twice"}},
           {R"({"optimizer.lr": 1, "optimizer": {"lr": 2}})", {"optimizer.lr", "twice"}},
           {R"({"precision": "fp8"})", {"precision", "fp8", "amp-bf16"}},
           {R"({"precision": 16})", {"precision", "16", "amp-bf16"}},
           {R"({"optimizer.lr": "fast"})", {"optimizer.lr", "fast", "from 0 to 1000"}},
           {R"({"model": 7})", {"model: 7", "preset"}},
           {R"({"model_config_json": {"a": 1}})", {"model_config_json", "one string", "--model"}},
           {R"({"trainable": false})", {"trainable: false", "first-layer"}},
           {R"({"device": 4090})", {"device: 4090", "vramscope devices"}},
           {R"({"alloc_conf": 5})", {"alloc_conf: 5", "max_split_size_mb"}},
           {R"({"custom_device.memory": "lots"})", {"custom_device.memory", "24GiB"}},
           {R"({"": 1})", {"unknown key \"\""}},
           {R"({"optimizer.": 1})", {"unknown key \"optimizer.\""}},
           {R"({"lora": {"lora.rank": 1}})", {"unknown key \"lora.lora.rank\""}},
           {"{", {"not JSON", "line 1"}},
           {"", {"not JSON"}},
           {"{} {}", {"not JSON"}},
           {"[]", {"one JSON object"}},
           {"null", {"one JSON object"}},
           {"\"batch\"", {"one JSON object"}},
       }) {
    const std::string error = Error(row.json);
    for (const char* text : row.expected_texts) EXPECT_THAT(error, HasSubstr(text)) << row.json;
  }
  RunConfigBuilder b;
  EXPECT_EQ(b.SetRunJson(R"({"offload.parameters": "nvme"})").code(),
            absl::StatusCode::kUnimplemented);
}

TEST(RunJson, RejectedFileChangesNothing) {
  RunConfigBuilder b;
  ASSERT_TRUE(b.Set("batch", "7").ok());
  EXPECT_FALSE(b.SetRunJson(R"({"batch": 3, "model": "gpt2", "seq": 0})").ok());
  EXPECT_FALSE(b.SetRunJson(R"({"batch": 3, "model": "gpt3"})").ok());
  EXPECT_EQ(b.Build()->batch, 7);
  EXPECT_EQ(b.Build()->model, "qwen2-0.5b");
}

// Messages are printed to terminals and stored in protobuf, so they must be short, valid UTF-8, and
// without control characters.
TEST(RunJson, MessagesAreShortPrintableAscii) {
  const std::string escape = R"("\u001b[31m\u0000\u0085")";
  const std::string mebi(1 << 20, '9');
  const auto member = [](std::string_view key, std::string_view value) {
    return fmt::format("{{\"{}\": {}}}", key, value);
  };
  for (const std::string& json : std::vector<std::string>{
           fmt::format("{{{}: 1}}", escape), member("precision", escape), member("model", escape),
           member("device", escape), member("trainable", escape), member("optimizer", escape),
           member("alloc_conf", escape), member("precision", fmt::format("\"{}\"", mebi)),
           member("custom_device.memory", fmt::format("\"{}\"", mebi)), member("batch", mebi),
           member("\xff\x1b", "1"),
           member("precision", fmt::format("\"{}\xc3\xa9\"", mebi.substr(0, 199))), "\x1b[2J",
           fmt::format("{{\"model\": \"{}", mebi)}) {
    const std::string error = Error(json);
    EXPECT_FALSE(error.empty()) << json.substr(0, 40);
    // The longest messages list all keys. They must be below this limit.
    EXPECT_LT(error.size(), 3000u) << json.substr(0, 40);
    for (char c : error) EXPECT_TRUE(c >= ' ' && c <= '~') << error;
  }
}

TEST(RunJson, RejectsDeepAndLongTexts) {
  const std::string open(100000, '['), close(100000, ']');
  EXPECT_FALSE(Error(open).empty());
  EXPECT_FALSE(Error(R"({"lora":)" + open).empty());
  EXPECT_FALSE(Error(R"({"lora.targets":)" + open + close + "}").empty());
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += R"({"optimizer":)";
  EXPECT_FALSE(Error(objects).empty());
  EXPECT_THAT(Error(std::string(5 << 20, ' ')), HasSubstr("too large"));
}

// Each random text, made of parts of run.json files, must be refused with a message, or give a
// configuration that survives conversion to JSON.
TEST(RunJson, RandomTextsAreRejectedOrRoundTrip) {
  std::mt19937 random(7);
  const auto pick = [&](const auto& list) { return list[random() % std::size(list)]; };
  const char* values[] = {"1",           "4",        "0",
                          "-1",          "2.5",      "1e400",
                          "1e2",         "true",     "null",
                          "\"layer\"",   "\"fp32\"", "\"sgd\"",
                          "\"\"",        "{}",       "[]",
                          "\"24GiB\"",   "\"gpt2\"", "[\"q_proj\"]",
                          "\"1\"",       "\"all\"",  "18446744073709551616",
                          "\"rtx-3090\""};
  const char* noise[] = {"{", "}", "[", "]", ",", ":", "\"", "\\", "\xff", "e", "-", "9", " "};
  int read = 0;
  for (int round = 0; round < 8000; ++round) {
    std::string json = "{";
    const int entries = static_cast<int>(random() % 5);
    for (int i = 0; i < entries; ++i) {
      const std::string key(pick(Keys()).key);
      const size_t dot = key.find('.');
      const std::string value = pick(values);
      if (i > 0) json += ", ";
      if (dot != std::string::npos && random() % 2) {
        json +=
            fmt::format(R"("{}": {{"{}": {}}})", key.substr(0, dot), key.substr(dot + 1), value);
      } else {
        json += fmt::format(R"("{}": {})", key, value);
      }
    }
    json += "}";
    if (round % 2) {  // damages every second text
      for (int i = static_cast<int>(random() % 4); i >= 0; --i) {
        json.insert(random() % (json.size() + 1), pick(noise));
        if (random() % 2) json.erase(random() % json.size(), 1 + random() % 3);
      }
    }
    RunConfigBuilder b;
    const absl::Status status = b.SetRunJson(json);
    if (!status.ok()) {
      EXPECT_FALSE(status.message().empty()) << json;
      continue;
    }
    const absl::StatusOr<RunConfig> config = b.Build();
    ASSERT_TRUE(config.ok()) << config.status() << " " << json;
    ++read;
    EXPECT_EQ(ToJson(Read(ToJson(*config))), ToJson(*config)) << json;
  }
  EXPECT_GT(read, 500) << "too few of the random texts are valid";
}

}  // namespace
}  // namespace vramscope::run
