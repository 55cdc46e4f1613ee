// Runs `plan`, `run` and `check` with the real worker. Skipped if the worker is not built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/process.h"

namespace vramscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kGiB = 1073741824.0;

class CliRun : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* named = std::getenv("VRAMSCOPE_WORKER");
    const std::filesystem::path worker =
        std::filesystem::path(VRAMSCOPE_PROGRAM).parent_path() / "vramscope-worker";
    if (named == nullptr && !std::filesystem::exists(worker)) {
      GTEST_SKIP() << "vramscope-worker is not built (it needs LibTorch)";
    }
    // A model that is fast, and small enough for the cpu backend.
    tiny_ = folder_ / "tiny.json";
    WriteFile(tiny_, R"({"model_type": "llama", "vocab_size": 128, "hidden_size": 32,
        "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "hidden_act": "silu", "rms_norm_eps": 1e-5,
        "max_position_embeddings": 128, "rope_theta": 10000.0, "tie_word_embeddings": false})");
  }
  json Json(std::vector<std::string> arguments, int status = 0) {
    arguments.push_back("--json");
    const Outcome outcome = RunVramscope(arguments);
    EXPECT_EQ(outcome.status, status) << outcome.err;
    json parsed = json::parse(outcome.out, nullptr, false);
    EXPECT_TRUE(parsed.is_object()) << outcome.out;
    return parsed.is_object() ? parsed : json::object();
  }
  TemporaryFolder folder_;
  std::string tiny_;
};

void ExpectContract(const json& summary) {
  for (const char* key :
       {"backend", "measured", "device", "parameters", "before_training", "after_training", "peak",
        "peak_by_category", "steps", "events", "seconds", "fits"}) {
    EXPECT_TRUE(summary.contains(key)) << key;
  }
  for (const char* key : {"count", "trainable", "bytes"})
    EXPECT_TRUE(summary["parameters"].contains(key)) << key;
  for (const char* when : {"before_training", "after_training"}) {
    EXPECT_TRUE(summary[when]["allocated"].is_number_unsigned());
    EXPECT_LE(summary[when]["allocated"], summary[when]["reserved"]);
  }
  for (const char* key : {"allocated", "reserved", "step", "phase", "module", "op"}) {
    EXPECT_TRUE(summary["peak"].contains(key)) << key;
  }
  uint64_t sum = 0;
  for (const auto& [name, bytes] : summary["peak_by_category"].items())
    sum += bytes.get<uint64_t>();
  EXPECT_EQ(sum, summary["peak"]["allocated"]) << "the categories add up to the peak";
  ASSERT_FALSE(summary["steps"].empty());
  for (const char* key : {"index", "peak_allocated", "forward_ms", "backward_ms", "optimizer_ms"}) {
    EXPECT_TRUE(summary["steps"][0].contains(key)) << key;
  }
}

// This plan ran out of memory at its own limit. `check` cannot derive from it what the run needs
// with a larger limit, so it prints the command of a plan with that limit.
TEST_F(CliRun, CheckOfOutOfMemoryPlanPrintsPlanCommand) {
  const std::string file = folder_ / "out.trace", again = folder_ / "again.trace";
  const std::vector<std::string> run = {"plan",    "--preset", "gpt2",    "--set",
                                        "batch=8", "--device", "gtx-1650"};
  std::vector<std::string> command = run;
  command.insert(command.end(), {"-o", file});
  ASSERT_EQ(RunVramscope(command).status, 0);
  const Outcome unknown = RunVramscope({"check", file, "--budget", "24GiB"});
  EXPECT_EQ(unknown.status, 3) << unknown.err;
  EXPECT_THAT(unknown.out,
              AllOf(HasSubstr("it is unknown how much memory the run needs afterwards"),
                    HasSubstr("plan the run with --gpu-memory 25769803776B")));
  command = run;
  command.insert(command.end(), {"--gpu-memory", "25769803776B", "-o", again});
  ASSERT_EQ(RunVramscope(command).status, 0);
  EXPECT_EQ(Json({"check", again, "--budget", "24GiB"})["verdict"], "within");
}

