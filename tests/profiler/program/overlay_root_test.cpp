#include "profiler/program/overlay_root.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "profiler/program/isolation.h"
#include "profiler/program/scratch_folder.h"

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ParseMountInfo, ReadsPathsTypesAndOctalEscapes) {
  EXPECT_THAT(ParseMountInfo("22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
                             "40 22 0:35 /x /a\\040b\\134c rw shared:1 master:2 - tmpfs none rw\n"
                             "41 22 0:36 / /short - proc\n"),
              ElementsAre(MountPoint{"/", "ext4"}, MountPoint{"/a b\\c", "tmpfs"}));
}

TEST(ParseMountInfo, SkipsInvalidLines) {
  EXPECT_THAT(ParseMountInfo(""), ElementsAre());
  EXPECT_THAT(ParseMountInfo("- - - -\n1 2 3\n1 2 3 4 relative rw - ext4 x y\n\n"), ElementsAre());
  EXPECT_THAT(ParseMountInfo("1 2 0:1 / /a\\04 rw - ext4"),
              ElementsAre(MountPoint{"/a\\04", "ext4"}));
}

std::string ReadText(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class OverlayRootTest : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer's thread keeps the process out of user namespaces";
#endif
    folder_ = *ScratchFolder::Make();
    std::ofstream(path("kept")) << "precious";
    fs::create_directories(path("folder/below"));
    std::ofstream(path("folder/below/file")) << "precious, too";
    absl::StatusOr<std::unique_ptr<Isolation>> made =
        Isolation::Make({.mode = IsolationMode::kOverlay});
    if (!made.ok()) GTEST_SKIP() << "no mount namespace here: " << made.status();
    isolation_ = *std::move(made);
  }
  std::string path(const std::string& name) const { return folder_->path() + "/" + name; }
  // Runs `inside` in a child process that enters the isolated file system. Returns its status.
  int Inside(const std::function<int()>& inside) {
    const pid_t child = fork();
    if (child == 0) _exit(isolation_->Enter() != 0 ? 99 : inside());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::unique_ptr<ScratchFolder> folder_;
  std::unique_ptr<Isolation> isolation_;
};

TEST_F(OverlayRootTest, ChangesAreVisibleOnlyInside) {
  EXPECT_EQ(Inside([&] {
              std::ofstream(path("kept")) << "changed";
              fs::remove_all(path("folder"));
              fs::create_directory(path("folder"));
              return fs::is_empty(path("folder")) ? 0 : 1;
            }),
            0);
  EXPECT_EQ(Inside([&] {
              return ReadText(path("kept")) == "changed" && fs::is_empty(path("folder")) ? 0 : 1;
            }),
            0);
  EXPECT_EQ(ReadText(path("kept")), "precious");
  EXPECT_EQ(ReadText(path("folder/below/file")), "precious, too");
}

TEST_F(OverlayRootTest, NewTopLevelFolderIsNotVisibleOutside) {
  const std::string made = "/vramscope-overlay-root-test";
  Inside([&] {
    std::error_code none;
    fs::create_directory(made, none);
    return 0;
  });
  EXPECT_FALSE(fs::exists(made));
}

TEST_F(OverlayRootTest, KeepsTheCurrentFolder) {
  const fs::path current = fs::current_path();
  EXPECT_EQ(Inside([&] { return fs::current_path() == current ? 0 : 1; }), 0);
}

TEST_F(OverlayRootTest, RemovesLayerWithInaccessibleFolders) {
  const std::string layer = isolation_->changes();
  EXPECT_EQ(Inside([&] {
              fs::create_directories(path("folder/new/er"));
              fs::permissions(path("folder/new"), fs::perms::none);
              return 0;
            }),
            0);
  EXPECT_TRUE(fs::exists(layer));
  isolation_.reset();
  EXPECT_FALSE(fs::exists(layer));
}

// Tests with mounts. They run in a child process with its own mount namespace, as root or as
// another user, and return the child's status.
class MountsTest : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr int kPassed = 0, kFailed = 1, kNoRight = 77;
  static constexpr uid_t kUser = 65534;

  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer's thread keeps the process out of user namespaces";
#endif
    folder_ = *ScratchFolder::Make();
    fs::permissions(folder_->path(), fs::perms(0777));
  }
  std::string path(const std::string& name) const { return folder_->path() + "/" + name; }

  // Without privileges, overlayfs cannot copy what belongs to another user.
  static bool MakeFolder(const std::string& place) {
    std::error_code error;
    fs::create_directories(place, error);
    return !error && chown(place.c_str(), kUser, kUser) == 0;
  }
  static bool MountAt(const char* type, const std::string& place) {
    return MakeFolder(place) && mount("none", place.c_str(), type, 0, nullptr) == 0 &&
           (type != std::string_view("tmpfs") || chown(place.c_str(), kUser, kUser) == 0);
  }
  static void Fill(const std::string& file) {
    std::ofstream(file) << "precious";
    (void)!chown(file.c_str(), kUser, kUser);
  }

  // Makes mounts, isolates, and calls `inside` in the isolated file system. Fails if `inside` does
  // not return 0, or if a file of `files` is changed then.
  void Check(const std::function<bool()>& mounts, const std::vector<std::string>& files,
             const std::function<int()>& inside) {
    const pid_t child = fork();
    if (child == 0) _exit(Try(mounts, files, inside));
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNoRight)
      GTEST_SKIP() << "no right to mount here, or no user namespaces";
    EXPECT_EQ(status, 0) << (GetParam() ? "root" : "user");
  }

 private:
  int Try(const std::function<bool()>& mounts, const std::vector<std::string>& files,
          const std::function<int()>& inside) const {
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 || !mounts())
      return kNoRight;
    for (const std::string& file : files) Fill(file);
    if (!GetParam() && (setgid(kUser) != 0 || setuid(kUser) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0))
      return kNoRight;
    const auto isolation = Isolation::Make({.mode = IsolationMode::kOverlay});
    if (!isolation.ok()) {
      std::fprintf(stderr, "%s\n", isolation.status().ToString().c_str());
      return kNoRight;
    }
    const pid_t child = fork();
    if (child == 0) {
      if ((*isolation)->Enter() != 0) _exit(99);
      for (const std::string& file : files)
        if (ReadText(file) != "precious") _exit(98);
      _exit(inside());
    }
    int status = 0;
    waitpid(child, &status, 0);
    for (const std::string& file : files)
      if (ReadText(file) != "precious") return kFailed;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 97;
  }

  std::unique_ptr<ScratchFolder> folder_;
};

