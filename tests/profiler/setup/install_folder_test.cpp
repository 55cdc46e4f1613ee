// Checks what the download folder contains after an installation, for every way in which it can
// end. Also tests links on index pages.
#include "profiler/setup/install_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>

#include "profiler/setup/find_libtorch.h"
#include "profiler/setup/index_page.h"
#include "tests/profiler/setup/torch_files.h"

namespace vramscope::setup {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeZip;
using testing::TorchFiles;
using ::testing::UnorderedElementsAre;
using testing::ZipFile;

class Install : public ::testing::Test {
 protected:
  Install() : wheel_{.name = "torch", .version = "2.11.0", .use = "run", .file = "torch.whl"} {}
  InstallFolder Lock() { return InstallFolder::Lock((root_ / "data").string()).value(); }
  absl::Status Run(const std::vector<ZipFile>& files) {
    InstallFolder folder = Lock();
    testing::Write(folder.PartOf(wheel_), MakeZip(files));
    return folder.Install({wheel_}, {}, nullptr);
  }
  std::vector<std::string> Left() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_ / "data"))
      names.push_back(entry.path().filename());
    return names;
  }

  testing::Scratch root_;
  Wheel wheel_;
};

TEST_F(Install, UnpacksNeededFilesAndRemovesDownload) {
  std::vector<ZipFile> files = TorchFiles();
  files.push_back({.name = "torch/include/torch.h", .content = "x"});
  files.push_back({.name = "torch/lib/libtorch_python.so", .content = "x"});
  files.push_back({.name = "torch-2.11.0.dist-info/licenses/LICENSE", .content = "BSD"});
  ASSERT_TRUE(Run(files).ok());
  const fs::path torch = root_ / "data/torch-2.11.0";
  EXPECT_TRUE(CheckTorch(torch).ok());
  EXPECT_FALSE(fs::exists(torch / "torch/include"));
  EXPECT_FALSE(fs::exists(torch / "torch/lib/libtorch_python.so"));
  EXPECT_EQ(testing::Read(torch / "torch-2.11.0.dist-info/licenses/LICENSE"), "BSD");
  EXPECT_THAT(Left(), UnorderedElementsAre("torch-2.11.0", "downloads", "setup.lock"));
  EXPECT_TRUE(fs::is_empty(root_ / "data/downloads"));
}

TEST_F(Install, HostileArchiveWritesNothing) {
  for (const char* name : {"../evil", "torch/lib/../../../evil.so"}) {
    std::vector<ZipFile> files = TorchFiles();
    files.push_back({.name = name, .content = "evil"});
    EXPECT_FALSE(Run(files).ok());
  }
  std::vector<ZipFile> files = TorchFiles();
  files.push_back({.name = "torch/lib/link.so", .content = "/etc", .mode = 0120777});
  EXPECT_FALSE(Run(files).ok());
  EXPECT_FALSE(fs::exists(root_ / "evil"));
  EXPECT_FALSE(fs::exists(root_ / "data/evil.so"));
  EXPECT_THAT(Left(), UnorderedElementsAre("downloads", "setup.lock"));
}

TEST_F(Install, RejectsWheelOfAnotherVersion) {
  const absl::Status status = Run(TorchFiles("2.10.0+cu130"));
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("2.10.0"));
  EXPECT_THAT(Left(), UnorderedElementsAre("downloads", "setup.lock"));
}

TEST_F(Install, DamagedWheelKeepsTheOldInstallation) {
  ASSERT_TRUE(Run(TorchFiles()).ok());
  std::vector<ZipFile> files = TorchFiles();
  files.back().stated_crc = 1;
  EXPECT_FALSE(Run(files).ok());
  EXPECT_TRUE(CheckTorch(root_ / "data/torch-2.11.0").ok());
}

TEST_F(Install, CancelledInstallRemovesPartsAndCanBeRepeated) {
  const std::atomic<bool> cancel = true;
  {
    InstallFolder folder = Lock();
    testing::Write(folder.PartOf(wheel_), MakeZip(TorchFiles()));
    testing::Write(root_ / "data/partial.abcdef/torch/lib/libc10.so", "cut");
    EXPECT_EQ(folder.Install({wheel_}, {}, &cancel).code(), absl::StatusCode::kCancelled);
    EXPECT_GT(folder.BytesOf(wheel_), 0u);
  }
  EXPECT_THAT(Left(), UnorderedElementsAre("downloads", "setup.lock"));
  EXPECT_TRUE(Lock().Install({wheel_}, {}, nullptr).ok());
}

TEST_F(Install, LockAdmitsOneProcess) {
  const InstallFolder first = Lock();
  const absl::Status second = InstallFolder::Lock((root_ / "data").string()).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.message()), HasSubstr("another vramscope"));
}

