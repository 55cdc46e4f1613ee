#include "tests/trainer/models/families/family_checks.h"

namespace vramscope::trainer {
namespace {

using run::Backend;
using testing::HasSubstr;

run::RunConfig Config(const char* json = kTinyVit, Backend backend = Backend::kCpu) {
  run::RunConfig config = TinyConfig(backend, json);
  config.Set("attention", "math");
  return config;
}

TEST(Vit, Learns) { ExpectLearns(Config(), std::log(10.0), 1e-6); }

TEST(Vit, TechniquesKeepTheLosses) { ExpectTechniquesKeepTheLosses(Config()); }

TEST(Vit, LearnsWithMeanPooling) {
  const std::string json = With(kTinyVit, "\"num_classes\"",
                                R"("class_token": false, "image_size": [8, 12], "num_classes")");
  ExpectLearns(Config(json.c_str()), std::log(10.0), 1e-6);
}

TEST(Vit, PlanFreesEverything) { ExpectPlans(Config()); }

// Expects the number in torchvision's documentation of vit_l_16, and the number for 10 classes.
TEST(Vit, PublishedParameterCounts) {
  run::RunConfig config = Config(PresetText("vit-l-16-1000"));
  config.batch = 1;
  EXPECT_EQ(ParametersOf(config).count, 304326632u);
  config.model_config_json = PresetText("vit-l-16");
  EXPECT_EQ(ParametersOf(config).count, 303311882u);
  EXPECT_EQ(ParametersOf(config).layers, 24u);
  config.model_config_json = PresetText("vit-3b");
  EXPECT_EQ(ParametersOf(config).count, 3012773491u);
}

TEST(Vit, RejectsInvalidConfigurations) {
  const auto refusal = [](std::string_view from, std::string_view to) {
    return Refusal(Config(With(kTinyVit, from, to).c_str()));
  };
  EXPECT_THAT(refusal("\"num_heads\": 2", "\"num_heads\": 3"), HasSubstr("num_heads 3"));
  EXPECT_THAT(refusal("\"patch_size\": 4", "\"patch_size\": 3"), HasSubstr("patch_size 3"));
  EXPECT_THAT(refusal("\"image_size\": 8", "\"image_size\": [8]"), HasSubstr("image_size.width"));
  EXPECT_THAT(refusal("\"image_size\": 8", "\"image_size\": []"), HasSubstr("image_size.height"));
  EXPECT_THAT(refusal("\"image_size\": 8", "\"image_size\": 1e9"), HasSubstr("image_size"));
  EXPECT_THAT(refusal("\"num_layers\": 3,", ""), HasSubstr("missing key num_layers"));
  EXPECT_THAT(refusal("\"num_classes\": 10", "\"class_token\": false, \"pool\": \"class\""),
              HasSubstr("class_token"));
}

}  // namespace
}  // namespace vramscope::trainer