// The expected figures are from a published run of this model.
TEST_F(CliRun, PlanOfQwenMatchesPublishedMemory) {
  const json fp32 = Json({"plan", "--preset", "qwen2-0.5b", "--set", "batch=2", "--set", "seq=512",
                          "--set", "optimizer.name=adamw"});
  ExpectContract(fp32);
  EXPECT_EQ(fp32["backend"], "plan");
  EXPECT_EQ(fp32["measured"], false);
  EXPECT_EQ(fp32["parameters"]["count"], 494032768);
  EXPECT_EQ(fp32["parameters"]["trainable"], 494032768);
  const double before = fp32["before_training"]["allocated"].get<double>() / kGiB;
  EXPECT_GE(before, 1.835);
  EXPECT_LE(before, 1.85);
  const double after = fp32["after_training"]["allocated"].get<double>() / kGiB;
  EXPECT_GE(after, 5.52);
  EXPECT_LE(after, 5.66);

  const json bf16 = Json({"plan", "--preset", "qwen2-0.5b", "--set", "batch=2", "--set", "seq=512",
                          "--set", "optimizer.name=adamw", "--set", "precision=bf16"});
  EXPECT_NEAR(bf16["before_training"]["allocated"].get<double>() / kGiB, 0.93, 0.006);
  EXPECT_NEAR(bf16["after_training"]["allocated"].get<double>() / kGiB, 2.80, 0.03);
}

TEST_F(CliRun, LoraTrainsOnlyAdapters) {
  const json lora = Json({"plan", "--preset", "qwen2-0.5b", "--set", "lora.rank=8", "--set",
                          "lora.targets=q_proj,v_proj"});
  EXPECT_EQ(lora["parameters"]["trainable"], 540672);
  EXPECT_NEAR(lora["before_training"]["allocated"].get<double>() / kGiB, 1.84, 0.006);
  EXPECT_NEAR(lora["after_training"]["allocated"].get<double>() / kGiB, 1.86, 0.006);
}

// The formulas for weights, gradients, optimizer state and a layer's activations give exactly the
// bytes that the plan requests.
TEST_F(CliRun, FormulasMatchThePlan) {
  for (const char* precision : {"fp32", "bf16", "amp-bf16"}) {
    for (const char* attention : {"eager", "math", "efficient"}) {
      const json estimate = Json({"estimate", "--plan", "--model", tiny_, "--set", "seq=64",
                                  "--set", std::string("precision=") + precision, "--set",
                                  std::string("attention=") + attention});
      int compared = 0;
      for (const json& line : estimate["formulas"]) {
        if (line["planned"].is_null() || line["id"].get<std::string>().starts_with("peak"))
          continue;
        ++compared;
        EXPECT_EQ(line["bytes"], line["planned"]) << precision << " " << attention << line["id"];
      }
      EXPECT_EQ(compared, 4);
    }
  }
}

TEST_F(CliRun, PlanIsDeterministic) {
  const std::string a = folder_ / "a.trace", b = folder_ / "b.trace";
  ASSERT_EQ(RunVramscope({"plan", "--model", tiny_, "--set", "seq=64", "-o", a}).status, 0);
  ASSERT_EQ(RunVramscope({"plan", "--model", tiny_, "--set", "seq=64", "-o", b}).status, 0);
  EXPECT_EQ(RunVramscope({"diff", a, b}).status, 0);
  EXPECT_EQ(RunVramscope({"diff", "--requests", a, b}).status, 0);
  EXPECT_EQ(RunVramscope({"requests", a}).out, RunVramscope({"requests", b}).out);
}

// Gradients must not be summed in the order of their addresses, which differs between runs.
TEST_F(CliRun, KernelsOfFp32GradientsAreDeterministic) {
  const auto activities = [this](const char* name) {
    const std::string trace = folder_ / name;
    EXPECT_EQ(RunVramscope({"plan", "--preset", "gpt2", "--set", "precision=bf16", "--set",
                            "gradients.dtype=fp32", "-o", trace})
                  .status,
              0);
    const Outcome chrome = RunVramscope({"export", trace, "--to", "chrome", "-o", "-"});
    EXPECT_EQ(chrome.status, 0);
    return chrome.out;
  };
  const std::string first = activities("a.trace");
  EXPECT_GT(first.size(), 1'000'000u);
  for (const char* again : {"b.trace", "c.trace"})
    EXPECT_TRUE(activities(again) == first) << "another order of kernels or times";
}

