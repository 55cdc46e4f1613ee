// Tests that the keys of a JSON file tell which reader it is for.
#include "profiler/run/configuration_kind.h"

#include <gtest/gtest.h>

#include <string>

#include "profiler/run/config_reader.h"

namespace vramscope::run {
namespace {

TEST(ConfigurationKind, ModelNamesMakeAConfigJson) {
  for (const char* text :
       {R"({"model_type": "gpt2", "n_embd": 768})", R"({"architectures": ["LlamaForCausalLM"]})",
        R"({"model_type": "gpt2", "batch": 4, "like": "a100"})"}) {
    EXPECT_EQ(KindOfConfiguration(text), ConfigurationKind::kModel) << text;
  }
}

TEST(ConfigurationKind, SettingsAndGroupsOfThemMakeARunJson) {
  for (const char* text :
       {R"({"model": "gpt2"})", R"({"seq": 128})", R"({"optimizer": {"name": "sgd"}})",
        R"({"checkpointing.mode": "every-k"})", R"({"microBatches": 2})",
        R"({"model": "gpt2", "device": {"like": "a100", "memory": "24GiB"}})"}) {
    EXPECT_EQ(KindOfConfiguration(text), ConfigurationKind::kRun) << text;
  }
}

TEST(ConfigurationKind, FiguresOfAGpuMakeADeviceFile) {
  for (const char* text :
       {R"({"like": "a100", "memory": "24GiB"})", R"({"name": "My GPU", "multiprocessors": 40})",
        R"({"compute_capability": "8.6"})"}) {
    EXPECT_EQ(KindOfConfiguration(text), ConfigurationKind::kDevice) << text;
  }
}

TEST(ConfigurationKind, OtherObjectsAreUnknown) {
  for (const char* text :
       {"{}", R"({"name": "package", "version": "1.0"})", R"({"hidden_size": 768})",
        R"({"model_type": 3})", R"({"memory": "24GiB"})"}) {
    EXPECT_EQ(KindOfConfiguration(text), ConfigurationKind::kUnknown) << text;
  }
}

TEST(ConfigurationKind, OtherTextsAreMalformed) {
  const std::string large = R"({"model": ")" + std::string(kMaxConfigBytes, 'x') + R"("})";
  for (const std::string& text : {std::string(), std::string("no JSON"), std::string("[1, 2]"),
                                  std::string("{\"model\": "), large}) {
    EXPECT_EQ(KindOfConfiguration(text), ConfigurationKind::kMalformed) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace vramscope::run
