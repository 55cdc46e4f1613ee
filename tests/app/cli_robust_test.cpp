// Tests the command line in adverse situations: outputs that are inputs, full disks, deleted
// folders, too little memory, names with terminal control sequences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/sample_snapshot.h"

namespace vramscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// Returns whether the text is valid UTF-8 without control characters other than line ends.
bool IsPrintable(const std::string& text) {
  for (const char c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f) return false;
  const json parsed = json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
  return parsed.get<std::string>() == text;
}

TEST_F(CliRecording, RejectsOutputThatIsAnInput) {
  const std::string file = Write("s.json", {}), content = ReadFile(file);
  const std::string symbolic = folder_ / "symbolic", hard = folder_ / "hard";
  std::filesystem::create_symlink(file, symbolic);
  std::filesystem::create_hard_link(file, hard);
  for (const std::string& out : {file, folder_ / "./s.json", symbolic, hard}) {
    for (std::vector<std::string> arguments :
         std::vector<std::vector<std::string>>{{"export", file, "--to", "csv"},
                                               {"export", file, "--to", "snapshot"},
                                               {"export", file, "--to", "chrome"},
                                               {"export", file, "--to", "memory-timeline"},
                                               {"requests", file},
                                               {"plan", "--model", file},
                                               {"plan", "--config", file},
                                               {"plan", "--device", file},
                                               {"plan", "--set", "device=" + file},
                                               {"waterfall", "--config", file},
                                               {"waterfall", "--device", file},
                                               {"reproduce", "B1", "--device", file},
                                               {"run", "--backend", "cpu", "--config", file}}) {
      arguments.insert(arguments.end(), {"-o", out});
      const Outcome outcome = RunVramscope(arguments);
      EXPECT_EQ(outcome.status, 2) << arguments[0] << " -o " << out << outcome.err;
      EXPECT_THAT(outcome.err, AllOf(HasSubstr("is also an input"), HasSubstr("another file")));
      EXPECT_EQ(ReadFile(file), content) << arguments[0];
    }
    for (const char* option : {"--screenshot", "--dump-state"})
      EXPECT_EQ(RunVramscope({file, option, out}).status, 2) << option;
    for (std::vector<std::string> arguments : std::vector<std::vector<std::string>>{
             {"plan", "-o", out, "--", "true", "--data=" + file},
             {"record", "-o", out, "--", "true", file},
             {"check", "--budget", "24GiB", "-o", out, "--", "true", file},
             {"check", "--budget", "24GiB", "--summary", out, "--", "true", file}}) {
      const Outcome outcome = RunVramscope(arguments);
      EXPECT_EQ(outcome.status, 2) << arguments[0] << " -o " << out << outcome.err;
      EXPECT_THAT(outcome.err, HasSubstr("is also an input"));
      EXPECT_EQ(ReadFile(file), content) << arguments[0];
    }
  }
  EXPECT_EQ(ReadFile(file), content);
  // The same check applies if a file is given as standard input or output.
  EXPECT_EQ(RunVramscope({"requests", "-", "-o", file}, {.input_path = file}).status, 2);
  EXPECT_EQ(RunVramscope({"requests", file}, {.output_path = file}).status, 2);
  EXPECT_EQ(ReadFile(file), content);
  // Another file with the same content is a different file.
  const std::string copy = folder_ / "copy";
  WriteFile(copy, content);
  EXPECT_EQ(RunVramscope({"requests", file, "-o", copy}).status, 0);
}

// If the trace cannot be written, the program, which may run for hours, must not start.
TEST_F(CliRecording, ReportsMissingFolderBeforeTheProgramRuns) {
  const std::string out = folder_ / "none/run.trace", ran = folder_ / "ran";
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"plan", "--no-isolation"},
                                             {"record"},
                                             {"check", "--budget", "24GiB", "--no-isolation"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"-o", out, "--", "touch", ran});
    const Outcome outcome = RunVramscope(arguments);
    EXPECT_EQ(outcome.status, 3) << command[0];
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("cannot write"), HasSubstr("none/run.trace")));
    EXPECT_FALSE(std::filesystem::exists(ran)) << command[0];
  }
}

