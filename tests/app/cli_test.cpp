// Tests the command line without a worker: usage, invalid input, and commands that read a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "profiler/trace/writer.h"
#include "tests/app/process.h"

namespace vramscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using trace::Category;
using trace::Event;
using trace::EventKind;
using trace::Phase;

// A trace of two steps. A parameter of 1 MiB is never freed. Each step allocates and frees an
// activation of 2 MiB (plus `more`).
void WriteSample(const std::string& path, uint64_t more = 0, bool has_times = true) {
  auto writer = trace::TraceWriter::ToFile(path);
  ASSERT_TRUE(writer.ok()) << writer.status();
  trace::TraceInfo info;
  info.producer = "test";
  info.model.name = "tiny";
  info.device.key = "test-gpu";
  info.device.name = "Test GPU";
  info.device.memory_bytes = 16 << 20;
  info.device.context_bytes = 1 << 20;
  info.has_times = has_times;
  (*writer)->Begin(info);
  const std::vector<std::string> strings = {"aten::mm", "layer"};
  (*writer)->Strings(1, strings);
  std::vector<Event> events;
  int64_t now = 0;
  const auto add = [&](Event event) {
    event.time_ns = now += has_times ? 1'000'000 : 1;
    events.push_back(event);
  };
  uint64_t next = 0;
  const auto alloc = [&](Category category, uint64_t bytes, uint64_t address) {
    add({.kind = EventKind::kAlloc,
         .category = category,
         .pool = trace::Pool::kLarge,
         .name = {1},
         .module = {2},
         .id = next++,
         .address = address,
         .bytes = bytes,
         .bytes_rounded = bytes});
  };
  add({.kind = EventKind::kSegmentAlloc,
       .pool = trace::Pool::kLarge,
       .id = 0,
       .address = 1 << 24,
       .bytes = 8 << 20});
  alloc(Category::kParameter, 1 << 20, 1 << 24);
  for (uint64_t step = 0; step < 2; ++step) {
    add({.kind = EventKind::kStepBegin, .id = step});
    add({.kind = EventKind::kPhaseBegin, .detail = static_cast<uint8_t>(Phase::kForward)});
    alloc(Category::kActivation, (2 << 20) + more, (1 << 24) + (2 << 20));
    add({.kind = EventKind::kPhaseEnd, .detail = static_cast<uint8_t>(Phase::kForward)});
    add({.kind = EventKind::kPhaseBegin, .detail = static_cast<uint8_t>(Phase::kBackward)});
    add({.kind = EventKind::kFreeRequested, .id = next - 1});
    add({.kind = EventKind::kFreeCompleted, .id = next - 1});
    add({.kind = EventKind::kPhaseEnd, .detail = static_cast<uint8_t>(Phase::kBackward)});
    add({.kind = EventKind::kStepEnd, .id = step});
  }
  (*writer)->Events(events);
  (*writer)->End(true, "");
  const absl::Status status = (*writer)->Close();
  ASSERT_TRUE(status.ok()) << status;
}

class Cli : public ::testing::Test {
 protected:
  void SetUp() override {
    sample_ = folder_ / "sample.trace";
    WriteSample(sample_);
  }
  json Json(const std::vector<std::string>& arguments, int status = 0) {
    const Outcome outcome = RunVramscope(arguments);
    EXPECT_EQ(outcome.status, status) << outcome.err;
    json parsed = json::parse(outcome.out, nullptr, false);
    EXPECT_TRUE(parsed.is_object()) << "stdout is not one JSON object: " << outcome.out;
    return parsed;
  }
  TemporaryFolder folder_;
  std::string sample_;
};

