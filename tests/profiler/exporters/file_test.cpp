#include "profiler/exporters/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

namespace vramscope::exporters {
namespace {

class WriteFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("write_file_" + std::to_string(testing::UnitTest::GetInstance()->random_seed()) +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / "out.csv").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Content() const {
    std::ifstream file(path_, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  size_t FilesInFolder() const {
    return std::distance(std::filesystem::directory_iterator(folder_), {});
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(WriteFileTest, WritesANewFile) {
  ASSERT_TRUE(WriteFile(path_, [](std::ostream& out) {
                out << "new";
                return absl::OkStatus();
              }).ok());
  EXPECT_EQ(Content(), "new");
  EXPECT_EQ(FilesInFolder(), 1u);
}

TEST_F(WriteFileTest, KeepsTheOldFileOnFailure) {
  std::ofstream(path_) << "old";
  const absl::Status status = WriteFile(path_, [](std::ostream& out) {
    out << "half";
    return absl::DataLossError("disk full");
  });
  EXPECT_EQ(status.message(), "disk full");
  EXPECT_EQ(Content(), "old");
  EXPECT_EQ(FilesInFolder(), 1u);
}

TEST_F(WriteFileTest, ReportsStreamErrorsThatTheWriterIgnores) {
  std::ofstream(path_) << "old";
  const absl::Status status = WriteFile(path_, [](std::ostream& out) {
    out.setstate(std::ios::badbit);
    return absl::OkStatus();
  });
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("out.csv"));
  EXPECT_EQ(Content(), "old");
}

TEST_F(WriteFileTest, NamesAMissingFolder) {
  const std::string path = (folder_ / "no" / "x").string();
  const absl::Status status = WriteFile(path, [](std::ostream&) { return absl::OkStatus(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("cannot write '" + path + "'"));
  EXPECT_EQ(FilesInFolder(), 0u);
}

TEST_F(WriteFileTest, ReplacesTheTargetOfASymlink) {
  const std::string target = (folder_ / "target.csv").string();
  std::ofstream(target) << "old";
  std::filesystem::create_symlink(target, path_);
  ASSERT_TRUE(WriteFile(path_, [](std::ostream& out) {
                out << "new";
                return absl::OkStatus();
              }).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_EQ(Content(), "new");
  EXPECT_EQ(FilesInFolder(), 2u);
}

// A pipe stands for all special files: if the test replaced a device, it would damage the
// computer.
TEST_F(WriteFileTest, WritesIntoAPipeWithoutReplacingIt) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] {
    std::ifstream in(pipe, std::ios::binary);
    got.assign(std::istreambuf_iterator<char>(in), {});
  });
  const absl::Status status = WriteFile(pipe, [](std::ostream& out) {
    out << "text";
    return absl::OkStatus();
  });
  reader.join();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(got, "text");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

}  // namespace
}  // namespace vramscope::exporters
