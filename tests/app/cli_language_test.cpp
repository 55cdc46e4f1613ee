// Runs the command line in Chinese. Texts are translated; JSON and written files are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "tests/app/process.h"
#include "tests/app/sample_snapshot.h"

namespace vramscope::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

ProcessOptions In(const std::string& locale) { return {.environment = {"LC_ALL=" + locale}}; }
const ProcessOptions kChinese = In("zh_CN.UTF-8"), kInEnglish = In("C.UTF-8");

// Returns whether this build has translations. They are missing if it was built without lrelease.
bool HasChinese() {
  return RunVramscope({"--help"}, kChinese).out != RunVramscope({"--help"}, kInEnglish).out;
}

// Lines that are not translated: examples.
constexpr const char* kEnglish[] = {"vramscope "};

// Returns all lines with three English words in a row, except lines that may remain English.
std::string EnglishLines(const std::string& text) {
  static const std::regex kEnglishWords("[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}");
  std::string found, line;
  for (std::istringstream lines(text); std::getline(lines, line);)
    if (std::regex_search(line, kEnglishWords) &&
        std::ranges::none_of(
            kEnglish, [&](const char* part) { return line.find(part) != std::string::npos; }))
      found += line + "\n";
  return found;
}

// Two plans in the source tree. The second used an operator whose library was modelled.
const std::string kPlan = VRAMSCOPE_SOURCE_DIR "/resources/samples/qwen2-0.5b+amp-bf16.trace";
const std::string kModelled =
    VRAMSCOPE_SOURCE_DIR "/resources/samples/qwen2-0.5b+optimizer-8bit.trace";

class CommandLineInChinese : public CliRecording {
 protected:
  void SetUp() override {
    if (!HasChinese()) GTEST_SKIP() << "built without translations (lrelease)";
    file_ = Write("snapshot.json", {.leak = true, .hole = true, .marks = true});
  }
  std::string file_;
};

TEST_F(CommandLineInChinese, LanguageFollowsLocaleAndLangOption) {
  EXPECT_THAT(RunVramscope({"--help"}, kChinese).out, HasSubstr("显存"));
  EXPECT_THAT(RunVramscope({"--help"}, In("zh_TW.UTF-8")).out, Not(HasSubstr("显存")));
  EXPECT_EQ(RunVramscope({"--lang", "en", "--help"}, kChinese).out,
            RunVramscope({"--help"}, kInEnglish).out);
  EXPECT_EQ(RunVramscope({"--lang=zh_CN", "--help"}, kInEnglish).out,
            RunVramscope({"--help"}, kChinese).out);
  const Outcome chinese = RunVramscope({"--lang", "zh_CN", "info", file_}, kInEnglish);
  EXPECT_EQ(RunVramscope({"info", file_, "--lang", "zh_CN"}, kInEnglish).out, chinese.out);
  EXPECT_EQ(RunVramscope({"info", "--lang=zh_CN", file_}, kInEnglish).out, chinese.out);
}

TEST_F(CommandLineInChinese, WindowAcceptsLangAfterFile) {
  const std::string state = folder_ / "state.json";
  const Outcome window = RunVramscope(
      {"--page", "phases", file_, "--lang", "zh_CN", "--dump-state", state}, kInEnglish);
  ASSERT_EQ(window.status, 0) << window.err;
  EXPECT_THAT(ReadFile(state), HasSubstr("峰值处"));
}

TEST_F(CommandLineInChinese, RejectsUnknownLanguage) {
  const Outcome outcome = RunVramscope({"--lang", "xx", "info", file_}, kInEnglish);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("\"xx\" is not one of en, zh_CN"));
  EXPECT_EQ(outcome.out, "");
}

TEST_F(CommandLineInChinese, JsonIsTheSameInEveryLanguage) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"info", file_},
                                             {"peak", file_},
                                             {"explain", file_},
                                             {"replay", file_},
                                             {"check", file_, "--budget", "1MiB"},
                                             {"diff", file_, file_},
                                             {"devices", "h100"}}) {
    std::vector<std::string> arguments = command;
    arguments.emplace_back("--json");
    const Outcome chinese = RunVramscope(arguments, kChinese);
    const Outcome english = RunVramscope(arguments, kInEnglish);
    EXPECT_EQ(chinese.out, english.out) << command[0];
    EXPECT_FALSE(english.out.empty()) << command[0] << english.err;
  }
}