TEST_F(Cli, WrongUsageExitsWithTwo) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--no-such-option"},
           {"plan", "--nope"},
           {"plan", "extra"},
           {"info"},
           {"diff", "one"},
           {"plan", "--set", "batch"},
           {"plan", "--set"},
           {"run"},
           {"run", "--backend", "tpu"},
           {"export", sample_, "--to", "docx", "-o", "x"},
           {"peak", sample_, "--by", "colour"},
           {"peak", sample_, "--at", "noon"},
           {"diff", sample_, sample_, "--step", "1"},
           {"check", sample_, "--budget", "much"},
           {"check", sample_, "--budget", "1GiB", "--preset", "gpt2"},
           {"plan", "--preset", "gpt2", "--model", "x.json"},
           {"plan", "--json", "-o", "-"},
           {"plan", "--no-activities"},
           {"plan", "--isolation", "0", "--", "true"},
           {"toggles", "--device", "rtx-4090"},
           {"doctor", "--emulated", "rtx-4090"},
           {"check", "--budget", "24GiB", "--time", "0:1ms"},
           {"check", "--budget", "24GiB", "-o", "x.trace"},
           {"check", sample_, "--budget", "24GiB", "-o", "x.trace"},
           {"check", "--budget", "24GiB", "-o", "-", "--", "true"},
           {"info", sample_, "--outline", "--time", "0:1ms"},
           {"info", sample_, "--outline", "--device", "0"},
           {"kernels", sample_, "--kernel", "-1"},
           {"export", sample_, "--to", "svg", "--size", "800x600", "--scale", "9", "-o", "-"},
           {"replay", sample_, "--memory-fraction", "nan"},
           {"replay", sample_, "--memory-fraction", "0"},
           {"fit", "--budget", "8GiB", "--patience", "nan", "--", "true"},
           {"--scale", "nan", sample_},
           {"plna"}}) {
    const Outcome outcome = RunVramscope(arguments);
    EXPECT_EQ(outcome.status, 2) << ::testing::PrintToString(arguments) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err, "");
  }
  EXPECT_THAT(RunVramscope({"plna"}).err, HasSubstr("did you mean \"plan\""));
}

// An unset variable in a script must not select the default.
TEST_F(Cli, EmptyValuesExitWithTwo) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"plan", "--device", ""},
           {"plan", "--device=", "--json"},
           {"plan", "-o", ""},
           {"plan", "--output=", "--json"},
           {"check", "", "--budget", "24GiB"},
           {"check", sample_, "--budget", "24GiB", "--host-budget", ""},
           {"check", sample_, "--budget", "24GiB", "--context="},
           {"fit", "--preset", "", "--budget", "24GiB"},
           {"peak", sample_, "--at", ""},
           {"requests", sample_, "-o", ""},
           {"replay", sample_, "--device-memory", ""},
           {"devices", "--family", ""},
           {"--dump-state", ""},
           {""}}) {
    const Outcome outcome = RunVramscope(arguments);
    EXPECT_EQ(outcome.status, 2) << ::testing::PrintToString(arguments) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("the value is empty"));
  }
  EXPECT_FALSE(std::filesystem::exists("--json"));
  // An empty value of this option is valid: it means the default settings.
  const Outcome apart = RunVramscope({"replay", sample_, "--alloc-conf", "", "--json"});
  const Outcome joined = RunVramscope({"replay", sample_, "--alloc-conf=", "--json"});
  EXPECT_EQ(joined.status, apart.status);
  EXPECT_EQ(joined.out, apart.out);
  EXPECT_EQ(joined.err, apart.err);
  EXPECT_THAT(joined.err, ::testing::Not(HasSubstr("the value is empty")));
}

TEST_F(Cli, HelpListsEveryCommand) {
  const Outcome outcome = RunVramscope({"--help"});
  EXPECT_EQ(outcome.status, 0);
  for (const char* command : {"plan", "run", "info", "peak", "phases", "kernels", "requests",
                              "estimate", "export", "diff", "explain", "fit", "waterfall",
                              "reproduce", "check", "devices", "presets", "doctor"}) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string("\n  ") + command + " "));
    EXPECT_EQ(RunVramscope({command, "--help"}).status, 0) << command;
  }
}

// A refused setting gives the same exit status for every command, with and without --budget.
TEST_F(Cli, EveryCommandExitsWithThreeForRefusedSettings) {
  for (const std::vector<std::string>& run : std::vector<std::vector<std::string>>{
           {"--device", "rtx-4900"}, {"--device", "rtx-4090", "--gpu-memory", "much"}}) {
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{{"plan"},
                                               {"estimate"},
                                               {"fit"},
                                               {"fit", "--budget", "8GiB"},
                                               {"check"},
                                               {"check", "--budget", "8GiB"},
                                               {"waterfall"},
                                               {"selfcheck"},
                                               {"reproduce", "B1"},
                                               {"run", "--backend", "cpu"}}) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), run.begin(), run.end());
      const Outcome outcome = RunVramscope(arguments);
      EXPECT_EQ(outcome.status, 3) << ::testing::PrintToString(arguments) << outcome.err;
      EXPECT_EQ(outcome.out, "");
    }
  }
  const Outcome number = RunVramscope({"kernels", sample_, "--kernel", "-1"});
  EXPECT_LT(number.err.size(), 200u) << number.err;
}

