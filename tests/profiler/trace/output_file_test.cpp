// Checks that system calls are made in the order that makes a file survive a loss of power. The
// functions below replace those of the C library.
#include "profiler/trace/output_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {
std::vector<std::string> calls;
int folder_error = 0;   // result of fsync of a folder
int interruptions = 0;  // how many of the next calls are interrupted by a signal
bool unnamed = true;    // the file system supports files without a name

bool Interrupted() {
  if (interruptions == 0) return false;
  --interruptions;
  errno = EINTR;
  return true;
}

template <class Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
bool IsFolder(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
}
}  // namespace

extern "C" {
ssize_t write(int fd, const void* bytes, size_t size) {
  if (fd > STDERR_FILENO && Interrupted()) return -1;
  return Next<ssize_t (*)(int, const void*, size_t)>("write")(fd, bytes, size);
}
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (!unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return Next<int (*)(const char*, int, ...)>("open")(path, flags, mode);
}
int fdatasync(int fd) {
  if (Interrupted()) return -1;
  calls.push_back(IsFolder(fd) ? "sync folder" : "sync file");
  return Next<int (*)(int)>("fdatasync")(fd);
}
int fsync(int fd) {
  calls.push_back(IsFolder(fd) ? "sync folder" : "sync file");
  if (IsFolder(fd) && folder_error != 0) {
    errno = folder_error;
    return -1;
  }
  return Next<int (*)(int)>("fsync")(fd);
}
int rename(const char* from, const char* to) noexcept {
  calls.push_back("rename");
  return Next<int (*)(const char*, const char*)>("rename")(from, to);
}
}

namespace vramscope::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Runs each test as if the file system supports unnamed files, and as if it does not.
class OutputFileTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / "output_file_test_XXXXXX";
    std::string name = folder_.string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    unnamed = GetParam();
    calls.clear();
    folder_error = 0;
    interruptions = 0;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  absl::Status Save(const std::string& path) {
    auto file = OutputFile::Create(path);
    if (!file.ok()) return file.status();
    if (absl::Status status = (*file)->Write("content"); !status.ok()) return status;
    return (*file)->Commit();
  }
  std::filesystem::path folder_;
};

TEST_P(OutputFileTest, SyncsFileThenRenamesThenSyncsFolder) {
  const std::string path = folder_ / "a.trace";
  ASSERT_TRUE(Save(path).ok());
  EXPECT_THAT(calls, ElementsAre("sync file", "rename", "sync folder"));
  calls.clear();
  ASSERT_TRUE(Save(path).ok()) << "replacing an older file";
  EXPECT_THAT(calls, ElementsAre("sync file", "rename", "sync folder"));
}

TEST_P(OutputFileTest, NameWithoutFolderIsInTheCurrentFolder) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  EXPECT_TRUE(Save("a.trace").ok());
  std::filesystem::current_path(before);
  EXPECT_THAT(calls, ElementsAre("sync file", "rename", "sync folder"));
}

TEST_P(OutputFileTest, ToleratesFileSystemWithoutFolderSync) {
  folder_error = EINVAL;
  EXPECT_TRUE(Save(folder_ / "a.trace").ok());
}

TEST_P(OutputFileTest, ReportsDiskErrorOfFolderSync) {
  folder_error = EIO;
  const absl::Status status = Save(folder_ / "a.trace");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("a.trace"));
}

// A signal interrupts the next ten calls.
TEST_P(OutputFileTest, RetriesInterruptedCalls) {
  interruptions = 10;
  const std::string path = folder_ / "a.trace";
  EXPECT_TRUE(Save(path).ok());
  EXPECT_EQ(std::filesystem::file_size(path), 7u);
}

// If signals never stop, the loop must end and no file may be left behind.
TEST_P(OutputFileTest, GivesUpAfterTooManyInterruptions) {
  interruptions = 1'000'000;
  const absl::Status status = Save(folder_ / "a.trace");
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

// These statuses determine the exit status of the command line.
TEST_P(OutputFileTest, DistinguishesFullDiskFromMissingFolder) {
  EXPECT_EQ(Save(folder_ / "no" / "a.trace").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Save(folder_).code(), absl::StatusCode::kInvalidArgument);
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  EXPECT_EQ(Save("/dev/full").code(), absl::StatusCode::kResourceExhausted);
}

// The process is killed while it writes, for example because the system runs out of memory.
TEST_P(OutputFileTest, KilledWriterKeepsTheOldFile) {
  const int fd = open(folder_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (unnamed && fd < 0) GTEST_SKIP() << "the file system has no files without a name";
  close(fd);
  const std::string path = folder_ / "a.trace";
  std::ofstream(path) << "older";
  const pid_t pid = fork();
  if (pid == 0) {
    auto file = OutputFile::Create(path);
    if (file.ok() && (*file)->Write("content").ok()) raise(SIGKILL);
    _exit(1);
  }
  int state = 0;
  ASSERT_EQ(waitpid(pid, &state, 0), pid);
  ASSERT_TRUE(WIFSIGNALED(state));
  const std::filesystem::directory_iterator names(folder_);
  EXPECT_EQ(std::distance(begin(names), end(names)), unnamed ? 1 : 2);
  EXPECT_EQ(std::filesystem::file_size(path), 5u);
}

TEST_P(OutputFileTest, CheckReportsWhatCreateWouldAndLeavesNothing) {
  const std::string folder = folder_;
  EXPECT_TRUE(OutputFile::Check("-").ok());
  EXPECT_TRUE(OutputFile::Check("/dev/null").ok());
  EXPECT_TRUE(OutputFile::Check(folder + "/new").ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_EQ(OutputFile::Check(folder + "/none/new").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(OutputFile::Check(folder).code(), absl::StatusCode::kInvalidArgument);
  std::ofstream(folder + "/old") << "old";
  EXPECT_TRUE(OutputFile::Check(folder + "/old").ok());
  EXPECT_EQ(std::filesystem::file_size(folder + "/old"), 3u);
  ASSERT_EQ(mkfifo((folder + "/pipe").c_str(), 0600), 0);
  EXPECT_TRUE(OutputFile::Check(folder + "/pipe").ok()) << "and it does not wait for a reader";
}

TEST_P(OutputFileTest, RejectsTooLongNameBeforeWriting) {
  EXPECT_FALSE(OutputFile::Create(folder_ / std::string(250, 'a')).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

INSTANTIATE_TEST_SUITE_P(, OutputFileTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Unnamed" : "Named"; });

}  // namespace
}  // namespace vramscope::trace
