// `selfcheck` over every recording of tests/golden, made recordings and random runs: no figure
// differs between commands. And it finds what does differ.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "app/cli/selfcheck/report.h"
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

std::vector<std::string> GoldenFiles() {
  std::vector<std::string> files;
  const std::string folder = std::string(VRAMSCOPE_SOURCE_DIR) + "/tests/golden";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    // golden/trace has samples of the format: sizes and times in them are made at random, and no
    // allocator ever had them; golden/window has files that were made to be wrong.
    const std::string parent = entry.path().parent_path().filename();
    if (parent == "trace" || parent == "window") continue;
    if (name.ends_with(".trace") || name.ends_with(".pickle.zst"))
      files.push_back(std::filesystem::relative(entry.path(), folder));
  }
  std::ranges::sort(files);
  return files;
}

class SelfcheckGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(SelfcheckGolden, NoFigureDiffers) {
  ExpectNoDifference({std::string(VRAMSCOPE_SOURCE_DIR) + "/tests/golden/" + GetParam()});
}

INSTANTIATE_TEST_SUITE_P(Files, SelfcheckGolden, ::testing::ValuesIn(GoldenFiles()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace_if(
                               name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

class Selfcheck : public CliRecording {};

// Made at random: an import concludes categories where these say "Unknown", and of devices with
// other settings each the file states none, so those two groups are left out.
TEST_F(Selfcheck, SeveralDevices) {
  const std::string file = folder_ / "devices.trace";
  ASSERT_TRUE(trace::WriteTraceFile(*agreement::MakeRandomDevices({.seed = 7}).trace, file).ok());
  const json report = json::parse(RunSelfcheck({file}).out);
  size_t compared = 0;
  for (const json& group : report["groups"]) {
    const std::string name = group["name"];
    if (name.starts_with("replay") || name.starts_with("export --to snapshot")) continue;
    EXPECT_EQ(group["failed"], 0) << group.dump(2);
    compared += name.ends_with(" of cuda:1") ? 1 : 0;
  }
  EXPECT_GT(compared, 5u);  // the second device, too
}

// Recordings of a few steps, with what goes wrong in them and what the program marks.
TEST_F(Selfcheck, MadeSnapshots) {
  for (int which = 0; which < 8; ++which) {
    const SnapshotOptions options{
        .leak = (which & 1) != 0, .oom = (which & 2) != 0, .marks = (which & 4) != 0};
    SCOPED_TRACE(which);
    ExpectNoDifference({Write(fmt::format("made-{}.json", which), options)});
  }
}

TEST_F(Selfcheck, SaysWhatCannotBeChecked) {
  EXPECT_EQ(RunVramscope({"selfcheck", folder_ / "missing"}).status, 3);
  EXPECT_EQ(RunVramscope({"selfcheck", "-"}).status, 2);
  EXPECT_EQ(RunVramscope({"selfcheck", "x.trace", "--preset", "gpt2"}).status, 2);
}

// A small model under settings drawn at random; those that go with each other.
std::vector<std::string> RandomRun(std::mt19937_64& random, const std::string& model) {
  std::vector<std::string> run = {"--model", model};
  const auto set = [&](const std::string& key, std::initializer_list<const char*> values) {
    run.insert(run.end(), {"--set", key + "=" + *(values.begin() + random() % values.size())});
  };
  set("batch", {"2", "4", "8"});
  set("seq", {"16", "33", "64"});
  set("steps", {"1", "2", "3"});
  set("micro_batches", {"1", "1", "2"});
  set("precision", {"fp32", "bf16", "amp-bf16", "amp-fp16"});
  set("attention", {"eager", "math", "efficient"});
  set("optimizer.name", {"sgd", "adam", "adamw"});
  set("optimizer.impl", {"loop", "foreach", "fused"});
  set("checkpointing.mode", {"none", "layer", "every-k"});
  set("zero_grad", {"none", "zero"});
  set("trainable", {"all", "all", "first-layer", "last-layer"});
  // Without expandable segments, whose replay differs from the plan so far.
  set("alloc_conf", {"", "", "max_split_size_mb:64", "roundup_power2_divisions:4",
                     "garbage_collection_threshold:0.6"});
  set("device", {"h100-sxm", "rtx-4090", "rtx-3060-12gb"});
  return run;
}

TEST_F(Selfcheck, RandomRuns) {
  const char* asked = std::getenv("VRAMSCOPE_RANDOM_RUNS");
  const int runs = asked != nullptr ? std::atoi(asked) : 20;
  const std::string model = folder_ / "config.json";
  WriteFile(model, json{{"model_type", "llama"},
                        {"architectures", {"LlamaForCausalLM"}},
                        {"vocab_size", 1000},
                        {"hidden_size", 128},
                        {"intermediate_size", 352},
                        {"num_hidden_layers", 3},
                        {"num_attention_heads", 4},
                        {"num_key_value_heads", 2},
                        {"hidden_act", "silu"},
                        {"max_position_embeddings", 256},
                        {"rms_norm_eps", 1e-6}}
                       .dump());
  if (RunVramscope({"plan", "--model", model, "--json"}).err.find("worker") != std::string::npos)
    GTEST_SKIP() << "needs vramscope-worker (LibTorch)";
  std::mt19937_64 random(30);
  int refused = 0;
  for (int i = 0; i < runs; ++i) {
    const std::vector<std::string> run = RandomRun(random, model);
    SCOPED_TRACE(::testing::PrintToString(run));
    const Outcome outcome = RunSelfcheck(run);
    // Settings that exclude each other are refused, and another draw takes their place.
    if (outcome.status == 3 && ++refused < runs) {
      --i;
      continue;
    }
    ExpectNoDifference(outcome);
  }
}

TEST(SelfcheckReport, FailsWhereTwoValuesDiffer) {
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

}  // namespace
}  // namespace vramscope::test