TEST_F(Cli, InvalidSettingsExitWithThreeAndHint) {
  struct Row {
    std::string set, says;
  };
  for (const Row& row : {Row{"batch=-1", "65536"},
                         {"bacth=1", "did you mean \"batch\""},
                         {"precision=fp8", "amp-bf16"},
                         {"device=rtx-4900", "rtx-4090"},
                         {"offload.parameters=nvme", "not available in this version"},
                         {"model=nope", "choose from"},
                         {"model=/tmp/config.json", "--model FILE"}}) {
    const Outcome outcome = RunVramscope({"plan", "--set", row.set});
    EXPECT_EQ(outcome.status, 3) << row.set;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("error"), HasSubstr(row.says)));
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(RunVramscope({"plan", "--preset", "qwen"}).status, 3);
}

TEST_F(Cli, InvalidModelAndRunFilesExitWithThree) {
  const std::string bad = folder_ / "config.json";
  WriteFile(bad, "this is not JSON");
  Outcome outcome = RunVramscope({"estimate", "--model", bad});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(bad), HasSubstr("not JSON")));
  outcome = RunVramscope({"plan", "--config", bad});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(bad), HasSubstr("not JSON")));
  WriteFile(bad, R"({"optimizer": {"nmae": "sgd"}})");
  EXPECT_THAT(RunVramscope({"plan", "--config", bad}).err, HasSubstr("optimizer.name"));
  WriteFile(bad, R"({"model_type": "mamba"})");
  EXPECT_THAT(RunVramscope({"estimate", "--model", bad}).err, HasSubstr("mamba"));
  outcome = RunVramscope({"estimate", "--model", folder_ / "none.json"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, HasSubstr("none.json"));
}

TEST_F(Cli, ForeignFilesExitWithThree) {
  const std::string foreign = folder_ / "foreign";
  for (const std::string& content :
       {std::string("hello\n"), std::string(), std::string("\x80\x04\x95pickle"),
        std::string("{\"a\": 1}"), std::string("\x89VRT"), std::string(1000, '\0')}) {
    WriteFile(foreign, content);
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             {"info", foreign},
             {"info", foreign, "--json"},
             {"peak", foreign},
             {"phases", foreign},
             {"requests", foreign},
             {"export", foreign, "--to", "csv", "-o", folder_ / "o"},
             {"diff", foreign, sample_},
             {"explain", foreign},
             {"diff", "--requests", sample_, foreign},
             {"check", foreign, "--budget", "1GiB"}}) {
      const Outcome outcome = RunVramscope(arguments);
      EXPECT_EQ(outcome.status, 3) << arguments[0] << outcome.err;
      EXPECT_EQ(outcome.out, "");
      EXPECT_THAT(outcome.err, HasSubstr("foreign"));
    }
  }
  EXPECT_EQ(RunVramscope({"info", folder_ / "missing.trace"}).status, 3);
  EXPECT_EQ(RunVramscope({"info", folder_ / ""}).status, 3);
}