TEST_F(Install, RemoveDeletesOnlyItsOwnFiles) {
  ASSERT_TRUE(Run(TorchFiles()).ok());
  testing::Write(root_ / "data/results/mine.trace", "x");
  testing::Write(root_ / "outside/keep", "x");
  fs::create_directory_symlink(root_ / "outside", root_ / "data/torch-link");
  const absl::StatusOr<uint64_t> removed = Lock().Remove();
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_GT(*removed, 600u);
  EXPECT_TRUE(fs::exists(root_ / "data/results/mine.trace"));
  EXPECT_TRUE(fs::exists(root_ / "outside/keep"));
  EXPECT_THAT(Left(), UnorderedElementsAre("results"));  // the target of a removed link stays
}

TEST_F(Install, RemoveLeavesNoEmptyFolder) {
  ASSERT_TRUE(Run(TorchFiles()).ok());
  ASSERT_TRUE(Lock().Remove().ok());
  EXPECT_FALSE(fs::exists(root_ / "data"));
}

TEST_F(Install, LockAfterRemovalUsesNewFile) {
  InstallFolder first = Lock();
  ASSERT_TRUE(first.Remove().ok());
  const InstallFolder second = Lock();  // the first process still has the deleted file open
  EXPECT_EQ(InstallFolder::Lock((root_ / "data").string()).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(Install, CheckRoomFailsWithoutEnoughDiskSpace) {
  wheel_.bytes = uint64_t{1} << 60;
  const absl::Status status = Lock().CheckRoom({wheel_}, 1);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("XDG_DATA_HOME"));
}

// On disk, many small files need more space than their contents have, so the disk becomes full
// before all are written.
TEST_F(Install, FullDiskIsReportedAndKeepsTheDownload) {
  const fs::path data = root_ / "full";
  fs::create_directories(data);
  if (mount("tmpfs", data.c_str(), "tmpfs", 0, "size=512k") != 0)
    GTEST_SKIP() << "a small disk can't be mounted here: " << std::strerror(errno);
  struct Unmount {
    const fs::path& path;
    ~Unmount() { umount2(path.c_str(), MNT_DETACH); }
  } unmount{data};
  std::vector<ZipFile> files = TorchFiles();
  for (int i = 0; i < 200; ++i)
    files.push_back({.name = "torch/lib/libsmall" + std::to_string(i) + ".so.1", .content = "x"});
  {
    InstallFolder folder = InstallFolder::Lock(data.string()).value();
    testing::Write(folder.PartOf(wheel_), MakeZip(TorchFiles()));
    const absl::Status installed = folder.Install({wheel_}, {}, nullptr);
    ASSERT_TRUE(installed.ok()) << installed;
    testing::Write(folder.PartOf(wheel_), MakeZip(files));
    const absl::Status status = folder.Install({wheel_}, {}, nullptr);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("the disk is full"), HasSubstr("XDG_DATA_HOME")));
    EXPECT_GT(folder.BytesOf(wheel_), 0u) << "the download is deleted";
  }
  for (const auto& entry : fs::directory_iterator(data))
    EXPECT_THAT(entry.path().filename().string(),
                ::testing::AnyOf("downloads", "setup.lock", "torch-2.11.0"));
  // The earlier installation stays usable.
  EXPECT_TRUE(CheckTorch(data / "torch-2.11.0").ok());
}

TEST_F(Install, LockFailsWithoutFolder) {
  EXPECT_EQ(InstallFolder::Lock("").status().code(), absl::StatusCode::kFailedPrecondition);
  testing::Write(root_ / "file", "x");
  EXPECT_FALSE(InstallFolder::Lock((root_ / "file/data").string()).ok());
}

class IndexPage : public ::testing::Test {
 protected:
  std::string Link(const std::string& page) {
    const absl::StatusOr<std::string> link = FindWheel(page, wheel_);
    return link.ok() ? *link : "";
  }
  const std::string hash_ = std::string(64, 'a');
  Wheel wheel_{.name = "torch", .sha256 = hash_, .file = "torch-1.whl"};
};

TEST_F(IndexPage, FindsFileByHash) {
  EXPECT_EQ(Link(R"({"files": [{"filename": "torch-1.whl", "url": "u1", "hashes": {"sha256": "b"}},
                   {"filename": "other.whl", "url": "u2", "hashes": {"sha256": ")" +
                 hash_ + R"("}}]})"),
            "u2");
  EXPECT_EQ(Link(R"(<a href="x/torch-1.whl#sha256=b">1</a><a href='y/o.whl?a=1&amp;b=2#sha256=)" +
                 hash_ + "'>2</a>"),
            "y/o.whl?a=1&b=2");
}

TEST_F(IndexPage, FindsFileByNameIfThereAreNoHashes) {
  EXPECT_EQ(Link(R"({"files": [{"filename": "torch-1.whl", "url": "u1"}]})"), "u1");
  EXPECT_EQ(Link(R"(<a href="../x/torch-1.whl">)"), "../x/torch-1.whl");
  EXPECT_EQ(Link(R"(<a href="../x/nottorch-1.whl">)"), "");
}

TEST_F(IndexPage, FindsNothingInOtherPages) {
  for (const char* page : {"", "{", "{}", "[]", R"({"files": 5})", R"({"files": [5, {"url": 7}]})",
                           "<html>", "href=", "href=\"", "<a href=x>"})
    EXPECT_EQ(Link(page), "") << page;
}

}  // namespace
}  // namespace vramscope::setup