TEST_F(CommandLineInChinese, WrittenFilesAreTheSameInEveryLanguage) {
  for (const std::string kind : {"html", "csv", "chrome"}) {
    const std::vector<std::string> command = {"export", file_, "--to", kind, "-o", "-"};
    const Outcome chinese = RunVramscope(command, kChinese);
    ASSERT_EQ(chinese.status, 0) << chinese.err;
    EXPECT_EQ(chinese.out, RunVramscope(command, kInEnglish).out) << kind;
  }
  EXPECT_EQ(RunVramscope({"reproduce", "B1", "-o", "-"}, kChinese).out,
            RunVramscope({"reproduce", "B1", "-o", "-"}, kInEnglish).out);
}

TEST_F(CommandLineInChinese, CommandOutputHasNoEnglishLines) {
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"info", file_},
           {"peak", file_},
           {"phases", file_},
           {"explain", file_},
           {"replay", file_},
           {"check", file_, "--budget", "1MiB"},
           {"check", file_, "--budget", "1TiB"},
           {"diff", file_, file_},
           {"kernels", file_},
           {"export", "--list"},
           {"export", file_, "--to", "html", "-o", folder_.path()},
           {"presets"},
           {"toggles"},
           {"peak", kModelled},
           {"explain", kModelled},
           {"kernels", kModelled},
           {"kernels", kModelled, "--allocation", "400"},
           {"diff", kPlan, kModelled, "--prediction"},
           {"diff", kPlan, kModelled, "--requests"},
           {"info", folder_ / "none.pickle"},
           {"plan", "--preset", "no-such-preset"},
           {"info"},
           {"info", file_, "--no-such-option"},
           {"info", file_, file_},
           {"--theme", "purple"},
           {"kernels", file_, "--by", "colour"},
           {"kernels", file_, "--top"},
           {"kernels", file_, "--top", "many"},
           {"diff", file_, file_, "--step", "1"},
           {"mcp", "--folder", folder_ / "none"},
           {"toggles", "--toggle", "no-such-toggle", "--", "python3", "none.py"},
           {"plna"}}) {
    const Outcome outcome = RunVramscope(command, kChinese);
    EXPECT_EQ(EnglishLines(outcome.out + outcome.err), "") << command[0];
  }
}

TEST_F(CommandLineInChinese, RefusedPicklesAreReportedInChinese) {
  const std::string import = folder_ / "import.pickle", call = folder_ / "call.pickle";
  WriteFile(import,
            "\x80\x02"
            "cos\nsystem\n.");
  WriteFile(call, "\x80\x02}}R.");
  for (const std::string& file : {import, call}) {
    const Outcome outcome = RunVramscope({"info", file}, kChinese);
    EXPECT_THAT(outcome.err, HasSubstr("快照从不需要")) << outcome.err;
    EXPECT_THAT(outcome.err, Not(AnyOf(HasSubstr("which"), HasSubstr("opcode"))));
  }
}