TEST_F(Cli, OpensTruncatedTraceWithWarning) {
  const std::string whole = ReadFile(sample_);
  const std::string cut = folder_ / "cut.trace";
  WriteFile(cut, whole.substr(0, whole.size() - 40));
  const Outcome outcome = RunVramscope({"info", cut, "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json info = json::parse(outcome.out);
  EXPECT_TRUE(info["truncated"]);
  EXPECT_FALSE(info["warnings"].empty());
  EXPECT_THAT(outcome.err, HasSubstr("warning"));
}

TEST_F(Cli, InfoHasDocumentedKeys) {
  const json info = Json({"info", sample_, "--json"});
  for (const char* key :
       {"kind", "events", "devices", "steps", "time_span_ns", "peak", "warnings", "truncated"}) {
    EXPECT_TRUE(info.contains(key)) << key;
  }
  EXPECT_EQ(info["kind"], "trace");
  EXPECT_EQ(info["steps"], 2);
  EXPECT_EQ(info["devices"], json::array({"Test GPU"}));
  EXPECT_EQ(info["peak"]["allocated"], 3 << 20);
  EXPECT_EQ(info["peak"]["reserved"], 8 << 20);
  EXPECT_FALSE(info["truncated"]);
}

TEST_F(Cli, ReadsTraceFromStdin) {
  const Outcome piped = RunVramscope({"info", "-", "--json"}, {.input = ReadFile(sample_)});
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(piped.out, RunVramscope({"info", sample_, "--json"}).out);
}

// The first tensor of a model may be larger than the GPU, so `check` must also judge a trace
// without allocations.
TEST_F(Cli, ChecksTraceWithoutAnyAllocation) {
  for (const bool ran_out : {false, true}) {
    const std::string path = folder_ / "none.trace";
    auto writer = trace::TraceWriter::ToFile(path);
    ASSERT_TRUE(writer.ok()) << writer.status();
    trace::TraceInfo info;
    info.backend = trace::Backend::kPlan;
    info.device.key = "test-gpu";
    info.device.name = "Test GPU";
    info.device.memory_bytes = 8 << 20;
    info.device.context_bytes = 1 << 20;
    (*writer)->Begin(info);
    std::vector<Event> events = {{.kind = EventKind::kStepBegin}};
    if (ran_out) events.push_back({.kind = EventKind::kOutOfMemory, .bytes = 10 << 20});
    (*writer)->Events(events);
    (*writer)->End(!ran_out, "");
    ASSERT_TRUE((*writer)->Close().ok());
    const json judged = Json({"check", path, "--budget", "8MiB", "--json"}, ran_out ? 1 : 0);
    EXPECT_EQ(judged["within_budget"], !ran_out);
    if (ran_out)
      EXPECT_GE(judged["needed"], 11 << 20);
    else
      EXPECT_EQ(judged["needed"], 1 << 20);
    EXPECT_EQ(RunVramscope({"check", path, "--budget", "1GiB"}).status, ran_out ? 3 : 0);
  }
}

// --device works for any input. A part of a trace can be selected by time, and a part of a
// recording by time or by entries.
TEST_F(Cli, SelectsPartOfTraceByDeviceAndTime) {
  EXPECT_EQ(RunVramscope({"info", sample_, "--device", "0", "--json"}).out,
            RunVramscope({"info", sample_, "--json"}).out);
  const Outcome absent = RunVramscope({"info", sample_, "--device", "7"});
  EXPECT_EQ(absent.status, 3);
  EXPECT_THAT(absent.err, HasSubstr("has no data for device 7 (available: 0)"));
  const Outcome entries = RunVramscope({"info", sample_, "--entries", "1:2"});
  EXPECT_EQ(entries.status, 3);
  EXPECT_THAT(entries.err, ::testing::AllOf(HasSubstr("sample.trace"), HasSubstr("--entries")));
  const json whole = Json({"info", sample_, "--json"});
  const json all = Json({"info", sample_, "--time", "0s:", "--json"});
  EXPECT_EQ(all["events"], whole["events"]);
  EXPECT_EQ(all["peak"], whole["peak"]);
  const Outcome nothing = RunVramscope({"info", sample_, "--time", "1000s:"});
  EXPECT_EQ(nothing.status, 3);
  EXPECT_THAT(nothing.err, HasSubstr("the requested part is empty"));
}

TEST_F(Cli, HelpOfEveryCommandHasAnExample) {
  for (const char* command :
       {"plan", "run", "info", "peak", "phases", "kernels", "replay", "requests", "export", "diff",
        "explain", "estimate", "check", "devices", "presets", "doctor"}) {
    EXPECT_THAT(RunVramscope({command, "--help"}).out,
                HasSubstr(std::string("Example: vramscope ") + command));
  }
}

TEST_F(Cli, PeakAndPhasesReportKnownFigures) {
  json peak = Json({"peak", sample_, "--json"});
  EXPECT_EQ(peak["allocated"], 3 << 20);
  EXPECT_EQ(peak["by_category"]["Activation"], 2 << 20);
  EXPECT_EQ(peak["at"]["phase"], "forward");
  EXPECT_EQ(peak["groups"].size(), 2u);
  peak = Json({"peak", sample_, "--at", "2.5ms", "--by", "module", "--json"});
  EXPECT_EQ(peak["allocated"], 1 << 20);
  EXPECT_EQ(peak["groups"][0]["name"], "layer");
  for (const char* by :
       {"category", "module", "op", "stack", "phase", "file", "size", "age", "annotation"}) {
    peak = Json({"peak", sample_, "--by", by, "--json"});
    EXPECT_EQ(peak["by"], by);
    uint64_t bytes = 0;
    for (const json& group : peak["groups"]) bytes += group["bytes"].get<uint64_t>();
    EXPECT_EQ(bytes, uint64_t{3} << 20) << by;
  }
  const json phases = Json({"phases", sample_, "--json"});
  ASSERT_EQ(phases["steps"].size(), 2u);
  EXPECT_EQ(phases["steps"][1]["index"], 1);
  EXPECT_EQ(phases["steps"][0]["forward_ms"], 2.0);
  EXPECT_EQ(phases["steps"][0]["backward_ms"], 3.0);
}

// The entries of the file are in order but have no times, so entry numbers replace times.
TEST_F(Cli, UntimedFileIsReportedByEntries) {
  const std::string file = folder_ / "untimed.trace";
  WriteSample(file, 0, false);
  const json peak = Json({"peak", file, "--json"});
  EXPECT_EQ(peak["allocated"], 3 << 20);
  EXPECT_TRUE(peak["at"]["time_ns"].is_null());
  EXPECT_EQ(peak["at"]["entry"], 5);
  const json step = Json({"phases", file, "--json"})["steps"][1];
  for (const char* key : {"forward_ms", "backward_ms", "optimizer_ms", "total_ms", "begin_ns"})
    EXPECT_TRUE(step[key].is_null()) << key;
  EXPECT_EQ(step["peak_allocated"], 3 << 20);
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"peak", file}, {"phases", file}, {"explain", file}, {"diff", file, file}}) {
    const Outcome outcome = RunVramscope(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    static const std::regex kTime("[0-9] (ms|us|ns|s)\\b");
    EXPECT_FALSE(std::regex_search(outcome.out, kTime)) << arguments[0] << outcome.out;
  }
  EXPECT_THAT(RunVramscope({"peak", file}).out, HasSubstr("at entry 5"));
  for (const char* command : {"peak", "explain"}) {
    const Outcome outcome = RunVramscope({command, file, "--at", "1ms"});
    EXPECT_EQ(outcome.status, 3);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("no times"), HasSubstr("--event")));
  }
  EXPECT_EQ(Json({"peak", file, "--event", "1", "--json"})["allocated"], 1 << 20);
  EXPECT_EQ(RunVramscope({"peak", file, "--event", "1000"}).status, 3);
}

