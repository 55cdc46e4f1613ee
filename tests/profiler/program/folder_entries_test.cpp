// Tests reading of folders to which other processes write at the same time.
#include "profiler/program/folder_entries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "profiler/program/launch.h"

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;

class FolderEntries : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("folder_entries_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void Put(const fs::path& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  fs::path folder_;
};

TEST_F(FolderEntries, ListsOnlyDirectEntries) {
  Put("a", "");
  Put("inner/b", "");
  std::set<std::string> seen;
  EXPECT_FALSE(ForEachEntry(folder_, [&](const fs::directory_entry& entry) {
    seen.insert(entry.path().filename().string());
  }));
  EXPECT_THAT(seen, testing::ElementsAre("a", "inner"));
}

TEST_F(FolderEntries, FailsForMissingFolderAndRegularFile) {
  const auto never = [](const fs::directory_entry&) { FAIL(); };
  EXPECT_EQ(ForEachEntry(folder_ / "none", never), std::errc::no_such_file_or_directory);
  Put("file", "");
  EXPECT_EQ(ForEachEntry(folder_ / "file", never), std::errc::not_a_directory);
}

TEST_F(FolderEntries, ToleratesRemovalWhileListing) {
  for (int i = 0; i < 2000; ++i) Put("inner/" + std::to_string(i), "");  // more than one read
  int seen = 0;
  EXPECT_FALSE(ForEachEntry(folder_ / "inner", [&](const fs::directory_entry&) {
    if (++seen == 1) fs::remove_all(folder_ / "inner");
  }));
  EXPECT_GE(seen, 1);
  EXPECT_LT(seen, 2000);
}

TEST_F(FolderEntries, ProgressCountsHistoryOfProcesses) {
  Put("process-7/history-0.rows", "12345");
  Put("process-7/history-1.rows", "123");
  Put("process-7/history-1.tail", "12");
  Put("process-7/stacks.jsonl", "1");
  Put("process-7.json", "{}");
  Put("scratch/history-0.rows", "a file of the program's own");
  Put("steps", "4");
  const Progress progress = ProgressOf(folder_);
  EXPECT_EQ(progress.bytes, 8U);
  EXPECT_EQ(progress.steps, 4U);
}

// While progress is read, torch.compile adds and removes folders in the scratch folder. This must
// not make a plan fail.
TEST_F(FolderEntries, ProgressToleratesFoldersBeingRemoved) {
  Put("process-7/history-0.rows", "12345");
  std::atomic<bool> done = false;
  std::thread program([&] {
    for (int i = 0; !done; ++i) {
      const fs::path own = folder_ / ("scratch" + std::to_string(i % 8));
      fs::create_directories(own / "a/b/c");
      fs::remove_all(own);
    }
  });
  for (int i = 0; i < 2000; ++i) EXPECT_EQ(ProgressOf(folder_).bytes, 5U);
  done = true;
  program.join();
}

}  // namespace
}  // namespace vramscope::program
