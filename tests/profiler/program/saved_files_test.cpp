#include "profiler/program/saved_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SavedFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::canonical(fs::temp_directory_path()) / ("saved files " + std::to_string(getpid()));
    fs::create_directories(folder_ / "configs");
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  fs::path folder_;
};

TEST_F(SavedFilesTest, WatchesTheScriptAndFilesNamedInArguments) {
  const std::string script = Write("train.py", "1"), config = Write("a.yaml", "1"),
                    binary = Write("python",
                                   "\x7f"
                                   "ELF"),
                    other = Write("b.yaml", "1");
  SavedFiles files;
  files.AddNamedIn({"python", "train.py", "--config=a.yaml", "configs", "nowhere", other},
                   folder_.string());
  EXPECT_THAT(files.Paths(), ElementsAre(config, other, script));
  files.Add(binary);
  EXPECT_THAT(files.Paths(), ElementsAre(config, other, script)) << "binaries are not edited";
}

TEST_F(SavedFilesTest, ReportsEachSaveOnce) {
  const std::string script = Write("train.py", "1");
  SavedFiles files;
  files.Add(script);
  EXPECT_FALSE(files.Any());
  EXPECT_THAT(files.Take(), IsEmpty());
  // If the file is missing, it counts as unchanged: an editor may be about to write it again.
  fs::remove(script);
  EXPECT_FALSE(files.Any());
  Write("train.py", "22");
  EXPECT_TRUE(files.Any());
  EXPECT_THAT(files.Take(), ElementsAre(script));
  EXPECT_FALSE(files.Any());
}

}  // namespace
}  // namespace vramscope::program