int Overwrite(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::ofstream(file) << "changed";
    if (ReadText(file) != "changed") return 2;
    std::ofstream(fs::path(file).parent_path() / "new") << "new";
    fs::remove(file);
  }
  return 0;
}

TEST_P(MountsTest, FileSystemsInAFileSystemOfTheKernelAreIsolated) {
  // Like autofs on /home. A proc file system has folders in which a test can mount.
  const std::vector<std::string> files = {path("outer/driver/kept"),
                                          path("outer/driver/below/kept")};
  Check(
      [&] {
        return MountAt("proc", path("outer")) && MountAt("tmpfs", path("outer/driver")) &&
               MountAt("tmpfs", path("outer/driver/below"));
      },
      files, [&] { return Overwrite(files); });
}

TEST_P(MountsTest, FileSystemsInAFileSystemThatCannotBeOverlaidAreIsolated) {
  // The kernel refuses to stack three overlays.
  const std::vector<std::string> files = {path("whole/inner/kept"), path("whole/folder/kept")};
  Check(
      [&] {
        if (!MountAt("tmpfs", path("base"))) return false;
        std::string lower = path("base/lower");
        if (!MakeFolder(lower + "/folder")) return false;
        for (const char* name : {"first", "whole"}) {
          const std::string layers = path("base/") + name;
          for (const std::string& folder : {layers + "/upper", layers + "/work", path(name)})
            fs::create_directories(folder);
          const std::string options =
              "lowerdir=" + lower + ",upperdir=" + layers + "/upper,workdir=" + layers + "/work";
          if (mount("none", path(name).c_str(), "overlay", 0, options.c_str()) != 0) return false;
          lower = path(name);
        }
        return MountAt("tmpfs", path("whole/inner"));
      },
      files,
      [&] {
        std::ofstream(files[1]) << "changed";  // it may be read-only
        return Overwrite({files[0]});
      });
}

TEST_P(MountsTest, RemovableDisksAreIsolated) {
  const std::string project = "/run/media/user/disk/project";
  const std::vector<std::string> files = {"/run/media/user/disk/kept", project + "/kept"};
  Check(
      [&] {
        return MountAt("tmpfs", "/run") && MountAt("tmpfs", "/run/media/user/disk") &&
               MakeFolder(project) && chdir(project.c_str()) == 0;
      },
      files, [&] { return Overwrite(files); });
}

INSTANTIATE_TEST_SUITE_P(RootAndUser, MountsTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Root" : "User"; });

class CurrentFolder {
 public:
  explicit CurrentFolder(const std::string& folder) : before_(fs::current_path()) {
    fs::current_path(folder);
  }
  ~CurrentFolder() { fs::current_path(before_); }
  CurrentFolder(const CurrentFolder&) = delete;
  CurrentFolder& operator=(const CurrentFolder&) = delete;

 private:
  const fs::path before_;
};

TEST(IsolationTest, RefusesToStartWhereFilesAreNotIsolated) {
  const absl::StatusOr<std::unique_ptr<ScratchFolder>> shared = ScratchFolder::Make("/dev/shm");
  if (!shared.ok()) GTEST_SKIP() << shared.status();
  const CurrentFolder current((*shared)->path());
  for (const auto mode : {IsolationMode::kAuto, IsolationMode::kOverlay, IsolationMode::kCopy}) {
    const auto made = Isolation::Make({.mode = mode});
    ASSERT_EQ(made.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(made.status().message()),
                AllOf(HasSubstr("does not isolate /dev."), HasSubstr("--no-isolation")));
    const auto covered = Isolation::Make({.mode = mode, .writable = {"/dev/shm"}});
    EXPECT_THAT(std::string(covered.status().message()), Not(HasSubstr("does not isolate")));
  }
  EXPECT_TRUE(Isolation::Make({.mode = IsolationMode::kNone}).ok());
}

TEST(IsolationTest, UnavailableModeNamesCauseAndNoIsolationOption) {
  const auto made = Isolation::Make({.mode = IsolationMode::kCopy, .libraries = "/nowhere"});
  ASSERT_EQ(made.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(made.status().message()),
              AllOf(HasSubstr("/nowhere"), HasSubstr("--no-isolation")));
}

TEST(IsolationTest, RejectsMissingWritablePath) {
  const auto made = Isolation::Make({.mode = IsolationMode::kNone, .writable = {"/no/where"}});
  ASSERT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("/no/where"));
}

TEST(IsolationTest, DescriptionWarnsOfRealChangesWithoutIsolation) {
  const auto made = Isolation::Make({.mode = IsolationMode::kNone});
  ASSERT_TRUE(made.ok());
  EXPECT_THAT((*made)->Description(), HasSubstr("changes real files"));
  EXPECT_EQ((*made)->changes(), "");
}

}  // namespace
}  // namespace vramscope::program