// Compares the plan's last step with the recorded CUDA step of the same model.
TEST_F(CliRun, PlanOfBasicsMediumMatchesRecordedStep) {
  const std::string recorded =
      VRAMSCOPE_SOURCE_DIR "/../shared/reference/medium_128_training_requests.csv.zst";
  if (!std::filesystem::exists(recorded)) {
    GTEST_SKIP() << "needs the recorded requests in ../shared/reference";
  }
  const std::string planned = folder_ / "m.trace";
  ASSERT_EQ(RunVramscope({"plan", "--preset", "basics-medium", "-o", planned}).status, 0);
  const json diff = Json({"diff", "--requests", planned, recorded});
  EXPECT_EQ(diff["requests"]["equal"], 12831);
  EXPECT_EQ(diff["requests"]["total"], 12831);
  EXPECT_EQ(diff["peak"]["a"], diff["peak"]["b"]);
  // Also compares the plan with the recorded snapshot.
  const std::string snapshot =
      VRAMSCOPE_SOURCE_DIR "/../shared/snapshots/medium_128_training.pickle.zst";
  if (!std::filesystem::exists(snapshot)) GTEST_SKIP() << "needs ../shared/snapshots";
  EXPECT_EQ(Json({"diff", "--requests", planned, snapshot})["requests"], diff["requests"]);
}

TEST_F(CliRun, PlanWritesTraceToStdout) {
  const Outcome plan =
      RunVramscope({"plan", "--model", tiny_, "--set", "seq=16", "--set", "steps=3", "-o", "-"});
  ASSERT_EQ(plan.status, 0) << plan.err;
  const Outcome info = RunVramscope({"info", "-", "--json"}, {.input = plan.out});
  EXPECT_EQ(info.status, 0) << info.err;
  EXPECT_EQ(json::parse(info.out)["steps"], 3);
}

TEST_F(CliRun, CpuRunIsMeasured) {
  const json cpu =
      Json({"run", "--backend", "cpu", "--model", tiny_, "--set", "seq=16", "--set", "steps=2"});
  ExpectContract(cpu);
  EXPECT_EQ(cpu["backend"], "cpu");
  EXPECT_EQ(cpu["measured"], true);
  EXPECT_EQ(cpu["steps"].size(), 2u);
}

// Planning Llama-2-70B on 8 GB is not an error: the plan reports how much memory is missing.
TEST_F(CliRun, LargeModelDoesNotFitOnSmallGpu) {
  const std::string large = folder_ / "70b.json";
  WriteFile(large, R"({"model_type": "llama", "vocab_size": 32000, "hidden_size": 8192,
      "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64,
      "num_key_value_heads": 8, "hidden_act": "silu", "rms_norm_eps": 1e-5,
      "max_position_embeddings": 4096, "rope_theta": 10000.0, "tie_word_embeddings": false})");
  const json plan =
      Json({"plan", "--model", large, "--set", "device=rtx-4060", "--set", "batch=1"});
  EXPECT_EQ(plan["fits"], false);
  EXPECT_EQ(plan["parameters"]["count"], 68976648192);
  EXPECT_LT(plan["headroom"].get<double>(), -200 * kGiB);
  const Outcome text =
      RunVramscope({"plan", "--model", large, "--set", "device=rtx-4060", "--set", "batch=1"});
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.out, HasSubstr("Does not fit on NVIDIA GeForce RTX 4060"));
  EXPECT_EQ(
      RunVramscope({"check", "--model", large, "--set", "batch=1", "--budget", "8GiB"}).status, 1);
}

TEST_F(CliRun, ConfigurationsRejectedByTrainerAreBadInput) {
  const std::string odd = folder_ / "odd.json";
  WriteFile(odd, R"({"model_type": "mamba"})");
  Outcome outcome = RunVramscope({"plan", "--model", odd});
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("mamba"));
  WriteFile(odd, R"({"model_type": "llama", "hidden_size": 32})");
  outcome = RunVramscope({"plan", "--model", odd});
  EXPECT_EQ(outcome.status, 3) << outcome.err;
}

TEST_F(CliRun, PlanListsItsAssumptions) {
  const json plan = Json({"plan", "--model", tiny_, "--set", "seq=16"});
  bool context = false;
  for (const json& a : plan["assumptions"]) {
    context = context || (a["where"] == "device table: rtx-4090" && a["bytes"] == 450 << 20);
    EXPECT_TRUE(a["what"].is_string() && a.contains("bytes"));
  }
  EXPECT_TRUE(context) << plan["assumptions"];
  EXPECT_THAT(RunVramscope({"plan", "--model", tiny_, "--set", "seq=16"}).out,
              HasSubstr("Assumed:"));
}