TEST_F(Cli, RequestsHaveDocumentedColumns) {
  const Outcome outcome = RunVramscope({"requests", sample_});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(
      outcome.out.substr(0, outcome.out.find_first_of("\r\n")),
      "index,kind,bytes_requested,bytes_rounded,address,stream,time_ns,category,phase,module,op");
  EXPECT_THAT(outcome.out, HasSubstr("aten::mm"));
}

TEST_F(Cli, DiffExitsWithOneOnDifferences) {
  const std::string other = folder_ / "other.trace";
  WriteSample(other, 1 << 20);
  EXPECT_TRUE(Json({"diff", sample_, sample_, "--json"})["equal"]);
  const json diff = Json({"diff", sample_, other, "--json"}, 1);
  EXPECT_FALSE(diff["equal"]);
  EXPECT_EQ(diff["peak"]["allocated"]["delta"], 1 << 20);
  const json& activation = diff["steps"].back()["phases"][0]["categories"]["Activation"];
  EXPECT_EQ(activation, (json{{"a", 2 << 20}, {"b", 3 << 20}, {"delta", 1 << 20}}));

  json requests = Json({"diff", "--requests", sample_, sample_, "--json"});
  EXPECT_EQ(requests["requests"]["equal"], requests["requests"]["total"]);
  requests = Json({"diff", "--requests", sample_, other, "--step", "0", "--json"}, 1);
  EXPECT_LT(requests["requests"]["equal"], requests["requests"]["total"]);
  EXPECT_FALSE(requests["first_differences"].empty());
  EXPECT_TRUE(requests["peak"].contains("a") && requests["peak"].contains("b"));
  EXPECT_EQ(RunVramscope({"diff", "--requests", sample_, sample_, "--step", "7"}).status, 3);
}