TEST_F(CliRecording, FullDiskIsInternalFailureInEveryCommand) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  const std::string file = Write("s.json", {});
  for (const char* format : {"snapshot", "memory-timeline", "chrome", "csv"}) {
    EXPECT_EQ(RunVramscope({"export", file, "--to", format, "-o", "/dev/full"}).status, 4);
    EXPECT_EQ(
        RunVramscope({"export", file, "--to", format, "-o", "-"}, {.output_path = "/dev/full"})
            .status,
        4)
        << format;
  }
  EXPECT_EQ(RunVramscope({"requests", file, "-o", "/dev/full"}).status, 4);
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"requests", file},
                                             {"info", file},
                                             {"info", file, "--json"},
                                             {"peak", file},
                                             {"--help"},
                                             {"plan", "--help"},
                                             {"--version"}}) {
    const Outcome outcome = RunVramscope(arguments, {.output_path = "/dev/full"});
    EXPECT_EQ(outcome.status, 4) << ::testing::PrintToString(arguments);
    EXPECT_THAT(outcome.err, HasSubstr("standard output")) << arguments[0];
  }
}

TEST_F(CliRecording, WorksInDeletedWorkingFolder) {
  const std::string file = Write("s.json", {});
  const std::string gone = folder_ / "gone";
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"info", file},
                                             {"estimate", "--preset", "gpt2"},
                                             {"export", file, "--to", "csv", "-o", "-"},
                                             {"devices"},
                                             {"--help"}}) {
    std::filesystem::create_directory(gone);
    const Outcome outcome = RunVramscope(arguments, {.deleted_folder = gone});
    EXPECT_EQ(outcome.status, 0) << arguments[0] << outcome.err;
  }
  std::filesystem::create_directory(gone);
  const Outcome outcome =
      RunVramscope({"requests", file, "-o", "here.csv"}, {.deleted_folder = gone});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("here.csv"), HasSubstr("No such file")));
}

// Increases the limit of the address space, beginning with one too small to load the program.
TEST_F(CliRecording, ReportsInsufficientMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own address space is more than any limit";
#endif
  json large = Snapshot({});
  json& entries = large["device_traces"][0];
  const json step = entries;
  for (int i = 0; i < 20000; ++i) entries.insert(entries.end(), step.begin(), step.end());
  const std::string file = folder_ / "large.json";
  WriteFile(file, large.dump());
  bool refused = false;
  for (uint64_t limit = 64 * kMiB;; limit += limit / 16) {
    const Outcome outcome = RunVramscope({"info", file}, {.address_space = limit});
    if (outcome.status == 0) break;
    if (outcome.status == 127) continue;  // the loader's own status
    // Initialisers of libraries run before main() and may abort (Qt6Gui's throws). After main() has
    // begun, nothing may abort.
    if (outcome.status == 128 + SIGABRT && !refused) continue;
    if (outcome.err.find("libgomp: Out of memory") != std::string::npos && !refused) continue;
    refused = true;
    EXPECT_EQ(outcome.status, 3) << limit << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("memory")) << limit;
    ASSERT_LT(limit, 16ull << 30);
  }
  EXPECT_TRUE(refused);
}

// The file has no blocks, so no figures of blocks are printed, such as "0 B allocated".
TEST_F(CliRecording, StatisticsFileWorksOnlyWithInfo) {
  const std::string file = folder_ / "stats.json";
  WriteFile(file, R"({"allocated_bytes.all.current": 5, "reserved_bytes.all.peak": 7})");
  EXPECT_EQ(Json({"info", file, "--json"})["statistics"]["allocated_bytes.all.current"], 5);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"peak", file},
                                             {"explain", file},
                                             {"phases", file},
                                             {"requests", file},
                                             {"replay", file},
                                             {"check", file, "--budget", "1GiB"},
                                             {"diff", file, file}}) {
    const Outcome outcome = RunVramscope(command);
    EXPECT_EQ(outcome.status, 3) << command[0];
    EXPECT_THAT(outcome.err, HasSubstr("vramscope info")) << command[0];
    EXPECT_EQ(outcome.out, "") << command[0];
  }
}