// These texts have too few words for EnglishLines() to find them, so each is compared.
TEST_F(CommandLineInChinese, PartsOfLinesAreTranslated) {
  struct Case {
    std::vector<std::string> command;
    std::vector<std::string> chinese, english;
  };
  const std::string folder = folder_.path();
  for (const Case& c : std::vector<Case>{
           {{"info", file_}, {"CUDA 内存快照（JSON）"}, {"CUDA memory snapshot"}},
           {{"info", folder_ / "none.pickle"}, {"没有那个文件或文件夹"}, {"No such file"}},
           {{"export", file_, "--to", "html", "-o", folder},
            {"是一个文件夹；原有文件未改变"},
            {"Is a directory", "existing file"}},
           {{"explain", file_, "--page", "fragmentation"},
            {"为录制：在 GPU 上运行时录制"},
            {"recorded in a run"}},
           {{"peak", kModelled},
            {"对 bitsandbytes 的 8 位内核建模", "（技术："},
            {"are modelled, not", "technique:"}},
           {{"replay", file_},
            {"重放的分配器的最佳适配在 0x", "起点之后 2,097,152 B 处", "分配 3,145,728 B"},
            {"best fit", "recorded at", " of ", "are needed"}},
           {{"reproduce", "B1", "B6-peft-formula"},
            {"存储的 BERT 权重的大小", "磁盘上的文件", "在容差内", "节省的参数"},
            {"Size of", "file on disk", "within", "Parameters saved"}},
           {{"kernels", kModelled}, {"按 name"}, {"By name"}},
           {{"kernels", kModelled, "--by", "phase"}, {"反向"}, {"backward\n"}},
           {{"kernels", kModelled, "--allocation", "400"},
            {"由 PyTorch 自身的 aten::"},
            {"made:", "allocated by", " in "}},
           {{"diff", kPlan, kModelled, "--prediction"}, {"矩阵乘法"}, {"matrix products"}},
           {{"diff", kPlan, kModelled, "--requests"}, {"分配 #"}, {"alloc #", "free #"}},
           {{"toggles"}, {"16 位权重"}, {"16-bit weights", "Liger kernels"}},
       }) {
    const Outcome outcome = RunVramscope(c.command, kChinese);
    const std::string text = outcome.out + outcome.err;
    for (const std::string& part : c.chinese) EXPECT_THAT(text, HasSubstr(part)) << c.command[0];
    for (const std::string& part : c.english)
      EXPECT_THAT(text, Not(HasSubstr(part))) << c.command[0];
  }
}

TEST_F(CommandLineInChinese, SourcesOfEveryGpuAreTranslated) {
  const nlohmann::json all =
      nlohmann::json::parse(RunVramscope({"devices", "--json"}, kInEnglish).out);
  std::string text;
  for (const nlohmann::json& device : all["devices"]) {
    const std::string out =
        RunVramscope({"devices", device["key"].get<std::string>()}, kChinese).out;
    text += out.substr(std::min(out.find('\n'), out.size()));  // without the name of the GPU
  }
  text += RunVramscope({"devices", "a100-80gb:1g.10gb"}, kChinese).out;
  text += RunVramscope({"devices", "rtx-4090,memory=48GiB,multiprocessors=100"}, kChinese).out;
  EXPECT_EQ(EnglishLines(text), "");
  EXPECT_THAT(text, AllOf(HasSubstr("TechPowerUp GPU 数据库"), HasSubstr("进程的显存减去"),
                          HasSubstr("，ECC 开启"), HasSubstr("与其多处理器数成正比"),
                          HasSubstr("用户给出"), HasSubstr("与多处理器数和频率成正比")));
  EXPECT_THAT(text, Not(AnyOf(HasSubstr("as the "), HasSubstr(" printed"), HasSubstr(": given"))));
}

// A `.trace` contains the name of the file format in English.
TEST_F(CommandLineInChinese, FormatOfAnImportedFileIsTranslatedInItsTrace) {
  const std::string saved = folder_ / "saved.trace";
  ASSERT_EQ(RunVramscope({"export", file_, "--to", "trace", "-o", saved}, kChinese).status, 0);
  EXPECT_THAT(RunVramscope({"info", saved}, kChinese).out, HasSubstr("CUDA 内存快照（JSON）"));
  EXPECT_THAT(RunVramscope({"info", saved}, kInEnglish).out,
              HasSubstr("CUDA memory snapshot (JSON)"));
}

// Names of doctor's checks are not translated, because users search for them and report them.
TEST_F(CommandLineInChinese, ChecksAreReportedInChinese) {
  const Outcome doctor = RunVramscope({"doctor"}, kChinese);
  EXPECT_EQ(EnglishLines(doctor.out), "");
  EXPECT_THAT(doctor.out, HasSubstr("  memory "));
  const Outcome checked = RunVramscope({"selfcheck", file_}, kChinese);
  EXPECT_EQ(checked.status, RunVramscope({"selfcheck", file_}, kInEnglish).status);
  EXPECT_THAT(checked.out, HasSubstr("次比较"));
  EXPECT_THAT(checked.out, HasSubstr("各部分内存之和正确"));
  EXPECT_EQ(EnglishLines(checked.out), "");
  EXPECT_THAT(checked.out, Not(AnyOf(HasSubstr("commands agree"), HasSubstr("the original file"))));
  EXPECT_EQ(RunVramscope({"selfcheck", file_, "--json"}, kChinese).out,
            RunVramscope({"selfcheck", file_, "--json"}, kInEnglish).out);
  EXPECT_THAT(RunVramscope({"selfcheck", "--help"}, kChinese).out, HasSubstr("显存"));
}