TEST_F(Cli, CheckIncludesContext) {
  EXPECT_EQ(RunVramscope({"check", sample_, "--budget", "9MiB"}).status, 0)
      << "8 MiB reserved + 1 MiB context";
  const json check = Json({"check", sample_, "--budget", "9437183", "--json"}, 1);
  EXPECT_EQ(check["over"], 1);
  EXPECT_EQ(check["needed"], 9 << 20);
}

TEST_F(Cli, ExportToStdoutEqualsFile) {
  const std::string out = folder_ / "out.json";
  EXPECT_EQ(RunVramscope({"export", sample_, "--to", "chrome", "-o", out}).status, 0);
  EXPECT_TRUE(json::parse(ReadFile(out)).contains("traceEvents"));
  const Outcome to_stdout = RunVramscope({"export", sample_, "--to", "chrome", "-o", "-"});
  EXPECT_EQ(to_stdout.status, 0) << to_stdout.err;
  EXPECT_EQ(to_stdout.out, ReadFile(out));
}

// An export is written to a temporary file first, which must not be left behind. If an export
// fails, the existing file must be kept.
TEST_F(Cli, ExportLeavesNoOtherFiles) {
  const auto files = [&] {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
      names.insert(entry.path().filename().string());
    return names;
  };
  EXPECT_EQ(RunVramscope({"export", sample_, "--to", "csv", "-o", folder_ / "out.csv"}).status, 0);
  EXPECT_EQ(files(), (std::set<std::string>{"sample.trace", "out.csv"}));
  const std::string content = ReadFile(folder_ / "out.csv");
  EXPECT_NE(
      RunVramscope({"export", sample_, "--to", "csv", "-o", folder_ / "no/such/folder/x"}).status,
      0);
  WriteFile(folder_ / "foreign.trace", "no trace");
  EXPECT_NE(
      RunVramscope({"export", folder_ / "foreign.trace", "--to", "csv", "-o", folder_ / "out.csv"})
          .status,
      0);
  EXPECT_EQ(files(), (std::set<std::string>{"sample.trace", "out.csv", "foreign.trace"}));
  EXPECT_EQ(ReadFile(folder_ / "out.csv"), content);
}

TEST_F(Cli, EstimateHasPublishedCounts) {
  const json estimate =
      Json({"estimate", "--preset", "llama-3.2-1b", "--set", "precision=bf16", "--json"});
  EXPECT_EQ(estimate["parameters"]["count"], 1235814400);
  EXPECT_EQ(estimate["parameters"]["bytes"], 2 * 1235814400LL);
}

constexpr char kLlama[] = R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "vocab_size": 128, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "torch_dtype": "bfloat16")";

// `estimate` rejects the same models as a plan, even without a worker.
TEST_F(Cli, RejectsUnsupportedModelConfigurations) {
  const std::string file = folder_ / "config.json";
  for (const auto& [more, says] : std::vector<std::pair<std::string, std::string>>{
           {R"(, "quantization_config": {"bits": 4})", "quantization_config"},
           {R"(, "num_experts": 8)", "num_experts"},
           {R"(, "hidden_act": "mish")", "mish"},
           {R"(, "head_dim": 7)", "odd"},
           {R"(, "rope_scaling": {"rope_type": "yarn"})", "yarn"},
           {R"(, "use_sliding_window": true)", "sliding_window"}}) {
    WriteFile(file, kLlama + more + "}");
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{"estimate", "--model", file},
                                               {"plan", "--model", file},
                                               {"check", "--model", file, "--budget", "1GiB"},
                                               {"run", "--backend", "cpu", "--model", file}}) {
      const Outcome outcome =
          RunVramscope(arguments, {.environment = {"VRAMSCOPE_WORKER=/no/such/worker"}});
      EXPECT_EQ(outcome.status, 3) << arguments[0] << more << outcome.err;
      EXPECT_THAT(outcome.err, AllOf(HasSubstr(says), HasSubstr(file)));
      EXPECT_EQ(outcome.out, "");
    }
  }
}

