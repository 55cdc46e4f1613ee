// Runs `selfcheck` on all recordings of the repository, on made-up recordings and on random runs.
// No figure may differ between commands. `selfcheck` must also find planted differences.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "app/cli/selfcheck/report.h"
#include "profiler/base/i18n.h"
#include "profiler/run/check_run.h"
#include "profiler/run/toggles.h"
#include "profiler/trace/writer.h"
#include "tests/app/sample_snapshot.h"
#include "tests/profiler/agreement/random_devices.h"

namespace vramscope::test {
namespace {

using nlohmann::json;

Outcome RunSelfcheck(const std::vector<std::string>& of) {
  std::vector<std::string> arguments = {"selfcheck"};
  arguments.insert(arguments.end(), of.begin(), of.end());
  arguments.emplace_back("--json");
  return RunVramscope(arguments);
}

void ExpectNoDifference(const Outcome& outcome) {
  ASSERT_THAT(outcome.status, ::testing::AnyOf(0, 1)) << outcome.err;
  const json report = json::parse(outcome.out);
  EXPECT_GT(report["comparisons"], 100);
  for (const json& group : report["groups"]) EXPECT_EQ(group["failed"], 0) << group.dump(2);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(report["ok"], true);
}

void ExpectNoDifference(const std::vector<std::string>& of) {
  ExpectNoDifference(RunSelfcheck(of));
}

// Returns the recordings and plans of the repository, as paths relative to its root.
std::vector<std::string> GoldenFiles() {
  std::vector<std::string> files;
  const std::filesystem::path root = VRAMSCOPE_SOURCE_DIR;
  for (const char* folder : {"tests/golden", "resources/samples"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string name = entry.path().filename();
      // golden/trace contains samples of the format, with random sizes and times that no allocator
      // produces; golden/window contains files that are wrong on purpose.
      const std::string parent = entry.path().parent_path().filename();
      if (parent == "trace" || parent == "window") continue;
      // ops.json.zst contains a table of operators and is not a recording.
      if (name.ends_with(".trace") || name.ends_with(".pickle.zst") ||
          (name.ends_with(".json.zst") && name != "ops.json.zst"))
        files.push_back(std::filesystem::relative(entry.path(), root));
    }
  }
  std::ranges::sort(files);
  return files;
}

class SelfcheckGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(SelfcheckGolden, NoFigureDiffers) {
  ExpectNoDifference({std::string(VRAMSCOPE_SOURCE_DIR) + "/" + GetParam()});
}

INSTANTIATE_TEST_SUITE_P(Files, SelfcheckGolden, ::testing::ValuesIn(GoldenFiles()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace_if(
                               name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

class Selfcheck : public CliRecording {};

// The file has several devices with the same addresses, older blocks, private pools, retries and
// failed allocations. All devices have the same allocator settings, because they belong to one
// process.
TEST_F(Selfcheck, AgreesOnSeveralDevices) {
  for (const bool expandable : {false, true}) {
    for (const uint64_t memory : {uint64_t{0}, uint64_t{400} << 20}) {
      SCOPED_TRACE(fmt::format("expandable {}, {} bytes", expandable, memory));
      const std::string file = folder_ / "devices.trace";
      const agreement::RandomDevicesOptions options = {
          .seed = 7,
          .devices = {0, 2},
          .expandable = expandable,
          .all_alike = true,
          .device_memory_bytes = memory,
          // With little memory, allocations fail; a recording does not state their private pool.
          .mempools = memory == 0 ? 2u : 1u};
      ASSERT_TRUE(trace::WriteTraceFile(*agreement::MakeRandomDevices(options).trace, file).ok());
      const Outcome outcome = RunSelfcheck({file});
      ExpectNoDifference(outcome);
      size_t compared = 0;
      const json report = json::parse(outcome.out);
      for (const json& group : report["groups"])
        compared += std::string(group["name"]).ends_with(" (cuda:2)") && group["comparisons"] > 0;
      EXPECT_GT(compared, 10u);  // the second device was also compared
    }
  }
}

// Synthetic snapshots of a few steps, with leaks, failed allocations and step marks.
TEST_F(Selfcheck, AgreesOnSyntheticSnapshots) {
  for (int which = 0; which < 8; ++which) {
    const SnapshotOptions options{
        .leak = (which & 1) != 0, .oom = (which & 2) != 0, .marks = (which & 4) != 0};
    SCOPED_TRACE(which);
    ExpectNoDifference({Write(fmt::format("made-{}.json", which), options)});
  }
}

TEST_F(Selfcheck, RejectsUncheckableInput) {
  EXPECT_EQ(RunVramscope({"selfcheck", folder_ / "missing"}).status, 3);
  EXPECT_EQ(RunVramscope({"selfcheck", "-"}).status, 2);
  EXPECT_EQ(RunVramscope({"selfcheck", "x.trace", "--preset", "gpt2"}).status, 2);
}

// Models of each kind, so small that a plan takes less than a second.
struct SmallModel {
  const char* name;
  const char* config;
};
constexpr SmallModel kModels[] = {
    {"qwen2", R"({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "vocab_size": 1000,
      "hidden_size": 128, "intermediate_size": 352, "num_hidden_layers": 3, "num_attention_heads": 4,
      "num_key_value_heads": 2, "max_position_embeddings": 256, "rms_norm_eps": 1e-6})"},
    {"gpt2", R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 1000,
      "n_embd": 96, "n_layer": 2, "n_head": 4, "n_positions": 256})"},
    {"bert", R"({"model_type": "bert", "architectures": ["BertForSequenceClassification"],
      "vocab_size": 1000, "hidden_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
      "intermediate_size": 256, "max_position_embeddings": 256, "type_vocab_size": 2})"},
    {"t5", R"({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"],
      "vocab_size": 1000, "d_model": 64, "d_kv": 16, "d_ff": 128, "num_heads": 4, "num_layers": 2})"},
    {"vit", R"({"model_type": "vision_transformer", "image_size": 32, "patch_size": 8,
      "num_layers": 3, "num_heads": 4, "hidden_dim": 64, "mlp_dim": 128, "num_classes": 10})"},
};

