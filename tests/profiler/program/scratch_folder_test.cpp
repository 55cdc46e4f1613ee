#include "profiler/program/scratch_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;

class ScratchFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = (fs::temp_directory_path() / "scratch-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    parent_ = path;
  }
  void TearDown() override { fs::remove_all(parent_); }
  std::unique_ptr<ScratchFolder> Make() { return *ScratchFolder::Make(parent_); }
  size_t Count() {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(parent_), fs::directory_iterator()));
  }

  std::string parent_;
};

TEST_F(ScratchFolderTest, IsRemovedWithItsObject) {
  auto one = Make(), other = Make();
  EXPECT_NE(one->path(), other->path());
  std::ofstream(one->path() + "/file") << "x";
  EXPECT_EQ(Count(), 2u);
  one.reset();
  EXPECT_EQ(Count(), 1u);
  EXPECT_TRUE(fs::is_directory(other->path()));
}

TEST_F(ScratchFolderTest, NextProcessRemovesFoldersOfDeadOwnersOnly) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    auto folder = Make();
    std::ofstream(folder->path() + "/history") << "x";
    [[maybe_unused]] const ssize_t written = write(pipe_ends[1], "x", 1);
    while (true) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
  const auto live_folder = Make();
  EXPECT_EQ(Count(), 2u);  // its owner is alive
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  EXPECT_EQ(Count(), 2u);
  const auto next = Make();
  EXPECT_EQ(Count(), 2u);
  EXPECT_TRUE(fs::exists(live_folder->path()));
  EXPECT_TRUE(fs::exists(next->path()));
}

TEST_F(ScratchFolderTest, AdoptsFolderOfKilledOwnerOnce) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    auto folder = Make();
    std::ofstream(folder->path() + "/history") << "x";
    [[maybe_unused]] const ssize_t written = write(pipe_ends[1], "x", 1);
    while (true) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
  const std::string path = fs::directory_iterator(parent_)->path().string();
  EXPECT_TRUE(absl::IsNotFound(ScratchFolder::Adopt(path, parent_).status())) << "it has an owner";
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  {
    const auto adopted = ScratchFolder::Adopt(path, parent_);
    ASSERT_TRUE(adopted.ok()) << adopted.status();
    EXPECT_FALSE(ScratchFolder::Adopt(path, parent_).ok());
    Make();  // must not remove the adopted folder
    EXPECT_TRUE(fs::exists(path + "/history"));
  }
  EXPECT_FALSE(fs::exists(path));
  // Links, and folders in other places or with other names, must not be adopted.
  fs::create_directories(parent_ + "/vramscope-scratch-deeper/vramscope-scratch-aaaaaa");
  fs::create_directories(parent_ + "/precious");
  fs::create_directory_symlink(parent_ + "/precious", parent_ + "/vramscope-scratch-bbbbbb");
  for (const char* other : {"/vramscope-scratch-deeper/vramscope-scratch-aaaaaa", "/precious",
                            "/vramscope-scratch-bbbbbb", "/none", "/../vramscope-scratch-x", ""})
    EXPECT_FALSE(ScratchFolder::Adopt(parent_ + other, parent_).ok()) << other;
  EXPECT_TRUE(fs::is_directory(parent_ + "/precious"));
}

// The folder contains a recording of a window that was killed. The folder must survive until the
// next window offers to restore the recording, even if other commands run before.
TEST_F(ScratchFolderTest, RestorableFolderOfDeadOwnerIsKeptAWeek) {
  const pid_t owner = fork();
  if (owner == 0) {
    auto folder = ScratchFolder::MakeRestorable(parent_);
    fs::create_directories((*folder)->path() + "/run");
    std::ofstream((*folder)->path() + "/run/history") << "x";
    _exit(0);  // without the destructor, like a killed process
  }
  waitpid(owner, nullptr, 0);
  const fs::path path = fs::directory_iterator(parent_)->path();
  Make();
  EXPECT_TRUE(fs::exists(path / "run/history"));

  const auto days_ago = [](int days) {
    return fs::file_time_type::clock::now() - std::chrono::hours(24 * days);
  };
  for (const fs::path& part : {path, path / "run"}) fs::last_write_time(part, days_ago(8));
  fs::last_write_time(path / "run/history", days_ago(6));
  Make();
  EXPECT_TRUE(fs::exists(path / "run/history")) << "a file in it is six days old";

  fs::last_write_time(path / "run/history", days_ago(8));
  Make();
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(ScratchFolderTest, AdoptsRestorableFolderOfDeadOwner) {
  const pid_t owner = fork();
  if (owner == 0) {
    auto folder = ScratchFolder::MakeRestorable(parent_);
    _exit(0);
  }
  waitpid(owner, nullptr, 0);
  const std::string path = fs::directory_iterator(parent_)->path().string();
  { ASSERT_TRUE(ScratchFolder::Adopt(path, parent_).ok()); }
  EXPECT_FALSE(fs::exists(path));
}

// A window adopts the folder, and ends before the user has decided about its content.
TEST_F(ScratchFolderTest, AdoptedFolderCanBeLeftForTheNextOwner) {
  const pid_t owner = fork();
  if (owner == 0) {
    auto folder = ScratchFolder::MakeRestorable(parent_);
    std::ofstream((*folder)->path() + "/history") << "x";
    _exit(0);
  }
  waitpid(owner, nullptr, 0);
  const fs::path path = fs::directory_iterator(parent_)->path();
  for (int i = 0; i < 2; ++i) {
    const auto adopted = ScratchFolder::Adopt(path.string(), parent_);
    ASSERT_TRUE(adopted.ok()) << adopted.status();
    (*adopted)->LeaveForOthers(true);
  }
  Make();
  EXPECT_TRUE(fs::exists(path / "history"));
  // It still counts as the folder of a killed owner: it is kept for a week.
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24 * 8);
  fs::last_write_time(path / "history", old);
  fs::last_write_time(path, old);
  Make();
  EXPECT_FALSE(fs::exists(path));
}

// These folders have names similar to those of vramscope's scratch folders, but must not be
// removed.
TEST_F(ScratchFolderTest, KeepsFoldersWithSimilarNames) {
  fs::create_directories(parent_ + "/vramscope-report");
  fs::create_directories(parent_ + "/elsewhere");
  fs::create_directory_symlink(parent_ + "/elsewhere", parent_ + "/vramscope-scratch-abcdef");
  Make();
  EXPECT_EQ(Count(), 3u);
}

TEST_F(ScratchFolderTest, KeptFolderOutlivesItsObjectAndOtherProcesses) {
  auto folder = Make();
  std::ofstream(folder->path() + "/history") << "x";
  const std::string before = folder->path();
  const auto kept = folder->Keep();
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_NE(*kept, before);
  folder.reset();
  Make().reset();  // removes abandoned folders
  EXPECT_TRUE(fs::exists(*kept + "/history"));
  EXPECT_FALSE(fs::exists(before));
}

TEST_F(ScratchFolderTest, ReportsWhyItCannotBeCreated) {
  const auto none = ScratchFolder::Make(parent_ + "/nowhere");
  EXPECT_TRUE(absl::IsInternal(none.status()));
  EXPECT_NE(none.status().message().find("No such file"), absl::string_view::npos);
}

}  // namespace
}  // namespace vramscope::program