TEST_F(Cli, EstimateListsItsAssumptions) {
  const std::string file = folder_ / "config.json";
  WriteFile(file, std::string(kLlama) + R"(, "foo": {"bar": [1]}})");
  const json estimate = Json({"estimate", "--model", file, "--json"});
  ASSERT_EQ(estimate["assumptions"].size(), 2u);
  EXPECT_THAT(estimate["assumptions"][0]["what"], HasSubstr("bfloat16"));
  EXPECT_EQ(estimate["assumptions"][0]["where"], "config.json: torch_dtype");
  EXPECT_THAT(estimate["assumptions"][1]["what"], HasSubstr("foo"));
  EXPECT_TRUE(estimate["assumptions"][1]["bytes"].is_null());
  EXPECT_THAT(RunVramscope({"estimate", "--model", file}).out,
              AllOf(HasSubstr("Assumed"), HasSubstr("foo")));
  EXPECT_EQ(Json({"estimate", "--model", file, "--set", "precision=bf16", "--json"})["assumptions"]
                .size(),
            1u);
}

TEST_F(Cli, UnmatchedLoraTargetsListLayerNames) {
  const Outcome outcome = RunVramscope({"plan", "--preset", "gpt2", "--set", "lora.rank=8"},
                                       {.environment = {"VRAMSCOPE_WORKER=/no/such/worker"}});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("q_proj"), HasSubstr("c_attn, c_proj, c_fc")));
}

TEST_F(Cli, ListsDevicesAndPresets) {
  EXPECT_GE(Json({"devices", "--json"})["devices"].size(), 25u);
  const json presets = Json({"presets", "--json"});
  std::map<std::string, json> parameters;
  for (const json& preset : presets["presets"]) parameters[preset["name"]] = preset["parameters"];
  EXPECT_EQ(parameters.at("qwen2-0.5b")["count"], 494032768);
  EXPECT_TRUE(parameters.at("vit-l-16").is_null()) << "no formula counts it";
}

TEST_F(Cli, TechniquesAreFoundByWords) {
  const json all = Json({"techniques", "--json"}),
             some = Json({"techniques", "LoRA", "lora.rank", "--json"});
  EXPECT_GT(all["techniques"].size(), some["techniques"].size());
  ASSERT_EQ(some["techniques"].size(), 1u);
  EXPECT_EQ(some["techniques"][0]["id"], "lora");
  const json other = Json({"techniques", "gradient", "checkpointing", "--json"});
  ASSERT_GE(other["techniques"].size(), 1u);
  EXPECT_EQ(other["techniques"][0]["id"], "checkpointing");
  const Outcome none = RunVramscope({"techniques", "no-such-group"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, AllOf(HasSubstr("no-such-group"), HasSubstr("Optimizer"),
                              HasSubstr("Activations"), HasSubstr("Allocator")));
}

TEST_F(Cli, MissingWorkerIsInternalFailure) {
  const Outcome outcome =
      RunVramscope({"plan"}, {.environment = {"VRAMSCOPE_WORKER=/no/such/worker"}});
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.err, HasSubstr("/no/such/worker"));
}

TEST_F(Cli, DoctorExitStatusMatchesChecks) {
  const json doctor = json::parse(RunVramscope({"doctor", "--gpu", "--json"}).out);
  ASSERT_FALSE(doctor["checks"].empty());
  for (const json& check : doctor["checks"]) {
    EXPECT_THAT(check["state"].get<std::string>(), ::testing::AnyOf("PASS", "SKIP", "FAIL"));
  }
  const Outcome text = RunVramscope({"doctor", "--gpu"});
  EXPECT_EQ(text.status, doctor["ok"].get<bool>() ? 0 : 1);
}

}  // namespace
}  // namespace vramscope::test