TEST_F(CommandLineInChinese, ErrorsHaveChinesePrefix) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"info", folder_ / "none.pickle"},
        {"info", file_, "--no-such-option"},
        {"plna"}}) {
    EXPECT_THAT(RunVramscope(command, kChinese).err, StartsWith("vramscope: 错误：")) << command[0];
    EXPECT_THAT(RunVramscope(command, kInEnglish).err, StartsWith("vramscope: error: "))
        << command[0];
  }
  // Parent processes that parse the output search for the English prefix.
  EXPECT_THAT(RunVramscope({"info", folder_ / "none.pickle", "--json"}, kChinese).err,
              StartsWith("vramscope: error: "));
}

// The window runs commands in this way.
TEST_F(CommandLineInChinese, LangBesideJsonTranslatesErrorsOnly) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"info", file_},
                                                  {"explain", file_},
                                                  {"replay", file_},
                                                  {"selfcheck", file_},
                                                  {"reproduce", "B1"}}) {
    std::vector<std::string> english = command, chinese = command;
    english.emplace_back("--json");
    chinese.insert(chinese.end(), {"--json", "--lang", "zh_CN"});
    const Outcome outcome = RunVramscope(chinese, kInEnglish);
    if (command[0] == "reproduce") {  // states how long it took
      EXPECT_THAT(outcome.out, HasSubstr("Size of the stored BERT weights"));
    } else {
      EXPECT_EQ(outcome.out, RunVramscope(english, kInEnglish).out) << command[0];
    }
  }
  const Outcome missing =
      RunVramscope({"info", folder_ / "none.pickle", "--json", "--lang", "zh_CN"}, kInEnglish);
  EXPECT_THAT(missing.err,
              AllOf(StartsWith("vramscope: 错误："), HasSubstr("没有那个文件或文件夹")));
  EXPECT_EQ(EnglishLines(missing.err), "");
  const Outcome usage = RunVramscope({"info", "--json", "--lang", "zh_CN"}, kInEnglish);
  EXPECT_THAT(usage.err, AllOf(StartsWith("vramscope: 错误："), HasSubstr("显示用法")));
}

TEST_F(CommandLineInChinese, HelpHasChineseTypes) {
  const std::string help = RunVramscope({"plan", "--help"}, kChinese).out;
  EXPECT_THAT(help, HasSubstr("--devices N（1 到 64）"));
  EXPECT_THAT(help, Not(AnyOf(HasSubstr("INT"), HasSubstr(" in ["))));
  EXPECT_THAT(RunVramscope({"info", "--help"}, kChinese).out,
              AllOf(HasSubstr("FILE 文本 必需"), Not(HasSubstr("TEXT"))));
  EXPECT_THAT(RunVramscope({"--help"}, kChinese).out, HasSubstr("--scale N（0.5 到 4）"));
  EXPECT_THAT(RunVramscope({"plan", "--help"}, kInEnglish).out,
              HasSubstr("--devices N in [1 - 64]"));
}

TEST_F(CommandLineInChinese, HelpHasNoEnglishLines) {
  for (const char* command :
       {"", "plan", "run", "info", "peak", "phases", "explain", "diff", "kernels", "check", "fit",
        "estimate", "waterfall", "toggles", "export"}) {
    std::vector<std::string> arguments;
    if (*command != '\0') arguments.emplace_back(command);
    arguments.emplace_back("--help");
    EXPECT_EQ(EnglishLines(RunVramscope(arguments, kChinese).out), "") << command;
  }
}

}  // namespace
}  // namespace vramscope::test