// Chooses one of the values with only the generator, because distributions differ between
// libraries.
template <class T, size_t n>
T OneOf(std::mt19937_64& random, const T (&values)[n]) {
  return values[random() % n];
}

// Returns a random run: a small model with compatible techniques, ranks and allocator settings.
run::RunConfig DrawRun(std::mt19937_64& random) {
  for (;;) {
    const SmallModel model = OneOf(random, kModels);
    run::RunConfig config;
    config.model = model.name;
    config.model_config_json = model.config;
    config.batch = OneOf(random, {1, 2, 4, 8});
    config.seq = OneOf(random, {16, 33, 64});
    config.micro_batches = OneOf(random, {1, 1, 1, 2});
    config.steps = OneOf(random, {1, 2, 3});
    config.device = OneOf(random, {"h100-sxm", "rtx-4090", "rtx-3060-12gb"});
    config.alloc_conf =
        OneOf(random, {"", "", "expandable_segments:True", "expandable_segments:True",
                       "max_split_size_mb:64", "roundup_power2_divisions:4",
                       "garbage_collection_threshold:0.6",
                       "expandable_segments:True,roundup_power2_divisions:8",
                       "expandable_segments:True,garbage_collection_threshold:0.8"});
    if (random() % 4 == 0) {
      config.Set("shard.strategy",
                 OneOf(random, {"ddp", "zero1", "zero2", "zero3", "tensor", "zero3"}));
      config.Set("shard.ranks", OneOf(random, {"2", "4"}));
      config.Set("shard.implementation", OneOf(random, {"fsdp2", "fsdp2", "fsdp1"}));
    }
    if (random() % 3 == 0)
      config.Set("optimizer.impl", OneOf(random, {"loop", "foreach", "fused"}));
    if (random() % 3 == 0) config.Set("empty_cache", "step");
    for (uint64_t left = random() % 5; left > 0; --left) {
      const run::Toggle& toggle = *run::Toggles()[random() % run::Toggles().size()].toggle;
      if (run::BlockedBecause(toggle, config).empty()) config = run::SwitchedOn(toggle, config);
    }
    if (run::CheckRun(config).ok()) return config;
  }
}

class SelfcheckRuns : public CliRecording, public ::testing::WithParamInterface<uint64_t> {};