TEST_F(CliRecording, EscapesControlCharactersInOutput) {
  const std::string control = "\x1b[2J\xff\xfe\xc0\x80\xc2\x9b\x7f";
  std::vector<std::vector<std::string>> commands = {{"info", folder_ / control},
                                                    {"plan", "--preset", control},
                                                    {"plan", "--set", control + "=1"},
                                                    {"plan", "--model", folder_ / control},
                                                    {control}};
  const auto with = [&](const std::string& name, const std::string& content) {
    WriteFile(folder_ / name, content);
    return folder_ / name;
  };
  json model = {{"model_type", "llama"},
                {"vocab_size", 8},
                {"hidden_size", 8},
                {"intermediate_size", 8},
                {"num_hidden_layers", 1},
                {"num_attention_heads", 2},
                {"hidden_act", std::string("a\0b\x1b[2J", 7)}};
  commands.push_back({"plan", "--model", with("act.json", model.dump())});
  model["architectures"] = {std::string("x\0y\x1b", 4)};
  commands.push_back({"plan", "--model", with("arch.json", model.dump())});
  commands.push_back({"estimate", "--model", with("bytes.json", "{\"a\": \"\xff\x1b\"")});
  commands.push_back({"info", with("s\xff.json", "{\"segments\": [{\"\xff\x1b\": }")});
  json named = Snapshot({});
  named["device_traces"][0][0]["action"] = std::string("ac\0t\x1b[2J", 8);
  commands.push_back({"info", with("action.json", named.dump())});
  const std::string escapes = VRAMSCOPE_SOURCE_DIR "/tests/golden/window/escape_kernels.json";
  for (const char* command : {"info", "peak", "kernels", "phases", "explain"})
    commands.push_back({command, escapes});
  commands.push_back({"peak", "--by", "op", escapes});
  commands.push_back({"kernels", "--by", "name", escapes});
  for (const char* name : {"fz_json_snap_99.json", "fz_conf_model_260.json"}) {
    const std::string path = std::string(VRAMSCOPE_SOURCE_DIR "/../shared/repro/") + name;
    if (!std::filesystem::exists(path)) continue;
    commands.push_back({"info", path});
    commands.push_back({"estimate", "--model", path});
  }
  for (const std::vector<std::string>& arguments : commands) {
    const Outcome outcome = RunVramscope(arguments);
    EXPECT_THAT(outcome.status, AnyOf(0, 2, 3)) << ::testing::PrintToString(arguments);
    EXPECT_FALSE(outcome.err.empty() && outcome.out.empty());
    EXPECT_TRUE(IsPrintable(outcome.err)) << ::testing::PrintToString(outcome.err);
    EXPECT_TRUE(IsPrintable(outcome.out)) << ::testing::PrintToString(outcome.out);
  }
}

// A recording does not state the size of the CUDA context. By default, a plan's size is assumed.
TEST_F(CliRecording, CheckAddsAssumedContext) {
  const std::string file = Write("s.json", {});
  const json check = Json({"check", file, "--budget", "514MiB", "--json"});
  EXPECT_EQ(check["context"], 450 * kMiB);
  EXPECT_EQ(check["needed"], 514 * kMiB);
  ASSERT_EQ(check["assumptions"].size(), 1u);
  EXPECT_EQ(check["assumptions"][0]["bytes"], 450 * kMiB);
  EXPECT_EQ(check["assumptions"][0]["where"], "device table: rtx-4090");
  EXPECT_THAT(RunVramscope({"check", file, "--budget", "513MiB"}).out,
              AllOf(HasSubstr("over the budget"), HasSubstr("Assumed"), HasSubstr("--context")));
  EXPECT_EQ(RunVramscope({"check", file, "--budget", "513MiB"}).status, 1);
  EXPECT_EQ(Json({"check", file, "--budget", "64MiB", "--context", "0", "--json"})["context"], 0);
  EXPECT_EQ(Json({"check", file, "--budget", "1GiB", "--context", "h100-sxm", "--json"})["context"],
            670 * kMiB);
  const Outcome wrong = RunVramscope({"check", file, "--budget", "1GiB", "--context", "much"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--context"));
}

}  // namespace
}  // namespace vramscope::test
