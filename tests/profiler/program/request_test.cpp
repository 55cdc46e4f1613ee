#include "profiler/program/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace vramscope::program {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ShellWords, AreSplitLikeInAShell) {
  EXPECT_THAT(*SplitWords(R"(--lr 1e-4  --name 'two words' "a \"b\" \n" c\ d e'f'"g" '')"),
              ElementsAre("--lr", "1e-4", "--name", "two words", "a \"b\" \\n", "c d", "efg", ""));
  EXPECT_THAT(*SplitWords("a \\\n  b\nc"), ElementsAre("a", "b", "c"));
  EXPECT_TRUE(SplitWords("")->empty());
  EXPECT_TRUE(absl::IsInvalidArgument(SplitWords("a 'b").status()));
}

TEST(ShellWords, SplitReversesJoin) {
  const std::vector<std::string> words = {"a b", "it's", "", "$HOME", "--x=1,2", "\"", "\\", "ü\n"};
  EXPECT_EQ(*SplitWords(JoinWords(words)), words);
}

class RequestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("vramscope request " + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "train.py") << "pass\n";
    request_ = {.script = (folder_ / "train.py").string(),
                .interpreter = "/bin/sh",
                .arguments = "--batch 8 'a b'",
                .device = "h100-sxm"};
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Error() { return std::string(CommandOf(request_).status().message()); }

  std::filesystem::path folder_;
  Request request_;
};

TEST_F(RequestTest, BuildsCommandAndOptionsOfPlan) {
  EXPECT_THAT(*CommandOf(request_), ElementsAre("/bin/sh", request_.script, "--batch", "8", "a b"));
  EXPECT_EQ(FolderOf(request_), folder_.string());
  EXPECT_EQ(CommandLineOf(request_),
            "cd '" + folder_.string() +
                "' && vramscope plan --device h100-sxm -- /bin/sh train.py --batch 8 'a b'");
  request_.ranks = 4;
  request_.steps = 0;
  request_.skip_init = false;
  request_.folder = "/tmp";
  EXPECT_THAT(OptionsOf(request_), ElementsAre("plan", "--device", "h100-sxm", "--ranks", "4",
                                               "--no-skip-init", "--steps", "0"));
  EXPECT_THAT(CommandLineOf(request_), HasSubstr("'" + request_.script + "'"));
}

TEST_F(RequestTest, TogglesBelongToAPlan) {
  request_.toggles = {"bf16", "lora=16"};
  request_.steps = 3;
  EXPECT_THAT(OptionsOf(request_), ElementsAre("plan", "--device", "h100-sxm", "--steps", "3",
                                               "--toggle", "bf16", "--toggle", "lora=16"));
  EXPECT_THAT(StudyOptionsOf(request_), ElementsAre("--device", "h100-sxm", "--steps", "3"));
  Request other = request_;
  EXPECT_EQ(other, request_);
  other.toggles.pop_back();
  EXPECT_NE(other, request_);
  request_.where = Where::kHere;
  EXPECT_THAT(OptionsOf(request_), ElementsAre("record", "--steps", "3"));
}

TEST_F(RequestTest, BuildsCommandOfPythonModule) {
  request_.script = "-m my.training";
  request_.folder = "/tmp";
  EXPECT_THAT(*CommandOf(request_),
              ElementsAre("/bin/sh", "-m", "my.training", "--batch", "8", "a b"));
}

TEST_F(RequestTest, BuildsCommandOfLocalRecording) {
  request_.where = Where::kHere;
  request_.skip_init = false;  // ignored, because it is an option of plans
  request_.steps = 0;
  EXPECT_THAT(OptionsOf(request_), ElementsAre("record"));
  request_.steps = 2;
  request_.operators = true;
  EXPECT_THAT(OptionsOf(request_), ElementsAre("record", "--steps", "2", "--operators"));
  EXPECT_THAT(*CommandOf(request_), ElementsAre("/bin/sh", request_.script, "--batch", "8", "a b"));
  request_.ranks = 4;
  EXPECT_THAT(*CommandOf(request_),
              ElementsAre("/bin/sh", "-m", "torch.distributed.run", "--standalone",
                          "--nproc-per-node", "4", request_.script, "--batch", "8", "a b"));
}

TEST_F(RequestTest, BuildsCommandOfRemoteRecording) {
  request_.where = Where::kHost;
  request_.script = "project/train.py";  // exists on the other computer, but not here
  EXPECT_THAT(Error(), HasSubstr("enter the computer"));
  request_.host = "-oProxyCommand=x";
  EXPECT_THAT(Error(), HasSubstr("not a host"));
  request_.host = "user@box";
  request_.steps = 0;
  EXPECT_THAT(*CommandOf(request_),
              ElementsAre("python3", "project/train.py", "--batch", "8", "a b"));
  EXPECT_EQ(CommandLineOf(request_),
            "vramscope record --host user@box -- python3 project/train.py --batch 8 'a b'");
  request_.folder = "a project";
  request_.host_interpreter = "venv/bin/python";
  request_.host_vramscope = "/opt/vramscope";
  EXPECT_THAT(OptionsOf(request_),
              ElementsAre("record", "--host", "user@box", "--remote-folder", "a project",
                          "--remote-vramscope", "/opt/vramscope"));
  EXPECT_EQ((*CommandOf(request_))[0], "venv/bin/python");
  request_.arguments = "'";
  EXPECT_THAT(Error(), HasSubstr("not closed"));
}

TEST_F(RequestTest, ReportsMissingAndInvalidFields) {
  Request whole = request_;
  request_.script += ".nowhere";
  EXPECT_THAT(Error(), HasSubstr("there is no file"));
  request_.script = folder_.string();
  EXPECT_THAT(Error(), HasSubstr("is a folder"));
  request_.script.clear();
  EXPECT_THAT(Error(), HasSubstr("choose the training script"));
  request_ = whole;
  request_.interpreter = "/nowhere/python";
  EXPECT_THAT(Error(), HasSubstr("no longer exists"));
  request_.interpreter.clear();
  EXPECT_THAT(Error(), HasSubstr("choose the Python interpreter"));
  request_ = whole;
  request_.folder = "/nowhere";
  EXPECT_THAT(Error(), HasSubstr("does not exist"));
  request_ = whole;
  request_.arguments = "\"";
  EXPECT_THAT(Error(), HasSubstr("not closed"));
}

}  // namespace
}  // namespace vramscope::program