// If a figure differs, the run's command line is printed.
TEST_P(SelfcheckRuns, NoFigureDiffers) {
  std::mt19937_64 random(GetParam());
  // Only the trainer refuses some configurations. Draws another one then.
  for (int draw = 0; draw < 20; ++draw) {
    const run::RunConfig config = DrawRun(random);
    const std::string model = folder_ / "config.json";
    WriteFile(model, config.model_config_json);
    std::vector<std::string> run = {"--model", model, "--device", config.device};
    const auto set = [&](const std::string& key, const std::string& value) {
      run.insert(run.end(), {"--set", key + "=" + value});
    };
    set("batch", std::to_string(config.batch));
    set("seq", std::to_string(config.seq));
    set("micro_batches", std::to_string(config.micro_batches));
    set("steps", std::to_string(config.steps));
    set("alloc_conf", config.alloc_conf);
    for (const auto& [key, value] : config.settings) set(key, value);
    SCOPED_TRACE(
        fmt::format("seed {}: {} {}", GetParam(), config.model, ::testing::PrintToString(run)));
    const Outcome outcome = RunSelfcheck(run);
    if (outcome.status == 3) continue;
    if (outcome.err.find("worker") != std::string::npos)
      GTEST_SKIP() << "needs vramscope-worker (LibTorch)";
    ExpectNoDifference(outcome);
    RecordProperty("comparisons", json::parse(outcome.out)["comparisons"].get<int>());
    return;
  }
  FAIL() << "the trainer refused every draw of seed " << GetParam();
}

// VRAMSCOPE_RANDOM_RUNS sets the number of runs, for example 200, which is more than in CI.
std::vector<uint64_t> Seeds() {
  const char* runs = std::getenv("VRAMSCOPE_RANDOM_RUNS");
  std::vector<uint64_t> seeds(runs != nullptr ? std::strtoull(runs, nullptr, 10) : 40);
  std::iota(seeds.begin(), seeds.end(), uint64_t{3000});
  return seeds;
}

INSTANTIATE_TEST_SUITE_P(Random, SelfcheckRuns, ::testing::ValuesIn(Seeds()),
                         [](const auto& info) { return fmt::format("seed{}", info.param); });

TEST(SelfcheckReport, CountsDifferingValuesAsFailures) {
  using cli::Json;
  cli::selfcheck::Report report;
  report.Begin("group");
  report.Equal("same", Json(1), Json(1));
  EXPECT_EQ(report.failed(), 0u);
  report.Equal("other", Json(1), Json(2));
  report.Equal("missing on both sides", Json(), Json());
  report.True("false", false, "why");
  report.Begin("nothing");
  report.Skip("no reason");
  EXPECT_EQ(report.comparisons(), 4u);
  EXPECT_EQ(report.failed(), 3u);
  const std::string text = cli::selfcheck::ReportText(report);
  EXPECT_THAT(text, ::testing::HasSubstr("FAIL  group: 4 comparisons, 3 failed"));
  EXPECT_THAT(text, ::testing::HasSubstr("other: 1 and 2"));
  EXPECT_THAT(text, ::testing::HasSubstr("SKIP  nothing: no reason"));
  EXPECT_THAT(text, ::testing::HasSubstr("4 comparisons, 3 failed"));
  EXPECT_EQ(cli::selfcheck::ReportJson(report)["ok"], false);
}

TEST(SelfcheckReport, TextIsTranslatedAndJsonIsNot) {
  using cli::Json;
  cli::selfcheck::Report report;
  report.Begin(i18n::English("{} (cuda:{})", "memory adds up", 1));
  report.Equal(i18n::English("event {}", 5) + ": the pools add up", Json(1), Json(2));
  i18n::SetTranslator([](const std::string& english) -> std::string {
    if (english == "{} (cuda:{})") return "({1}) {0}";
    if (english == "memory adds up") return "MEMORY";
    if (english == "event {}") return "EVENT {}";
    if (english == "the pools add up") return "RESERVED";
    return "";
  });
  const std::string text = cli::selfcheck::ReportText(report);
  const Json json = cli::selfcheck::ReportJson(report);
  i18n::SetTranslator(nullptr);
  EXPECT_THAT(text, ::testing::HasSubstr("FAIL  (1) MEMORY: 1 comparison"));
  EXPECT_THAT(text, ::testing::HasSubstr("EVENT 5: RESERVED: 1 and 2"));
  EXPECT_EQ(json["groups"][0]["name"], "memory adds up (cuda:1)");
  EXPECT_EQ(json["groups"][0]["differences"][0]["what"], "event 5: the pools add up");
}

}  // namespace
}  // namespace vramscope::test