// An explicit setting overrides the preset's value, also if it precedes --preset.
TEST_F(CliRun, SettingsOverridePreset) {
  const std::vector<std::string> preset = {"--preset", "basics-medium"},
                                 settings = {"--set", "batch=1", "--set", "optimizer.name=sgd",
                                             "--set", "steps=1"};
  for (const auto& [first, second] : {std::pair(preset, settings), std::pair(settings, preset)}) {
    std::vector<std::string> arguments = {"plan"};
    arguments.insert(arguments.end(), first.begin(), first.end());
    arguments.insert(arguments.end(), second.begin(), second.end());
    const json config = Json(arguments)["config"];
    EXPECT_EQ(config["batch"], 1);
    EXPECT_EQ(config["optimizer"]["name"], "sgd");
    EXPECT_EQ(config["optimizer"]["impl"], "loop") << "the preset's own";
  }
}

// The error occurs after one micro-batch, before gigabytes of events are recorded.
TEST_F(CliRun, NamesTheOptionForAPresetIfThereIsNoSuchFile) {
  const Outcome preset = RunVramscope({"plan", "--model", "gpt2"});
  EXPECT_EQ(preset.status, 3);
  EXPECT_THAT(preset.err, HasSubstr("--preset gpt2"));
  const Outcome other = RunVramscope({"plan", "--model", "no-such-model"});
  EXPECT_EQ(other.status, 3);
  EXPECT_THAT(other.err, Not(HasSubstr("--preset")));
}

TEST_F(CliRun, RejectsPlanWithTooManyEvents) {
  for (const std::vector<std::string>& size : std::vector<std::vector<std::string>>{
           {"batch=4096", "micro_batches=4096", "steps=1000"},
           {"steps=1000", "seq=8", "batch=4096", "micro_batches=2048"}}) {
    std::vector<std::string> arguments = {"plan", "--model", tiny_};
    for (const std::string& set : size) arguments.insert(arguments.end(), {"--set", set});
    const Outcome outcome = RunVramscope(arguments);
    EXPECT_EQ(outcome.status, 3) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("million events"), HasSubstr("micro_batches")));
    EXPECT_EQ(outcome.out, "");
  }
}

// SDPA's memory-efficient kernel does not save the attention scores for backward.
TEST_F(CliRun, EfficientAttentionLowersThePeak) {
  const auto peak = [&](const char* attention) {
    return Json({"plan", "--preset", "qwen2-0.5b", "--set",
                 std::string("attention=") + attention})["peak"]["allocated"]
        .get<uint64_t>();
  };
  EXPECT_LT(peak("efficient"), peak("math"));
  EXPECT_LT(peak("efficient"), peak("eager"));
}

TEST_F(CliRun, FullDiskIsInternalFailure) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  const std::vector<std::string> plan = {"plan", "--model", tiny_, "--set", "seq=16"};
  std::vector<std::string> arguments = plan;
  arguments.insert(arguments.end(), {"-o", "/dev/full"});
  EXPECT_EQ(RunVramscope(arguments).status, 4);
  EXPECT_EQ(RunVramscope(plan, {.output_path = "/dev/full"}).status, 4);
  arguments.back() = "-";
  EXPECT_EQ(RunVramscope(arguments, {.output_path = "/dev/full"}).status, 4);
}

TEST_F(CliRun, PlanWorksInDeletedFolder) {
  const std::string gone = folder_ / "gone";
  std::filesystem::create_directory(gone);
  const Outcome outcome =
      RunVramscope({"plan", "--model", tiny_, "--set", "seq=16"}, {.deleted_folder = gone});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(CliRun, InterruptCancelsRun) {
  const Outcome outcome = RunVramscope({"plan", "--preset", "qwen2-0.5b", "--set", "steps=300"},
                                       {.signal = SIGINT, .signal_after_ms = 1000});
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("cancelled"));
  EXPECT_EQ(outcome.out, "");
}

TEST_F(CliRun, WorkerExitIsInternalFailure) {
  // /bin/false replaces the worker and exits immediately.
  const Outcome outcome = RunVramscope({"plan"}, {.environment = {"VRAMSCOPE_WORKER=/bin/false"}});
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.err, HasSubstr("worker"));
  EXPECT_EQ(outcome.out, "");
}

TEST_F(CliRun, PrintsDefaultPlanWithoutDisplay) {
  const Outcome outcome =
      RunVramscope({}, {.environment = {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("qwen2-0.5b"));
  EXPECT_THAT(outcome.out, HasSubstr("peak"));
}

}  // namespace
}  // namespace vramscope::test
