// Tests that the file has all marks of a killed process, and no marks of a forked child.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cupti/marks.h"

namespace vramscope::cupti {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class MarksFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = (std::filesystem::temp_directory_path() / "marks-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/marks.jsonl"; }
  std::string Text() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Runs `body` in a separate process, because each process has one file of marks.
  template <typename Body>
  int Run(Body body) const {
    const pid_t child = fork();
    if (child == 0) _exit(body(MarksFile::The()));
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  std::string folder_;
};

uint64_t Clock() { return 1234; }

TEST_F(MarksFileTest, LinesSurviveKillOfTheProcess) {
  constexpr int kMany = 100'000;  // more than the file reserves at once
  const int status = Run([&](MarksFile& file) {
    if (!file.Begin(path().c_str(), &Clock)) return 1;
    file.Put('B', 0, 7, file.Now(), {});
    const int64_t arguments[] = {5, -1, INT64_MAX};
    file.Put('F', 3, UINT64_MAX, 8, arguments);
    file.PutText(std::string("[\"n\",0,\"").append(5000, 'x').append("\"]"));
    std::thread([&] { file.Put('M', 0, 1, 2, {}); }).join();
    for (int i = 0; i < kMany; ++i) file.Put('m', 0, 1, 2, {});
    kill(getpid(), SIGKILL);
    return 0;
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  const std::string text = Text();
  EXPECT_THAT(text, StartsWith("[\"T\",0,"));
  EXPECT_THAT(text, HasSubstr("]\n[\"B\",0,7,1234,0]\n"
                              "[\"F\",3,18446744073709551615,8,0,5,-1,9223372036854775807]\n"));
  EXPECT_THAT(text, HasSubstr("\n[\"T\",1,"));
  EXPECT_THAT(text, HasSubstr("\n[\"M\",0,1,2,1]\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), kMany + 6);
  EXPECT_EQ(text.back(), '\0');  // there is space for more
}

TEST_F(MarksFileTest, EveryFileNamesItsThreads) {
  const int status = Run([&](MarksFile& file) {
    if (!file.Begin((path() + ".first").c_str(), &Clock)) return 1;
    std::thread([&] { file.Put('M', 0, 1, 2, {}); }).join();
    file.Put('M', 0, 1, 2, {});
    file.End();
    if (!file.Begin(path().c_str(), &Clock)) return 1;
    file.Put('B', 0, 7, 8, {});
    file.End();
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(Text(), StartsWith("[\"T\",0,")) << "this thread was the second of the first file";
  EXPECT_THAT(Text(), HasSubstr("[\"B\",0,7,8,0]\n"));
}

TEST_F(MarksFileTest, EndTruncatesFileAndForkedChildWritesNothing) {
  const int status = Run([&](MarksFile& file) {
    if (!file.Begin(path().c_str(), &Clock)) return 1;
    file.Put('B', 0, 7, 8, {});
    const pid_t child = fork();
    if (child == 0) {
      file.Put('b', 0, 9, 9, {});  // the mark of a data loader
      _exit(file.on() ? 1 : 0);
    }
    int of_child = 0;
    waitpid(child, &of_child, 0);
    file.End();
    file.Put('b', 0, 9, 9, {});
    return of_child;
  });
  EXPECT_EQ(status, 0);
  const std::string text = Text();
  EXPECT_EQ(text.back(), '\n');
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST_F(MarksFileTest, ReportsFileThatCannotBeCreated) {
  EXPECT_EQ(Run([&](MarksFile& file) {
              const bool made = file.Begin("/nowhere/marks.jsonl", nullptr);
              file.Put('B', 0, 7, 8, {});
              return !made && file.failed() && !file.on() ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace vramscope::cupti
